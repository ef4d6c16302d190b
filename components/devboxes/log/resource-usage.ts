import type { LogRecord } from '#lib/contract/logs.ts'
import { FollowedRecords, notFollowed, type RecordSource, type RecordsState } from './followed-records.ts'

/** What a devbox used at one time, as its log tells it; null is what a record does not say. */
export interface UseSample {
  atMs: number
  /** Cores in use on average since the sample before. */
  cpuCores: number | null
  memoryBytes: number | null
  diskFreeBytes: number | null
  processes: number | null
}

export interface UseSnapshot extends RecordsState {
  /** The latest, oldest first. */
  samples: readonly UseSample[]
  /** How many came before those and are not kept. */
  dropped: number
}

/** A day of samples, one each half minute. */
export const maxSamples = 2_880

/** The statistics in the log of one devbox for as long as someone looks at them. */
export class ResourceUse extends FollowedRecords<UseSnapshot> {
  #samples: UseSample[] = []
  #total = 0

  constructor(source: RecordSource) {
    super(source, { samples: [], dropped: 0, ...notFollowed })
  }

  protected override take(records: readonly LogRecord[]) {
    const samples = samplesOf(records)
    this.#total += samples.length
    this.#samples = [...this.#samples, ...samples].slice(-maxSamples)
  }

  protected override forget() {
    this.#samples = []
    this.#total = 0
  }

  protected override gathered() {
    return { samples: this.#samples, dropped: this.#total - this.#samples.length }
  }
}

/** What the statistics among these records tell; records in other words tell nothing. */
export const samplesOf = (records: readonly LogRecord[]): UseSample[] =>
  records.flatMap(({ source, message, timestamp_ms }) => {
    if (source !== 'stats' || !message) return []
    const { cpuCores, memoryBytes, diskFreeBytes, processes } = sampleOf(message)
    const isTold = [cpuCores, memoryBytes, diskFreeBytes].some((each) => each !== null)
    return isTold ? [{ atMs: timestamp_ms, cpuCores, memoryBytes, diskFreeBytes, processes }] : []
  })

/** "3 processes, 24 MiB of memory, 0.31 s of CPU in 30 s, 10240 MiB of disk free", as the local service logs it. */
const sampleOf = (message: string): Omit<UseSample, 'atMs'> => {
  const [, used, span] = /([\d.]+) s of CPU in ([\d.]+) s/.exec(message) ?? []
  return {
    // The first sample has no span: what it used cannot be told from what ran before it.
    cpuCores: used && Number(span) > 0 ? Number(used) / Number(span) : null,
    memoryBytes: inBytes(/(\d+) MiB of memory/.exec(message)),
    diskFreeBytes: inBytes(/(\d+) MiB of disk free/.exec(message)),
    processes: numberIn(/(\d+) process(?:es)?\b/.exec(message)),
  }
}

const numberIn = (found: RegExpExecArray | null): number | null => (found?.[1] ? Number(found[1]) : null)
const inBytes = (found: RegExpExecArray | null): number | null => {
  const mebibytes = numberIn(found)
  return mebibytes === null ? null : mebibytes * 1024 ** 2
}
