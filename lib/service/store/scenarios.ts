import { Scenario, type ScenarioListQuery } from '#lib/contract/scenarios.ts'
import { clause, equals } from './clauses.ts'
import { type Database, inTransaction } from './database.ts'
import { createTable, fieldsOf, type Page } from './table.ts'

interface Stored {
  account: string
  create_time_ms: number
  /** Created by a job for its own task: readable, but listed only for that job. */
  hidden?: boolean
}

type ScenarioRow = Omit<Scenario, 'is_public'> & Stored & { seq: number }
type NewScenario = Omit<Scenario, 'status' | 'is_public'> & Stored
type ScenarioFields = Omit<Scenario, 'id' | 'status' | 'is_public'>

export type ScenarioStore = ReturnType<typeof createScenarioStore>

export const createScenarioStore = (database: Database) => {
  const fields = fieldsOf(Scenario)
  const table = createTable(database, 'scenarios', {
    json: [
      ...(['metadata', 'input_context', 'scoring_contract', 'environment'] as const),
      ...(['required_environment_variables', 'required_secret_names'] as const),
    ],
    flags: ['hidden'],
    metadata: 'scenario_metadata',
    isListed: ({ status, hidden }) => status === 'active' && !hidden,
    // The public clients expect lists, not null.
    view: (row: ScenarioRow): Scenario => ({
      ...fields(row),
      required_environment_variables: row.required_environment_variables ?? [],
      required_secret_names: row.required_secret_names ?? [],
      is_public: false,
    }),
  })

  return {
    ...table,

    insert: (scenario: NewScenario): void => void table.insert({ ...scenario, status: 'active' }),

    insertMissing: (scenarios: readonly NewScenario[]): void =>
      inTransaction(database, () => {
        for (const scenario of scenarios)
          if (!table.own(scenario.account, scenario.id)) table.insert({ ...scenario, status: 'active' })
      }),

    update: (id: string, changed: ScenarioFields): void => table.update(table.mustFind(id), changed),

    setStatus: (id: string, status: 'active' | 'archived'): void => table.update(table.mustFind(id), { status }),

    list: (account: string, query: ScenarioListQuery, before?: number): Page<Scenario> =>
      table.list(account, query, before, [
        query.benchmark_job_id === undefined
          ? clause("scenarios.status = 'active' AND scenarios.hidden = 0")
          : clause(ofJob, query.benchmark_job_id, account),
        ...(query.benchmark_id === undefined
          ? []
          : [
              clause(
                inBenchmark('(SELECT seq FROM benchmarks WHERE id = ? AND account = ?)'),
                query.benchmark_id,
                account,
              ),
            ]),
        ...equals('scenarios.validation_type', query.validation_type),
      ]),

    ofBenchmark: (
      account: string,
      benchmark: number,
      { limit, include_total_count }: ScenarioListQuery,
      before?: number,
    ): Page<Scenario> =>
      table.list(account, { limit, include_total_count }, before, [clause(inBenchmark('?'), benchmark)]),

    missing: (account: string, ids: readonly string[]): string[] => ids.filter((id) => !table.own(account, id)),
  }
}

const inBenchmark = (benchmark: string) =>
  `EXISTS (SELECT 1 FROM benchmark_scenarios AS b WHERE b.benchmark = ${benchmark} AND b.scenario = scenarios.seq)`

const ofJob = `scenarios.id IN (
  SELECT j.value FROM benchmark_jobs AS b, json_each(b.spec, '$.scenario_ids') AS j WHERE b.id = ? AND b.account = ?)`
