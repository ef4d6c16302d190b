import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { findProcesses } from '#lib/service/engine/processes.ts'
import { readProc } from '#lib/service/kit/proc.ts'
import { serviceIdOf } from '#lib/service/store/data-dir.ts'
import { residentMiB, withService } from './process.ts'

const atOnce = 10
/** Allowed growth above the warm service. */
const maxGrownMiB = 64

interface DevboxesReport {
  grownMiB: number
  /** Leftovers of devboxes, and memory growth. */
  problems: string[]
}

/** Creates, uses and shuts down `count` devboxes in a new service, after as many to warm it up. */
export const manyDevboxes = (count: number): Promise<DevboxesReport> =>
  withService([], async ({ client, dataDir, pid }) => {
    const problems: string[] = []
    const life = async () => {
      const { id } = await client.devboxes.createAndAwaitRunning({ body: {} })
      const command = '(sleep 1000 &); echo used > ~/file; cat ~/file'
      const { stdout } = await client.executions.executeSync({ params: { id }, body: { command } })
      if (stdout !== 'used\n') problems.push(`devbox ${id} printed ${JSON.stringify(stdout)}`)
      await client.devboxes.shutdown({ params: { id } })
      if (existsSync(join(dataDir, 'devboxes', id, 'home'))) problems.push(`the disk of devbox ${id} was left`)
    }
    const many = async () => {
      let started = 0
      const lane = async () => {
        while (started++ < count) await life()
      }
      await Promise.all(Array.from({ length: atOnce }, lane))
    }
    const use = () => ({ memory: residentMiB(pid, 'VmRSS'), files: readdirSync(`/proc/${pid}/fd`).length })
    await many()
    const before = use()
    await many()
    const after = use()
    // Excludes the service's own child processes, such as the one that lists axons.
    const left = findProcesses({ DEVDECK_SERVICE_ID: serviceIdOf(dataDir) }).filter((each) =>
      readProc(each, 'environ')?.includes('DEVDECK_DEVBOX_ID='),
    )
    if (left.length > 0) problems.push(`processes ${left.join(', ')} were left`)
    if (readFileSync('/proc/self/mounts', 'utf8').includes(dataDir)) problems.push('mounts were left')
    if (after.files > before.files + atOnce) problems.push(`${before.files} files were open, then ${after.files}`)
    const grownMiB = after.memory - before.memory
    if (grownMiB > maxGrownMiB) problems.push(`the memory grew by ${grownMiB.toFixed(0)} MiB`)
    return { grownMiB, problems }
  })
