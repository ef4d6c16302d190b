import * as z from 'zod/mini'
import { paths } from '#lib/browser/address/paths.ts'
import type { LogRecord } from '#lib/contract/logs.ts'
import { type FindPattern, findPattern } from '#lib/terminal/page/find.ts'

export const LogSearchParams = z.object({
  /** Any source, including those of a newer service. Without one, statistics are hidden. */
  source: z.optional(z.string()),
  level: z.optional(z.string()),
  execution: z.optional(z.string()),
  search: z.optional(z.string()),
  regex: z.optional(z.enum(['yes'], 'must be yes')),
  stats: z.optional(z.enum(['shown'], 'must be shown')),
  files: z.optional(z.enum(['shown'], 'must be shown')),
})
export type LogSearchParams = z.output<typeof LogSearchParams>

export const logPath =
  (id: string) =>
  (params: Partial<LogSearchParams>): string =>
    paths.devbox(id, 'log', params)

export interface FilteredLog<Row> {
  shown: readonly Row[]
  hiddenStats: number
  hiddenFilesTab: number
}

/** The regular expression to search for, or what is wrong with it; null for a plain-text search. */
export const searchPattern = ({ search = '', regex }: LogSearchParams): FindPattern =>
  regex === 'yes' ? findPattern({ text: search, matchCase: false, wholeWord: false, regex: true }) : null

/** `isMatch` applies a regular expression, which runs in a worker. */
export const filterRecords = <Row extends LogRecord & { text: string; isFromFilesTab?: boolean }>(
  records: readonly Row[],
  params: LogSearchParams,
  isMatch: (record: Row) => boolean = () => true,
): FilteredLog<Row> => {
  const { source, level, execution, regex } = params
  const text = regex === 'yes' ? '' : (params.search ?? '').toLowerCase()
  const showsStats = source === 'stats' || params.stats === 'shown'
  let hiddenStats = 0
  let hiddenFilesTab = 0
  const shown = records.filter((record) => {
    if (source && record.source !== source) return false
    if (level && record.level !== level) return false
    if (execution && record.cmd_id !== execution) return false
    if (text !== '' && !record.text.toLowerCase().includes(text)) return false
    if (!isMatch(record)) return false
    const hidesFilesTab = record.isFromFilesTab && params.files !== 'shown' && !execution
    const hidesStats = record.source === 'stats' && !showsStats
    if (hidesFilesTab) hiddenFilesTab++
    if (hidesStats) hiddenStats++
    return !hidesFilesTab && !hidesStats
  })
  return { shown, hiddenStats, hiddenFilesTab }
}
