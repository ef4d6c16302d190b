import * as z from 'zod/mini'
import { paths } from '#lib/browser/address/paths.ts'
import { searchOf } from '#lib/browser/address/search.ts'
import { queryInt } from '#lib/contract/common.ts'
import { reportParams } from '../report-params.ts'

const defaultPoints = 10

export const TrendView = z.object({
  job: z.optional(z.string()),
  /** Default: the job's first agent. */
  agent: z.optional(z.string()),
  /** Empty for an agent without model. */
  model: z.optional(z.string()),
  last: z._default(queryInt(1, 50), defaultPoints),
  ...reportParams,
})
export type TrendView = z.output<typeof TrendView>

export const trendPath = (view: Partial<TrendView>): string =>
  `${paths.trend()}${searchOf(view, { failures: 'zero', exclusions: 'apply', last: defaultPoints })}`

export const agentTrendPath = (job: string, { name, model }: { name: string; model: string | null }): string =>
  trendPath({ job, agent: name, model: model ?? '' })
