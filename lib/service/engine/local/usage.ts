import { readFileSync, statfsSync } from 'node:fs'
import type { Usage } from '../box.ts'
import { processesByDevbox } from '../processes.ts'
import type { LocalSpec } from './launch.ts'

const ticksPerSecond = 100
const maxAgeMs = 500

/** Measures the devbox on each call; CPU time counts from the first. */
export const createUsageMeter = ({ serviceId, devboxId, home }: LocalSpec): (() => Promise<Usage>) => {
  let lastTicks = new Map<string, number>()
  let usedTicks = 0
  return async () => {
    const processes = processesOf(serviceId).get(devboxId) ?? []
    const ticks = new Map<string, number>()
    for (const { pid, startTime, cpuTicks } of processes) {
      const key = `${pid} ${startTime}`
      usedTicks += cpuTicks - (lastTicks.get(key) ?? 0)
      ticks.set(key, cpuTicks)
    }
    lastTicks = ticks
    const { bavail, bsize } = statfsSync(home)
    return {
      processes: processes.length,
      memoryBytes: processes.reduce((sum, { residentPages }) => sum + residentPages * pageBytes(), 0),
      cpuSeconds: usedTicks / ticksPerSecond,
      diskFreeBytes: bavail * bsize,
    }
  }
}

/** One pass over /proc serves all devboxes that are measured together. */
const processesOf = (serviceId: string): ReturnType<typeof processesByDevbox> => {
  if (read?.serviceId !== serviceId || Date.now() - read.atMs > maxAgeMs)
    read = { serviceId, atMs: Date.now(), byDevbox: processesByDevbox(serviceId) }
  return read.byDevbox
}
let read: { serviceId: string; atMs: number; byDevbox: ReturnType<typeof processesByDevbox> } | undefined

const pageBytes = (): number => {
  page ??= Number(/^KernelPageSize:\s+(\d+) kB/m.exec(readFileSync('/proc/self/smaps', 'latin1'))?.[1] ?? 4) * 1024
  return page
}
let page: number | undefined
