import * as z from 'zod/mini'
import { paths } from '#lib/browser/address/paths.ts'
import { searchOf } from '#lib/browser/address/search.ts'
import type { LogRecord } from '#lib/contract/logs.ts'
import { type FindPattern, findPattern } from '#lib/terminal/page/find.ts'

/** What the address of a devbox's log says of the records that are shown. */
export const LogView = z.object({
  tab: z.optional(z.literal('log')),
  /** As the service calls it, also a word of a newer one. Absent: all but the statistics. */
  source: z.optional(z.string()),
  level: z.optional(z.string()),
  execution: z.optional(z.string()),
  search: z.optional(z.string()),
  /** `search` is a regular expression. */
  regex: z.optional(z.enum(['yes'], 'must be yes')),
  stats: z.optional(z.enum(['shown'], 'must be shown')),
  /** Commands by which the Files tab reads folders. */
  files: z.optional(z.enum(['shown'], 'must be shown')),
})
export type LogView = z.output<typeof LogView>

export const logViewPath =
  (id: string) =>
  (view: Partial<LogView>): string =>
    `${paths.devbox(id)}${searchOf({ ...view, tab: 'log' })}`

export interface FilteredLog<Row> {
  shown: readonly Row[]
  /** Statistics that are left out because nobody asked for them. */
  stats: number
  /** Likewise of the commands by which the Files tab reads. */
  ofFiles: number
}

/** The expression of a view, or why it is none; null where the search is of plain text. */
export const expressionOf = ({ search = '', regex }: LogView): FindPattern =>
  regex === 'yes' ? findPattern({ text: search, matchCase: false, wholeWord: false, regex: true }) : null

/** The records a view shows; of its expression only others know what it matches. */
export const recordsOf = <Row extends LogRecord & { text: string; isReadByFiles?: boolean }>(
  records: readonly Row[],
  view: LogView,
  isMatch: (record: Row) => boolean = () => true,
): FilteredLog<Row> => {
  const { source, level, execution, regex } = view
  const wanted = regex === 'yes' ? '' : (view.search ?? '').toLowerCase()
  const takesStats = source === 'stats' || view.stats === 'shown'
  let stats = 0
  let ofFiles = 0
  const shown = records.filter((record) => {
    if (source && record.source !== source) return false
    if (level && record.level !== level) return false
    if (execution && record.cmd_id !== execution) return false
    if (wanted !== '' && !record.text.toLowerCase().includes(wanted)) return false
    if (!isMatch(record)) return false
    const isOfFiles = record.isReadByFiles && view.files !== 'shown' && !execution
    const isOfStats = record.source === 'stats' && !takesStats
    if (isOfFiles) ofFiles++
    if (isOfStats) stats++
    return !isOfFiles && !isOfStats
  })
  return { shown, stats, ofFiles }
}
