import { spawn } from 'node:child_process'
import { join } from 'node:path'

const main = join(import.meta.dirname, '../main.ts')
/** Enables the compile cache, as for `npm run service`. */
const preload = join(import.meta.dirname, '../../../scripts/require-node.mjs')

export interface Ended {
  code: number | null
  signal: string | null
  stdout: string
  stderr: string
}

/** Runs the service's CLI in a child process, optionally with the command prefix `through`. The caller must end it. */
export const runCommand = (
  args: readonly string[],
  environment: Record<string, string> = {},
  through: readonly string[] = [],
) => {
  const [file = '', ...rest] = [...through, process.execPath, '--import', preload, main, ...args]
  const child = spawn(file, rest, {
    env: { NODE_ENV: 'test', PATH: '/usr/local/bin:/usr/bin:/bin', ...environment },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const output = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text) => (output.stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text) => (output.stderr += text))
  const ended = new Promise<Ended>((resolve) =>
    child.once('close', (code, signal) => resolve({ code, signal, ...output })),
  )
  const ready = new Promise<string>((resolve, reject) => {
    child.stdout.on('data', () => {
      const address = /listening on (http:\/\/\S+) /.exec(output.stdout)?.[1]
      if (address) resolve(address)
    })
    ended.then(({ stderr }) => reject(new Error(stderr || 'Ended without output')))
  })
  ready.catch(() => undefined)
  return { child, ready, ended, output }
}
