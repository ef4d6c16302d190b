import type { Axon, AxonListQuery } from '#lib/contract/axons.ts'
import type { BenchmarkJob, BenchmarkJobListQuery } from '#lib/contract/benchmark-jobs.ts'
import type { BenchmarkRun, BenchmarkRunListQuery } from '#lib/contract/benchmark-runs.ts'
import type { Benchmark, BenchmarkListQuery } from '#lib/contract/benchmarks.ts'
import type { Blueprint, BlueprintListQuery } from '#lib/contract/blueprints.ts'
import type { MetadataCondition } from '#lib/contract/encode-query.ts'
import type { ScenarioRun, ScenarioRunListQuery } from '#lib/contract/scenario-runs.ts'
import type { Scenario, ScenarioListQuery } from '#lib/contract/scenarios.ts'
import type { Snapshot, SnapshotListQuery } from '#lib/contract/snapshots.ts'

/** Checks rows against their query, as a service may ignore filters. Skips filters that rows have no field for. */

interface Query {
  name?: string | undefined
  search?: string | undefined
  metadata?: MetadataCondition[] | undefined
}

interface Row {
  id: string
  name?: string | null | undefined
  metadata?: Readonly<Record<string, string>> | null | undefined
}

type RowChecks<ListQuery, ListRow> = {
  [Name in keyof ListQuery]?: (row: ListRow, value: NonNullable<ListQuery[Name]>) => boolean
}

export const matcher =
  <ListQuery extends Query, ListRow extends Row>(checks: RowChecks<ListQuery, ListRow> = {}) =>
  (query: Partial<ListQuery>): ((row: ListRow) => boolean) => {
    const all = { ...commonChecks, ...checks } as Record<string, (row: ListRow, value: unknown) => boolean>
    const inForce = Object.entries(query).flatMap(([name, value]) => {
      const check = all[name]
      return check && value !== undefined && value !== '' ? [(row: ListRow) => check(row, value)] : []
    })
    return (row) => inForce.every((check) => check(row))
  }

export const contains = (text: string | null | undefined, part: string): boolean => fold(text).includes(fold(part))
export const startsWith = (text: string | null | undefined, part: string): boolean => fold(text).startsWith(fold(part))

// Lower case depends on neighboring letters, so a part might not match; upper case does not.
const fold = (text: string | null | undefined): string => (text ?? '').toUpperCase()

const commonChecks: RowChecks<Query, Row> = {
  name: ({ name }, part) => contains(name, part),
  search: ({ id, name }, part) => contains(id, part) || contains(name, part),
  metadata: ({ metadata }, conditions) =>
    conditions.every((condition) => {
      const value = metadata && Object.hasOwn(metadata, condition.key) ? metadata[condition.key] : undefined
      if (value === undefined) return false
      return condition.op === 'eq' ? value === condition.value : condition.values.includes(value)
    }),
}

export const axonMatches = matcher<AxonListQuery, Axon>({
  id: (axon, id) => axon.id === id,
  name: ({ name }, start) => startsWith(name, start),
})

export const snapshotMatches = matcher<SnapshotListQuery, Snapshot>({
  devbox_id: ({ source_devbox_id }, id) => source_devbox_id === id,
  source_blueprint_id: ({ source_blueprint_id }, id) => source_blueprint_id === id,
})

export const blueprintMatches = matcher<BlueprintListQuery, Blueprint>({
  status: (blueprint, status) => blueprint.status === status,
})

export const jobMatches = matcher<BenchmarkJobListQuery, BenchmarkJob & { metadata?: undefined }>()

export const runMatches = matcher<BenchmarkRunListQuery, BenchmarkRun>({
  state: (run, state) => run.state === state,
  benchmark_id: ({ benchmark_id }, id) => benchmark_id === id,
})

export const scenarioRunMatches = matcher<ScenarioRunListQuery, ScenarioRun>({
  state: (run, state) => run.state === state,
  benchmark_run_id: ({ benchmark_run_id }, id) => benchmark_run_id === id,
  scenario_id: ({ scenario_id }, id) => scenario_id === id,
})

export const scenarioMatches = matcher<ScenarioListQuery, Scenario>({
  validation_type: ({ validation_type }, type) => (validation_type ?? 'UNSPECIFIED') === type,
})

export const benchmarkMatches = matcher<BenchmarkListQuery, Benchmark>()
