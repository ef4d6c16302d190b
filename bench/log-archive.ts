import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, createWriteStream, mkdirSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createClient } from '#lib/client/client.ts'
import { addressOf, residentMiB } from './service-process.ts'

const files = 8
const fileMiB = 256

/** Zips 2 GiB of logs: time to first byte, memory growth, and total time compared with `zip -6`. */
export const benchLogArchive = async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'devdeck-bench-'))
  const main = join(import.meta.dirname, '../lib/service/main.ts')
  const service = spawn(process.execPath, [main, '--port', '0', '--data-dir', dataDir, '--isolation', 'none'], {
    env: { ...process.env, DEVDECK_API_KEYS: 'bench:ak_bench_0123456789' },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  try {
    const url = await addressOf(service)
    const runId = await startRun(url)
    const folder = join(dataDir, 'runs', runId)
    mkdirSync(folder, { recursive: true })
    writeLog(join(folder, '0.log'), 16)
    const archive = join(dataDir, 'logs.zip')
    // Compiled code and buffers are not growth.
    await download(url, runId, archive)
    for (let i = 0; i < files; i++) writeLog(join(folder, `${i}.log`), fileMiB)

    const before = residentMiB(service.pid, 'VmRSS')
    const ours = await download(url, runId, archive)
    const grownMiB = Math.max(0, residentMiB(service.pid, 'VmHWM') - before)
    console.log(`zip of ${files} logs of ${fileMiB} MiB`)
    console.log(`  first byte             ${ours.firstByteMs.toFixed(0)} ms (limit: 200 ms)`)
    console.log(`  service memory         grew by ${grownMiB.toFixed(0)} MiB at most (limit: 64 MiB)`)
    if (isThere('unzip')) console.log(`  unzip -t               ${passes('unzip', ['-tqq', archive])}`)
    if (!isThere('zip')) return console.log('  zip is not installed, so there is no comparison')
    const theirs = join(dataDir, 'theirs.zip')
    const start = performance.now()
    if (passes('zip', ['-6', '-q', '-r', theirs, folder]) !== 'passes') throw new Error('zip failed')
    const seconds = (performance.now() - start) / 1000
    console.log(
      `  seconds; zip -6        ${ours.seconds.toFixed(1).padStart(6)} / ${seconds.toFixed(1).padStart(6)} = ${(ours.seconds / seconds).toFixed(2)}x (limit: 1x)`,
    )
    console.log(`  size; zip -6           ${(statSync(archive).size / statSync(theirs).size).toFixed(2)}x`)
  } finally {
    const ended = once(service, 'exit')
    service.kill('SIGTERM')
    await ended
    rmSync(dataDir, { recursive: true, force: true })
  }
}

/** A running scenario, to put logs under. */
const startRun = async (url: string): Promise<string> => {
  const client = createClient({ baseUrl: url, headers: { authorization: 'Bearer ak_bench_0123456789' } })
  const scenario = await client.scenarios.create({
    body: {
      name: 'bench',
      input_context: { problem_statement: 'Nothing' },
      scoring_contract: {
        scoring_function_parameters: [{ name: 'ok', weight: 1, scorer: { type: 'command_scorer', command: 'true' } }],
      },
    },
  })
  return (await client.scenarioRuns.start({ body: { scenario_id: scenario.id } })).id
}

const download = async (url: string, runId: string, to: string) => {
  const start = performance.now()
  const outgoing = request(`${url}/v1/scenarios/runs/${runId}/download_logs`, {
    method: 'POST',
    headers: { authorization: 'Bearer ak_bench_0123456789' },
  }).end()
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage]
  if (response.statusCode !== 200) throw new Error(`The download returned ${response.statusCode}`)
  let firstByteMs = Number.NaN
  response.once('data', () => {
    firstByteMs = performance.now() - start
  })
  await pipeline(response, createWriteStream(to))
  return { firstByteMs, seconds: (performance.now() - start) / 1000 }
}

/** Log-like lines that repeat only outside the deflate window. */
const writeLog = (path: string, mebibytes: number) => {
  let seed = 1
  const random = (below: number) => {
    seed = (seed * 1103515245 + 12345) & 0x7fffffff
    return seed % below
  }
  let text = ''
  for (let i = 0; text.length < 8 * 2 ** 20; i++)
    text += `2026-11-20T12:${String((i >> 8) % 60).padStart(2, '0')}:${String(i % 60).padStart(2, '0')}.${random(1000)}Z ${['INFO', 'WARN', 'DEBUG'][random(3)]} worker-${random(64)} request ${random(1e9).toString(16)} took ${random(9999)} ms path=/v1/${['axons', 'devboxes', 'runs'][random(3)]}/${random(1e6)}\n`
  const bytes = Buffer.from(text)
  const file = openSync(path, 'w')
  for (let written = 0; written < mebibytes * 2 ** 20; ) written += writeSync(file, bytes)
  closeSync(file)
}

const isThere = (tool: string) => spawnSync(tool, ['-v']).error === undefined

const passes = (tool: string, args: string[]) =>
  spawnSync(tool, args, { stdio: 'ignore' }).status === 0 ? 'passes' : 'FAILS'
