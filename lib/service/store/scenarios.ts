import type { Scenario, ScenarioListQuery } from '#lib/contract/scenarios.ts'
import { type Clause, equals } from './clauses.ts'
import { type Database, inTransaction } from './database.ts'
import { createTable, type Page } from './table.ts'

interface ScenarioRow extends Omit<Scenario, 'is_public'> {
  seq: number
  account: string
  create_time_ms: number
  /** Created by a job for its own task: readable, but listed only for that job. */
  hidden: boolean
}

export interface NewScenario extends Omit<Scenario, 'status' | 'is_public'> {
  account: string
  create_time_ms: number
  hidden?: boolean
}

export type ScenarioFields = Omit<Scenario, 'id' | 'status' | 'is_public'>

export type ScenarioStore = ReturnType<typeof createScenarioStore>

export const createScenarioStore = (database: Database) => {
  const table = createTable(database, 'scenarios', {
    json: [
      'metadata',
      'input_context',
      'scoring_contract',
      'environment',
      'required_environment_variables',
      'required_secret_names',
    ],
    flags: ['hidden'],
    metadata: 'scenario_metadata',
    isListed: ({ status, hidden }) => status === 'active' && !hidden,
    view: ({ seq: _, account: __, create_time_ms: ___, hidden: ____, ...row }: ScenarioRow): Scenario => ({
      ...row,
      is_public: false,
    }),
  })

  return {
    insert: (scenario: NewScenario): void => {
      table.insert({ ...scenario, status: 'active' })
    },

    insertMissing: (scenarios: readonly NewScenario[]): void =>
      inTransaction(database, () => {
        for (const scenario of scenarios)
          if (!table.own(scenario.account, scenario.id)) table.insert({ ...scenario, status: 'active' })
      }),

    get: table.get,

    update: (id: string, fields: ScenarioFields): void => table.update(table.mustFind(id), fields),

    setStatus: (id: string, status: 'active' | 'archived'): void => table.update(table.mustFind(id), { status }),

    position: table.position,

    list: (account: string, query: ScenarioListQuery, before?: number): Page<Scenario> =>
      table.list(account, query, before, filter(account, query)),

    ofBenchmark: (
      account: string,
      benchmark: number,
      { limit, include_total_count }: ScenarioListQuery,
      before?: number,
    ): Page<Scenario> =>
      table.list(account, { limit, include_total_count }, before, [{ sql: inBenchmark('?'), values: [benchmark] }]),

    missing: (account: string, ids: readonly string[]): string[] => ids.filter((id) => !table.own(account, id)),

    metadataKeys: table.metadataKeys,
    metadataValues: table.metadataValues,
  }
}

const inBenchmark = (benchmark: string) =>
  `EXISTS (SELECT 1 FROM benchmark_scenarios AS b WHERE b.benchmark = ${benchmark} AND b.scenario = scenarios.seq)`

const ofJob = `scenarios.id IN (
  SELECT j.value FROM benchmark_jobs AS b, json_each(b.spec, '$.scenario_ids') AS j WHERE b.id = ? AND b.account = ?)`

const filter = (account: string, query: ScenarioListQuery): Clause[] => [
  query.benchmark_job_id === undefined
    ? { sql: "scenarios.status = 'active' AND scenarios.hidden = 0", values: [] }
    : { sql: ofJob, values: [query.benchmark_job_id, account] },
  ...(query.benchmark_id === undefined
    ? []
    : [
        {
          sql: inBenchmark('(SELECT seq FROM benchmarks WHERE id = ? AND account = ?)'),
          values: [query.benchmark_id, account],
        },
      ]),
  ...equals('scenarios.validation_type', query.validation_type),
]
