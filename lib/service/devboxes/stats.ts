import { readdirSync, readFileSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { countOf } from '#lib/service/kit/amounts.ts'
import { processStat, readProc } from '#lib/service/kit/proc.ts'
import type { DevboxLogs } from '#lib/service/store/logs/logs.ts'

/** Unspecified: how often a running devbox logs what it uses. */
const intervalMs = 30_000
const firstAfterMs = 100
// All processes are read at once, so devboxes that start together share one read.
const minPauseMs = 1000
const processesPerTurn = 32
// A constant of Linux, whatever the kernel's own ticks are.
const ticksPerSecond = 100

interface Options {
  serviceId: string
  logs: DevboxLogs
  folderOf: (devboxId: string) => string
}

interface Process {
  /** Differs between two processes that had the same pid one after the other. */
  key: string
  parent: number
  residentBytes: number
  cpuTicks: number
  devboxId: string | undefined
}

/** Logs what each running devbox uses, soon after it starts to run and then at intervals. */
export class DevboxStats {
  readonly #options: Options
  readonly #running = new Set<string>()
  readonly #fresh = new Set<string>()
  #lastTicks = new Map<string, number>()
  #lastMs = 0
  #timer: NodeJS.Timeout | undefined
  #looking: Promise<void> | undefined
  #isClosed = false

  constructor(options: Options) {
    this.#options = options
  }

  /** To be called at every change of a devbox's status. */
  changed(devboxId: string, status: string): void {
    this.#fresh.delete(devboxId)
    if (status === 'running') {
      this.#running.add(devboxId)
      this.#fresh.add(devboxId)
      this.#lookIn(Math.max(firstAfterMs, this.#lastMs + minPauseMs - Date.now()))
    } else this.#running.delete(devboxId)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    await this.#looking
  }

  #lookIn(ms: number) {
    if (this.#isClosed || this.#looking) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      this.#looking = this.#look().finally(() => {
        this.#looking = undefined
        if (this.#fresh.size > 0) this.#lookIn(minPauseMs)
        else if (this.#running.size > 0) this.#lookIn(intervalMs)
      })
    }, ms).unref()
  }

  async #look(): Promise<void> {
    const wanted = new Set(this.#running)
    this.#fresh.clear()
    const all = await processesOf(this.#options.serviceId)
    const seconds = (Date.now() - this.#lastMs) / 1000
    const ticks = new Map<string, number>()
    for (const id of wanted) {
      const its = all.filter(({ devboxId }) => devboxId === id)
      let used = 0
      for (const { key, cpuTicks } of its) {
        used += cpuTicks - (this.#lastTicks.get(key) ?? 0)
        ticks.set(key, cpuTicks)
      }
      if (!this.#running.has(id) || this.#isClosed) continue
      const memory = its.reduce((sum, { residentBytes }) => sum + residentBytes, 0)
      const disk = await statfs(join(this.#options.folderOf(id), 'home')).catch(() => undefined)
      const words = [
        countOf(its.length, 'process', 'processes'),
        `${inMiB(memory)} of memory`,
        `${(used / ticksPerSecond).toFixed(2)} s of CPU${this.#lastTicks.size > 0 ? ` in ${seconds.toFixed(0)} s` : ''}`,
        ...(disk ? [`${inMiB(disk.bavail * disk.bsize)} of disk free`] : []),
      ]
      this.#options.logs.append(id, { level: 'info', source: 'stats', message: words.join(', ') })
    }
    this.#lastTicks = ticks
    this.#lastMs = Date.now()
  }
}

const inMiB = (bytes: number) => `${(bytes / 2 ** 20).toFixed(0)} MiB`

/** The processes of the service's devboxes. A process without a mark belongs to the devbox of its parent. */
const processesOf = async (serviceId: string): Promise<Process[]> => {
  const byPid = new Map<number, Process>()
  let untilPause = processesPerTurn
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const found = readProcess(Number(name), serviceId)
    if (found) byPid.set(Number(name), found)
    if (--untilPause > 0) continue
    untilPause = processesPerTurn
    await nextTurn()
  }
  for (const process of byPid.values()) {
    // Bounded, because pids that were given to other processes meanwhile could form a circle.
    for (let parent = byPid.get(process.parent), left = 64; parent && !process.devboxId && left > 0; left--) {
      process.devboxId = parent.devboxId
      parent = byPid.get(parent.parent)
    }
  }
  return [...byPid.values()]
}

const readProcess = (pid: number, serviceId: string): Process | undefined => {
  const stat = processStat(pid)
  if (!stat) return undefined
  const { startTime, parent, residentPages, cpuTicks } = stat
  const devboxId = markOf(pid, serviceId)
  return { key: `${pid} ${startTime}`, parent, residentBytes: residentPages * pageBytes(), cpuTicks, devboxId }
}

const markOf = (pid: number, serviceId: string): string | undefined => {
  const variables = readProc(pid, 'environ')?.split('\0')
  if (!variables?.includes(`DEVDECK_SERVICE_ID=${serviceId}`)) return undefined
  const name = 'DEVDECK_DEVBOX_ID='
  return variables.find((variable) => variable.startsWith(name))?.slice(name.length)
}

let knownPageBytes: number | undefined
const pageBytes = (): number => {
  knownPageBytes ??=
    Number(/^KernelPageSize:\s+(\d+) kB/m.exec(readFileSync('/proc/self/smaps', 'latin1'))?.[1] ?? 4) * 1024
  return knownPageBytes
}
