import * as z from 'zod/mini'
import { sortingOf } from '#lib/browser/lists/service-sort.ts'
import { BenchmarkListQuery } from '#lib/contract/benchmarks.ts'
import { ScenarioListQuery } from '#lib/contract/scenarios.ts'

const sortFields = { name: 'name', status: 'status', id: 'id' }

export const ScenarioSearchParams = z.extend(ScenarioListQuery, {
  sort: z.optional(z.string()),
  columns: z.optional(z.string()),
})
export type ScenarioSearchParams = z.output<typeof ScenarioSearchParams>

export const scenarioQueryOf = ({ columns: _, sort, ...query }: ScenarioSearchParams): ScenarioListQuery => ({
  ...query,
  ...sortingOf(sort, sortFields),
})

export const BenchmarkSearchParams = z.extend(BenchmarkListQuery, { sort: z.optional(z.string()) })
export type BenchmarkSearchParams = z.output<typeof BenchmarkSearchParams>

export const benchmarkQueryOf = ({ sort, ...query }: BenchmarkSearchParams): BenchmarkListQuery => ({
  ...query,
  ...sortingOf(sort, sortFields),
})
