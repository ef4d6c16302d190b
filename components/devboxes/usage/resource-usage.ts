import { follow } from '#lib/browser/live/follow.ts'
import type { LogRecord } from '#lib/contract/logs.ts'
import { isFilesTabCommand } from '#lib/protocol/files-tab-mark.ts'
import { initialLogState, LogReader, type LogSource, type LogState } from '../log/log-reader.ts'
import { commandEvents, type UsageEvent } from './usage-window.ts'

/** Usage of a devbox at one time, read from a statistics record; null where the record lacks the figure. */
export interface UsageSample {
  atMs: number
  cpuCores: number | null
  memoryBytes: number | null
  diskUsedBytes: number | null
  /** Free space on the host, which may exceed the devbox's own disk. */
  diskFreeBytes: number | null
  processes: number | null
}

export interface UsageSnapshot extends LogState {
  samples: readonly UsageSample[]
  dropped: number
  /** Starts and ends of commands. */
  commands: readonly UsageEvent[]
}

/** One day at a sample every 30 seconds. */
export const maxSamples = 2_880
const maxCommands = 2_000

export class ResourceUsage extends LogReader<UsageSnapshot> {
  #samples: UsageSample[] = []
  #total = 0
  #commands: UsageEvent[] = []
  readonly #fromFilesTab = new Set<string>()

  constructor(source: LogSource) {
    super(source, { samples: [], dropped: 0, commands: [], ...initialLogState })
  }

  protected override add(records: readonly LogRecord[]) {
    const samples = samplesOf(records)
    this.#total += samples.length
    this.#samples = [...this.#samples, ...samples].slice(-maxSamples)
    for (const { cmd, cmd_id } of records) if (cmd_id && isFilesTabCommand(cmd)) this.#fromFilesTab.add(cmd_id)
    const own = records.filter(({ cmd_id }) => !cmd_id || !this.#fromFilesTab.has(cmd_id))
    this.#commands = [...this.#commands, ...commandEvents(own)].slice(-maxCommands)
  }

  protected override reset() {
    this.#samples = []
    this.#total = 0
    this.#commands = []
    this.#fromFilesTab.clear()
  }

  protected override collect() {
    return { samples: this.#samples, dropped: this.#total - this.#samples.length, commands: this.#commands }
  }
}

export const devboxUsage = (id: string): ResourceUsage =>
  new ResourceUsage((options) =>
    follow({ endpoint: 'logs.tail', params: { id }, query: { source: 'stats', commands: true } }, options),
  )

/** Parses statistics records; skips those in a format it doesn't know. */
export const samplesOf = (records: readonly LogRecord[]): UsageSample[] =>
  records.flatMap(({ source, message, timestamp_ms }) => {
    if (source !== 'stats' || !message) return []
    const { processes, ...figures } = parseSample(message)
    const hasFigures = Object.values(figures).some((each) => each !== null)
    return hasFigures ? [{ atMs: timestamp_ms, ...figures, processes }] : []
  })

/** "3 processes, 24 MiB of memory, 0.31 s of CPU in 30 s, 12 MiB of disk used, 10240 MiB of disk free", as the local service logs it. */
const parseSample = (message: string): Omit<UsageSample, 'atMs'> => {
  const [, used, span] = /([\d.]+) s of CPU in ([\d.]+) s/.exec(message) ?? []
  return {
    // The first sample has no time span.
    cpuCores: used && Number(span) > 0 ? Number(used) / Number(span) : null,
    memoryBytes: mebibytes(/(\d+) MiB of memory/.exec(message)),
    diskUsedBytes: mebibytes(/(\d+) MiB of disk used/.exec(message)),
    diskFreeBytes: mebibytes(/(\d+) MiB of disk free/.exec(message)),
    processes: parseNumber(/(\d+) process(?:es)?\b/.exec(message)),
  }
}

const parseNumber = (match: RegExpExecArray | null): number | null => (match?.[1] ? Number(match[1]) : null)
const mebibytes = (match: RegExpExecArray | null): number | null => {
  const value = parseNumber(match)
  return value === null ? null : value * 1024 ** 2
}
