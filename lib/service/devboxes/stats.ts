import { readdirSync, readFileSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { countOf } from '#lib/service/kit/amounts.ts'
import { processStat, readProc } from '#lib/service/kit/proc.ts'
import type { DevboxLogs } from '#lib/service/store/logs/logs.ts'

const intervalMs = 30_000
const firstAfterMs = 100
const minPauseMs = 1000
const processesPerTurn = 32
const ticksPerSecond = 100

interface Options {
  serviceId: string
  logs: DevboxLogs
  folderOf: (devboxId: string) => string
}

interface Process {
  key: string
  parent: number
  residentBytes: number
  cpuTicks: number
  devboxId: string | undefined
}

export class DevboxStats {
  readonly #options: Options
  readonly #running = new Set<string>()
  readonly #fresh = new Set<string>()
  #lastTicks = new Map<string, number>()
  #lastMs = 0
  #timer: NodeJS.Timeout | undefined
  #measuring: Promise<void> | undefined
  #isClosed = false

  constructor(options: Options) {
    this.#options = options
  }

  changed(devboxId: string, status: string): void {
    this.#fresh.delete(devboxId)
    if (status === 'running') {
      this.#running.add(devboxId)
      this.#fresh.add(devboxId)
      this.#schedule(Math.max(firstAfterMs, this.#lastMs + minPauseMs - Date.now()))
    } else this.#running.delete(devboxId)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    await this.#measuring
  }

  #schedule(ms: number) {
    if (this.#isClosed || this.#measuring) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      this.#measuring = this.#measure().finally(() => {
        this.#measuring = undefined
        if (this.#fresh.size > 0) this.#schedule(minPauseMs)
        else if (this.#running.size > 0) this.#schedule(intervalMs)
      })
    }, ms).unref()
  }

  async #measure(): Promise<void> {
    const devboxIds = new Set(this.#running)
    this.#fresh.clear()
    const all = await processesOf(this.#options.serviceId)
    const seconds = (Date.now() - this.#lastMs) / 1000
    const ticks = new Map<string, number>()
    for (const id of devboxIds) {
      const processes = all.filter(({ devboxId }) => devboxId === id)
      let used = 0
      for (const { key, cpuTicks } of processes) {
        used += cpuTicks - (this.#lastTicks.get(key) ?? 0)
        ticks.set(key, cpuTicks)
      }
      if (!this.#running.has(id) || this.#isClosed) continue
      const memory = processes.reduce((sum, { residentBytes }) => sum + residentBytes, 0)
      const disk = await statfs(join(this.#options.folderOf(id), 'home')).catch(() => undefined)
      const parts = [
        countOf(processes.length, 'process', 'processes'),
        `${inMiB(memory)} of memory`,
        `${(used / ticksPerSecond).toFixed(2)} s of CPU${this.#lastTicks.size > 0 ? ` in ${seconds.toFixed(0)} s` : ''}`,
        ...(disk ? [`${inMiB(disk.bavail * disk.bsize)} of disk free`] : []),
      ]
      this.#options.logs.append(id, { level: 'info', source: 'stats', message: parts.join(', ') })
    }
    this.#lastTicks = ticks
    this.#lastMs = Date.now()
  }
}

const inMiB = (bytes: number) => `${(bytes / 2 ** 20).toFixed(0)} MiB`

/** Processes of the service's devboxes. Unmarked processes belong to their parent's devbox. */
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
    // Bounded, because reused pids could form a cycle.
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
