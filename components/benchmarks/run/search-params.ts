import * as z from 'zod/mini'
import { paths } from '#lib/browser/address/paths.ts'
import { searchOf } from '#lib/browser/address/search.ts'
import { queryInt } from '#lib/contract/common.ts'
import { scenarioRunStates } from '#lib/contract/scenario-runs.ts'

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

export const RunView = z.object({
  search: z.optional(z.string()),
  state: z.optional(z.enum(scenarioRunStates, `must be one of ${scenarioRunStates.join(', ')}`)),
  score: z.optional(z.enum(['pass', 'partial', 'zero', 'none'], 'must be pass, partial, zero or none')),
  /** Exception type. */
  failure: z.optional(z.string()),
  /** Column to sort by, descending with a minus. Default: newest first. */
  sort: z.optional(z.string()),
})
export type RunView = z.output<typeof RunView>

export const runPath =
  (id: string) =>
  (view: Partial<RunView>): string =>
    `${paths.benchmarkRun(id)}${searchOf(view)}`
