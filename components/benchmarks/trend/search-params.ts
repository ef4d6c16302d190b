import * as z from 'zod/mini'
import { paths } from '#lib/browser/address/paths.ts'
import { searchOf } from '#lib/browser/address/search.ts'
import { queryInt } from '#lib/contract/common.ts'
import { reportChoice } from '../report-params.ts'

const usualPoints = 10

/** What the address of a trend says: what its report is asked for. */
export const TrendView = z.object({
  /** A job on the data set. Absent: the newest. */
  job: z.optional(z.string()),
  /** Absent: the first of the job. */
  agent: z.optional(z.string()),
  /** Empty where the agent has none. */
  model: z.optional(z.string()),
  /** How many jobs are shown. */
  last: z._default(queryInt(1, 50), usualPoints),
  ...reportChoice,
})
export type TrendView = z.output<typeof TrendView>

export const trendPath = (view: Partial<TrendView>): string =>
  `${paths.trend()}${searchOf(view, { failures: 'zero', last: usualPoints })}`

/** The trend of an agent on the data set of a job. */
export const agentTrendPath = (job: string, { name, model }: { name: string; model: string | null }): string =>
  trendPath({ job, agent: name, model: model ?? '' })
