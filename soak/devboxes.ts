import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '#lib/client/client.ts'
import { findProcesses } from '#lib/service/engine/processes.ts'
import { readProc } from '#lib/service/kit/proc.ts'
import { serviceIdOf } from '#lib/service/store/data-dir.ts'
import { runCommand } from '#lib/service/testing/process.ts'

const atOnce = 10
/** Allowed growth above the warm service. */
const maxGrownMiB = 64

interface DevboxesReport {
  grownMiB: number
  /** Leftovers of devboxes, and memory growth. */
  problems: string[]
}

/** Creates, uses and shuts down `count` devboxes in a new service, after as many to warm it up. */
export const manyDevboxes = async (count: number): Promise<DevboxesReport> => {
  const dataDir = mkdtempSync(join(tmpdir(), 'devdeck-soak-'))
  const { child, ready, ended } = runCommand(['--port', '0', '--data-dir', dataDir, '--stop-with-parent'])
  try {
    const baseUrl = await ready
    const key = readFileSync(join(dataDir, 'api-key'), 'utf8').trim()
    const client = createClient({ baseUrl, headers: { authorization: `Bearer ${key}` } })
    const problems: string[] = []
    const life = async () => {
      const { id } = await client.devboxes.createAndAwaitRunning({ body: {} })
      const command = '(sleep 1000 &); echo used > ~/file; cat ~/file'
      const { stdout } = await client.executions.executeSync({ params: { id }, body: { command } })
      if (stdout !== 'used\n') problems.push(`devbox ${id} said ${JSON.stringify(stdout)}`)
      await client.devboxes.shutdown({ params: { id } })
      if (existsSync(join(dataDir, 'devboxes', id, 'home'))) problems.push(`the disk of devbox ${id} was left`)
    }
    const many = async () => {
      let begun = 0
      const lane = async () => {
        while (begun++ < count) await life()
      }
      await Promise.all(Array.from({ length: atOnce }, lane))
    }
    const look = () => ({ memory: residentMiB(child.pid), files: readdirSync(`/proc/${child.pid}/fd`).length })
    await many()
    const before = look()
    await many()
    const after = look()
    // Excludes the service's own child processes, such as the one that lists axons.
    const left = findProcesses({ DEVDECK_SERVICE_ID: serviceIdOf(dataDir) }).filter((pid) =>
      readProc(pid, 'environ')?.includes('DEVDECK_DEVBOX_ID='),
    )
    if (left.length > 0) problems.push(`processes ${left.join(', ')} were left`)
    if (readFileSync('/proc/self/mounts', 'utf8').includes(dataDir)) problems.push('mounts were left')
    if (after.files > before.files + atOnce) problems.push(`${before.files} files were open, then ${after.files}`)
    const grownMiB = after.memory - before.memory
    if (grownMiB > maxGrownMiB) problems.push(`the memory grew by ${grownMiB.toFixed(0)} MiB`)
    return { grownMiB, problems }
  } finally {
    child.kill('SIGTERM')
    await ended
    rmSync(dataDir, { recursive: true, force: true })
  }
}

const residentMiB = (pid: number | undefined) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
