import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'

const root = join(import.meta.dirname, '../..')

export const startServiceProcess = async (dataDir: string, port = 0) => {
  const flags = ['--port', String(port), '--data-dir', dataDir, '--stop-with-parent', '--min-free-disk', '0']
  const { child, line, end } = await start('lib/service/main.ts', flags, {}, /listening on (http:\/\/[\d.:]+)/)
  const apiKey = readFileSync(join(dataDir, 'api-key'), 'utf8').trim()
  return { url: line, port: Number(new URL(line).port), pid: child.pid, apiKey, end }
}

export const startConsoleProcess = async (dataDir: string, serviceUrl: string, port = 0) => {
  const environment = { PORT: String(port), DEVDECK_DATA_DIR: dataDir, DEVDECK_SERVICE_URL: serviceUrl }
  const { child, line, end } = await start('server.ts', [], environment, /console on (http:\/\/\S+)/i)
  return { url: line, port: Number(new URL(line).port), pid: child.pid, end }
}

const start = async (file: string, flags: string[], environment: Record<string, string>, pattern: RegExp) => {
  const args = ['--import', join(root, 'scripts/require-node.mjs'), join(root, file), ...flags]
  const child = spawn(process.execPath, args, {
    cwd: root,
    env: { NODE_ENV: 'production', PATH: '/usr/local/bin:/usr/bin:/bin', ...environment },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const end = async (signal: NodeJS.Signals) => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const closed = once(child, 'close')
    child.kill(signal)
    await closed
  }
  return { child, line: await find(child, pattern), end }
}

const find = async (child: ChildProcessByStdio<Writable, Readable, null>, pattern: RegExp) => {
  const lines = createInterface({ input: child.stdout })
  for await (const line of lines) {
    const found = pattern.exec(line)?.[1]
    if (found === undefined) continue
    child.stdout.resume()
    return found
  }
  throw new Error(`The process ended with ${child.exitCode}`)
}
