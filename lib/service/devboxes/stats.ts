import type { Usage } from '#lib/service/engine/box.ts'
import { countOf } from '#lib/service/kit/amounts.ts'
import { logFailure } from '#lib/service/kit/log.ts'
import type { DevboxLogs } from '#lib/service/store/logs/logs.ts'

const intervalMs = 30_000
const firstAfterMs = 1000

interface Options {
  logs: DevboxLogs
  /** Undefined if the devbox isn't running. */
  usageOf: (devboxId: string) => Promise<Usage | undefined>
}

export class DevboxStats {
  readonly #options: Options
  /** CPU time of running devboxes, once measured. */
  readonly #running = new Map<string, { cpuSeconds: number; atMs: number } | undefined>()
  #timer: NodeJS.Timeout | undefined

  constructor(options: Options) {
    this.#options = options
  }

  changed(devboxId: string, status: string): void {
    if (status !== 'running') this.#running.delete(devboxId)
    else {
      this.#running.set(devboxId, undefined)
      this.#schedule(firstAfterMs)
    }
  }

  close(): void {
    clearTimeout(this.#timer)
    this.#running.clear()
  }

  #schedule(ms: number) {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(async () => {
      const ids = [...this.#running.keys()]
      await Promise.all(
        ids.map((id) => this.#measure(id).catch(logFailure(`Could not measure the resource usage of devbox ${id}`))),
      )
      if (this.#running.size > 0) this.#schedule(intervalMs)
    }, ms).unref()
  }

  async #measure(id: string) {
    const { usageOf, logs } = this.#options
    const usage = await usageOf(id)
    if (!usage || !this.#running.has(id)) return
    const { processes, memoryBytes, cpuSeconds, diskFreeBytes } = usage
    const last = this.#running.get(id)
    const atMs = Date.now()
    this.#running.set(id, { cpuSeconds, atMs })
    const since = last ? ` in ${((atMs - last.atMs) / 1000).toFixed(0)} s` : ''
    const parts = [
      countOf(processes, 'process', 'processes'),
      `${inMiB(memoryBytes)} of memory`,
      `${(cpuSeconds - (last?.cpuSeconds ?? 0)).toFixed(2)} s of CPU${since}`,
      ...(diskFreeBytes === undefined ? [] : [`${inMiB(diskFreeBytes)} of disk free`]),
    ]
    logs.append(id, { level: 'info', source: 'stats', message: parts.join(', ') })
  }
}

const inMiB = (bytes: number) => `${(bytes / 2 ** 20).toFixed(0)} MiB`
