import * as z from 'zod/mini'
import { paths } from '#lib/browser/address/paths.ts'
import { searchOf } from '#lib/browser/address/search.ts'
import { queryInt } from '#lib/contract/common.ts'

export const RunLogsParams = z.object({
  files: z.optional(z.string()),
  file: z.optional(z.string()),
  line: z.optional(queryInt(1, 1_000_000_000)),
  search: z.optional(z.string()),
})
export type RunLogsParams = z.output<typeof RunLogsParams>

export const runLogsPath =
  (id: string) =>
  (params: Partial<RunLogsParams> = {}): string =>
    `${paths.benchmarkRun(id)}/logs${searchOf(params)}`
