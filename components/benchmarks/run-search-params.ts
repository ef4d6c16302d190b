import * as z from 'zod/mini'
import { sortingOf } from '#lib/browser/lists/service-sort.ts'
import { BenchmarkRunListQuery } from '#lib/contract/benchmark-runs.ts'

export const RunSearchParams = z.extend(BenchmarkRunListQuery, {
  sort: z.optional(z.string()),
  columns: z.optional(z.string()),
})
export type RunSearchParams = z.output<typeof RunSearchParams>

export const runQueryOf = ({ columns: _, sort, ...query }: RunSearchParams): BenchmarkRunListQuery => ({
  ...query,
  ...sortingOf(sort, sortFields),
})

const sortFields = {
  name: 'name',
  agent: 'agent_name',
  state: 'state',
  score: 'score',
  duration: 'duration_ms',
  started: 'start_time_ms',
  id: 'id',
}
