import * as z from 'zod/mini'
import { paths } from '#lib/browser/address/paths.ts'
import { searchOf } from '#lib/browser/address/search.ts'
import { queryInt } from '#lib/contract/common.ts'
import { reportChoice } from '../report-params.ts'

/** Ways in which a scenario may be wrong, whatever the agents are. */
export const suspicions = ['nop_passes', 'oracle_fails', 'all_fail', 'flaky', 'at_timeout', 'all_pass'] as const
export type Suspicion = (typeof suspicions)[number]

/** What the address of a job's page says: which numbers it shows, what its grid shows, and the outcome that is open. */
export const JobView = z.object({
  ...reportChoice,
  search: z.optional(z.string()),
  /** Scenarios where an attempt of any agent ended so; `none`: where one is still to come. */
  state: z.optional(z.enum(['COMPLETED', 'FAILED', 'TIMEOUT', 'CANCELED', 'none'], 'must name a state')),
  score: z.optional(z.enum(['pass', 'partial', 'zero', 'none'], 'must be pass, partial, zero or none')),
  only: z.optional(z.enum(['disagreeing'], 'must be disagreeing')),
  /** `differs`: scenarios where the environment of an attempt was not the one asked for; `same`: where none was. */
  environment: z.optional(z.enum(['differs', 'same'], 'must be differs or same')),
  /** Scenarios of which more may be wrong than the agents, in one way. */
  suspicious: z.optional(z.enum(suspicions, `must be one of ${suspicions.join(', ')}`)),
  /** Absent: where the agents differ most first. `a0` is the score of the first agent, `-a0` the same, highest first. */
  sort: z.optional(z.string().check(z.regex(/^(name|hardest|easiest|slowest|-?a\d{1,3})$/, 'must name an order'))),
  /** By the prefixes of names, or by the values scenarios have under a key of their metadata: `metadata.repo`. */
  group: z.optional(z.string().check(z.regex(/^(prefix|metadata\..{1,256})$/s, 'must be prefix or metadata.key'))),
  /** The same as a plain table. */
  as: z.optional(z.enum(['table'], 'must be table')),
  /** The outcome that is open: a scenario, the run of an agent, which of its attempts. */
  scenario: z.optional(z.string()),
  run: z.optional(z.string()),
  attempt: z.optional(queryInt(1, 100_000)),
})
export type JobView = z.output<typeof JobView>

export const jobViewPath =
  (id: string) =>
  (view: Partial<JobView>): string =>
    `${paths.benchmarkJob(id)}${searchOf(view, { failures: 'zero', attempt: 1 })}`
