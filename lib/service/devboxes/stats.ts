import { readFileSync, statfsSync } from 'node:fs'
import { join } from 'node:path'
import { processesByDevbox } from '#lib/service/engine/processes.ts'
import { countOf } from '#lib/service/kit/amounts.ts'
import { logFailure } from '#lib/service/kit/log.ts'
import type { DevboxLogs } from '#lib/service/store/logs/logs.ts'

const intervalMs = 30_000
const firstAfterMs = 1000
const ticksPerSecond = 100

interface Options {
  serviceId: string
  logs: DevboxLogs
  folderOf: (devboxId: string) => string
}

export class DevboxStats {
  readonly #options: Options
  readonly #running = new Set<string>()
  #lastTicks = new Map<string, number>()
  #lastMs = 0
  #timer: NodeJS.Timeout | undefined

  constructor(options: Options) {
    this.#options = options
  }

  changed(devboxId: string, status: string): void {
    if (status !== 'running') this.#running.delete(devboxId)
    else {
      this.#running.add(devboxId)
      this.#schedule(firstAfterMs)
    }
  }

  close(): void {
    clearTimeout(this.#timer)
    this.#running.clear()
  }

  #schedule(ms: number) {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      try {
        this.#measure()
      } catch (error) {
        logFailure('Could not measure the resource usage of devboxes')(error)
      }
      if (this.#running.size > 0) this.#schedule(intervalMs)
    }, ms).unref()
  }

  #measure() {
    const { serviceId, folderOf, logs } = this.#options
    const all = processesByDevbox(serviceId)
    const seconds = (Date.now() - this.#lastMs) / 1000
    const pageBytes = readPageBytes()
    const ticks = new Map<string, number>()
    for (const id of this.#running) {
      const processes = all.get(id) ?? []
      let used = 0
      for (const { pid, startTime, cpuTicks } of processes) {
        const key = `${pid} ${startTime}`
        used += cpuTicks - (this.#lastTicks.get(key) ?? 0)
        ticks.set(key, cpuTicks)
      }
      const memory = processes.reduce((sum, { residentPages }) => sum + residentPages * pageBytes, 0)
      const { bavail, bsize } = statfsSync(join(folderOf(id), 'home'))
      const parts = [
        countOf(processes.length, 'process', 'processes'),
        `${inMiB(memory)} of memory`,
        `${(used / ticksPerSecond).toFixed(2)} s of CPU${this.#lastTicks.size > 0 ? ` in ${seconds.toFixed(0)} s` : ''}`,
        `${inMiB(bavail * bsize)} of disk free`,
      ]
      logs.append(id, { level: 'info', source: 'stats', message: parts.join(', ') })
    }
    this.#lastTicks = ticks
    this.#lastMs = Date.now()
  }
}

const inMiB = (bytes: number) => `${(bytes / 2 ** 20).toFixed(0)} MiB`

const readPageBytes = () =>
  Number(/^KernelPageSize:\s+(\d+) kB/m.exec(readFileSync('/proc/self/smaps', 'latin1'))?.[1] ?? 4) * 1024
