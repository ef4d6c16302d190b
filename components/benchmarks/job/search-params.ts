import * as z from 'zod/mini'
import { paths } from '#lib/browser/address/paths.ts'
import { searchOf } from '#lib/browser/address/search.ts'
import { queryInt } from '#lib/contract/common.ts'
import { reportParams } from '../report-params.ts'

export const suspicions = ['nop_passes', 'oracle_fails', 'all_fail', 'flaky', 'at_timeout', 'all_pass'] as const
export type Suspicion = (typeof suspicions)[number]

export const JobView = z.object({
  ...reportParams,
  search: z.optional(z.string()),
  /** State of any attempt; `none`: no outcome yet. */
  state: z.optional(z.enum(['COMPLETED', 'FAILED', 'TIMEOUT', 'CANCELED', 'none'], 'must name a state')),
  score: z.optional(z.enum(['pass', 'partial', 'zero', 'none'], 'must be pass, partial, zero or none')),
  only: z.optional(z.enum(['disagreeing'], 'must be disagreeing')),
  environment: z.optional(z.enum(['differs', 'same'], 'must be differs or same')),
  /** Key of a failure group. */
  failure: z.optional(z.string().check(z.maxLength(64))),
  label: z.optional(z.string().check(z.maxLength(60))),
  suspicious: z.optional(z.enum(suspicions, `must be one of ${suspicions.join(', ')}`)),
  /** Default: most disagreement. `a0`: score of the first agent, `-a0`: descending. */
  sort: z.optional(z.string().check(z.regex(/^(name|hardest|easiest|slowest|-?a\d{1,3})$/, 'must name an order'))),
  /** `prefix` or a metadata key, also as `metadata.repo`. */
  group: z.optional(z.string().check(z.minLength(1), z.maxLength(265))),
  /** More metrics in the table of agents, separated by commas. */
  columns: z.optional(z.string().check(z.maxLength(1024))),
  as: z.optional(z.enum(['table'], 'must be table')),
  scenario: z.optional(z.string()),
  run: z.optional(z.string()),
  attempt: z.optional(queryInt(1, 100_000)),
})
export type JobView = z.output<typeof JobView>

export const jobViewPath =
  (id: string) =>
  (view: Partial<JobView>): string =>
    `${paths.benchmarkJob(id)}${searchOf(view, { failures: 'zero', exclusions: 'apply', attempt: 1 })}`
