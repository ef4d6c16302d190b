import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const rounds = 9
const bareServer = `require('node:http').createServer((_, response) => response.end('ok')).listen(0, '127.0.0.1',
  function () { console.log('listening on http://127.0.0.1:' + this.address().port + ' ') })`

/** Time from spawning the service to its first 200, compared with a bare `node:http` server. */
export const benchStartup = async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'devdeck-bench-'))
  // As `npm run service` does.
  const service = ['--import', join(root, 'scripts/require-node.mjs'), join(root, 'lib/service/main.ts')]
  try {
    // The first start creates the folder, key and database.
    await untilAnswer([...service, '--port', '0', '--data-dir', dataDir])
    const [ours, bare]: [number[], number[]] = [[], []]
    for (let round = 0; round < rounds; round++) {
      ours.push(await untilAnswer([...service, '--port', '0', '--data-dir', dataDir]))
      bare.push(await untilAnswer(['-e', bareServer]))
    }
    const [mine, floor] = [median(ours), median(bare)]
    console.log(`start to first 200, median ms of ${rounds}; ratio to a bare node:http server (limit: 400 ms)`)
    console.log(
      `  ${'service'.padEnd(22)} ${mine.toFixed(0).padStart(6)} / ${floor.toFixed(0).padStart(6)} = ${(mine / floor).toFixed(2)}x`,
    )
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
}

const median = (values: number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] as number

/** Milliseconds until the server responds; it is stopped afterwards. */
const untilAnswer = async (args: string[]): Promise<number> => {
  const start = performance.now()
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'] })
  try {
    const { ok } = await fetch(`${await addressOf(child)}/healthz`)
    if (!ok) throw new Error('The first response was not 200')
    return performance.now() - start
  } finally {
    const gone = once(child, 'exit')
    child.kill('SIGTERM')
    await gone
  }
}

const addressOf = async (child: ChildProcess): Promise<string> => {
  let text = ''
  for await (const chunk of child.stdout ?? []) {
    text += chunk
    const address = /listening on (http:\/\/\S+) /.exec(text)?.[1]
    if (address) return address
  }
  throw new Error('The server exited before it listened')
}
