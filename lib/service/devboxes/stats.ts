import type { Usage } from '#lib/service/engine/box.ts'
import { countOf } from '#lib/service/kit/amounts.ts'
import { isUnavailable } from '#lib/service/kit/errors.ts'
import { logFailure } from '#lib/service/kit/log.ts'
import type { DevboxLogs } from '#lib/service/store/logs/logs.ts'

const intervalMs = 30_000
const firstAfterMs = 1000

interface Options {
  logs: DevboxLogs
  /** Undefined if the devbox isn't running. */
  usageOf: (devboxId: string) => Promise<Usage | undefined>
  /** Undefined until measured. */
  diskUsedBytes: (devboxId: string) => number | undefined
}

interface Measured {
  atMs: number
  cpuSeconds: number
  /** Since the previous measurement. */
  cpuCores: number
  memoryBytes: number
}

export class DevboxStats {
  readonly #options: Options
  /** CPU time of running devboxes, once measured. */
  readonly #running = new Map<string, Measured | undefined>()
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

  /** Undefined until measured. */
  latest(devboxId: string): Pick<Measured, 'cpuCores' | 'memoryBytes'> | undefined {
    return this.#running.get(devboxId)
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
        ids.map((id) =>
          this.#measure(id).catch((error: unknown) => {
            // The engine logs its own outage.
            if (!isUnavailable(error)) logFailure(`Could not measure the resource usage of devbox ${id}`)(error)
          }),
        ),
      )
      if (this.#running.size > 0) this.#schedule(intervalMs)
    }, ms).unref()
  }

  async #measure(id: string) {
    const { usageOf, diskUsedBytes, logs } = this.#options
    const usage = await usageOf(id)
    if (!usage || !this.#running.has(id)) return
    const { processes, memoryBytes, cpuSeconds, diskFreeBytes } = usage
    const last = this.#running.get(id)
    const atMs = Date.now()
    const seconds = last && (atMs - last.atMs) / 1000
    const usedSeconds = cpuSeconds - (last?.cpuSeconds ?? 0)
    this.#running.set(id, { cpuSeconds, atMs, memoryBytes, cpuCores: seconds ? Math.max(0, usedSeconds) / seconds : 0 })
    const since = seconds === undefined ? '' : ` in ${seconds.toFixed(0)} s`
    const used = diskUsedBytes(id)
    const parts = [
      countOf(processes, 'process', 'processes'),
      `${inMiB(memoryBytes)} of memory`,
      `${usedSeconds.toFixed(2)} s of CPU${since}`,
      ...(used === undefined ? [] : [`${inMiB(used)} of disk used`]),
      ...(diskFreeBytes === undefined ? [] : [`${inMiB(diskFreeBytes)} of disk free`]),
    ]
    logs.append(id, { level: 'info', source: 'stats', message: parts.join(', ') })
  }
}

const inMiB = (bytes: number) => `${(bytes / 2 ** 20).toFixed(0)} MiB`
