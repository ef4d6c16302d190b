import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Client, createClient } from '#lib/client/client.ts'
import { runCommand } from '#lib/service/testing/process.ts'

interface ServiceProcess {
  client: Client
  dataDir: string
  pid: number | undefined
}

/** Runs a local service in its own process, so that its memory can be measured. */
export const withService = async <T>(
  flags: readonly string[],
  run: (service: ServiceProcess) => Promise<T>,
  environment: Record<string, string> = {},
): Promise<T> => {
  const dataDir = mkdtempSync(join(tmpdir(), 'devdeck-soak-'))
  const args = ['--port', '0', '--data-dir', dataDir, '--stop-with-parent', ...flags]
  const { child, ready, ended } = runCommand(args, environment)
  try {
    const baseUrl = await ready
    const key = readFileSync(join(dataDir, 'api-key'), 'utf8').trim()
    const client = createClient({ baseUrl, headers: { authorization: `Bearer ${key}` } })
    return await run({ client, dataDir, pid: child.pid })
  } finally {
    child.kill('SIGTERM')
    await ended
    rmSync(dataDir, { recursive: true, force: true })
  }
}

export const residentMiB = (pid: number | undefined, field: 'VmRSS' | 'VmHWM') =>
  Number(new RegExp(`${field}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
