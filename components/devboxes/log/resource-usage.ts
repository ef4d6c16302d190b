import { follow } from '#lib/browser/live/follow.ts'
import type { LogRecord } from '#lib/contract/logs.ts'
import { initialLogState, LogReader, type LogSource, type LogState } from './log-reader.ts'

/** Usage of a devbox at one time, read from a statistics record; null where the record lacks the figure. */
export interface UsageSample {
  atMs: number
  cpuCores: number | null
  memoryBytes: number | null
  diskFreeBytes: number | null
  processes: number | null
}

export interface UsageSnapshot extends LogState {
  samples: readonly UsageSample[]
  dropped: number
}

/** One day at a sample every 30 seconds. */
export const maxSamples = 2_880

export class ResourceUsage extends LogReader<UsageSnapshot> {
  #samples: UsageSample[] = []
  #total = 0

  constructor(source: LogSource) {
    super(source, { samples: [], dropped: 0, ...initialLogState })
  }

  protected override add(records: readonly LogRecord[]) {
    const samples = samplesOf(records)
    this.#total += samples.length
    this.#samples = [...this.#samples, ...samples].slice(-maxSamples)
  }

  protected override reset() {
    this.#samples = []
    this.#total = 0
  }

  protected override collect() {
    return { samples: this.#samples, dropped: this.#total - this.#samples.length }
  }
}

export const devboxUsage = (id: string): ResourceUsage =>
  new ResourceUsage((options) => follow({ endpoint: 'logs.tail', params: { id }, query: { source: 'stats' } }, options))

/** Parses statistics records; skips those in a format it doesn't know. */
export const samplesOf = (records: readonly LogRecord[]): UsageSample[] =>
  records.flatMap(({ source, message, timestamp_ms }) => {
    if (source !== 'stats' || !message) return []
    const { cpuCores, memoryBytes, diskFreeBytes, processes } = parseSample(message)
    const hasFigures = [cpuCores, memoryBytes, diskFreeBytes].some((each) => each !== null)
    return hasFigures ? [{ atMs: timestamp_ms, cpuCores, memoryBytes, diskFreeBytes, processes }] : []
  })

/** "3 processes, 24 MiB of memory, 0.31 s of CPU in 30 s, 10240 MiB of disk free", as the local service logs it. */
const parseSample = (message: string): Omit<UsageSample, 'atMs'> => {
  const [, used, span] = /([\d.]+) s of CPU in ([\d.]+) s/.exec(message) ?? []
  return {
    // The first sample has no time span.
    cpuCores: used && Number(span) > 0 ? Number(used) / Number(span) : null,
    memoryBytes: mebibytes(/(\d+) MiB of memory/.exec(message)),
    diskFreeBytes: mebibytes(/(\d+) MiB of disk free/.exec(message)),
    processes: parseNumber(/(\d+) process(?:es)?\b/.exec(message)),
  }
}

const parseNumber = (match: RegExpExecArray | null): number | null => (match?.[1] ? Number(match[1]) : null)
const mebibytes = (match: RegExpExecArray | null): number | null => {
  const value = parseNumber(match)
  return value === null ? null : value * 1024 ** 2
}
