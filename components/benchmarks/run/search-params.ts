import * as z from 'zod/mini'
import { paths } from '#lib/browser/address/paths.ts'
import { searchOf } from '#lib/browser/address/search.ts'
import { queryInt } from '#lib/contract/common.ts'

/** What the address of a run's page says: which of its log files is open, and where. */
export const RunView = z.object({
  tab: z.optional(z.enum(['logs'], 'must be logs')),
  /** What the paths of the files hold that are listed. */
  files: z.optional(z.string()),
  file: z.optional(z.string()),
  /** From 1. */
  line: z.optional(queryInt(1, 1_000_000_000)),
  search: z.optional(z.string()),
})
export type RunView = z.output<typeof RunView>

/** A file is among the logs, whatever the address says beside it. */
export const showsLogs = ({ tab, file }: RunView): boolean => tab === 'logs' || file !== undefined

export const runViewPath =
  (id: string) =>
  (view: Partial<RunView>): string =>
    `${paths.benchmarkRun(id)}${searchOf(view)}`
