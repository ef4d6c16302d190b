import type { Scenario, ScenarioEnvironment, ScenarioListQuery } from '#lib/contract/scenarios.ts'
import { type Clause, commonClauses } from './clauses.ts'
import { type Database, inTransaction } from './database.ts'
import { createMetadataIndex } from './metadata.ts'
import { equals, fromJson, type Page, readPage, toJson } from './pages.ts'
import { createRows } from './rows.ts'

interface ScenarioRow {
  seq: number
  id: string
  account: string
  name: string
  status: string
  hidden: number
  create_time_ms: number
  metadata: string
  input_context: string
  scoring_contract: string
  environment: string | null
  reference_output: string | null
  required_environment_variables: string | null
  required_secret_names: string | null
  scorer_timeout_sec: number | null
  validation_type: string | null
}

export interface NewScenario extends Omit<Scenario, 'status' | 'is_public'> {
  account: string
  create_time_ms: number
  /** Made by a job for a task of its own: it can be read, and no list shows it. */
  hidden?: boolean
}

export type ScenarioFields = Omit<Scenario, 'id' | 'status' | 'is_public'>

export type ScenarioStore = ReturnType<typeof createScenarioStore>

export const createScenarioStore = (database: Database) => {
  const insert = database.prepare(`
    INSERT INTO scenarios (id, account, status, hidden, create_time_ms, name, metadata, input_context, scoring_contract, environment, reference_output, required_environment_variables, required_secret_names, scorer_timeout_sec, validation_type)
    VALUES (?, ?, 'active', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
  const rows = createRows<ScenarioRow>(database, 'scenarios')
  const setFields = database.prepare(`
    UPDATE scenarios SET name = ?, metadata = ?, input_context = ?, scoring_contract = ?, environment = ?, reference_output = ?, required_environment_variables = ?, required_secret_names = ?, scorer_timeout_sec = ?, validation_type = ? WHERE seq = ?`)
  const setStatus = database.prepare('UPDATE scenarios SET status = ? WHERE seq = ?')
  const index = createMetadataIndex(database, 'scenario_metadata')

  const page = (where: Clause[], query: ScenarioListQuery, before?: number): Page<Scenario> =>
    readPage(database, 'scenarios', where, query, before, toScenario)

  return {
    insert: ({ id, account, create_time_ms, hidden = false, ...fields }: NewScenario): void =>
      inTransaction(database, () => {
        const { lastInsertRowid: seq } = insert.run(id, account, hidden ? 1 : 0, create_time_ms, ...columnsOf(fields))
        if (!hidden) index.add(account, seq, fields.metadata)
      }),

    get: (account: string, id: string): Scenario | undefined => {
      const row = rows.own(account, id)
      return row && toScenario(row)
    },

    update: (account: string, id: string, fields: ScenarioFields): void =>
      inTransaction(database, () => {
        const row = rows.known(id)
        setFields.run(...columnsOf(fields), row.seq)
        if (row.status !== 'active' || row.hidden) return
        index.remove(account, row.seq, JSON.parse(row.metadata))
        index.add(account, row.seq, fields.metadata)
      }),

    /** Archived ones leave the lists and the metadata one can filter by. */
    setStatus: (account: string, id: string, status: 'active' | 'archived'): void =>
      inTransaction(database, () => {
        const row = rows.known(id)
        if (row.status === status) return
        setStatus.run(status, row.seq)
        if (row.hidden) return
        const change = status === 'active' ? index.add : index.remove
        change(account, row.seq, JSON.parse(row.metadata))
      }),

    position: (account: string, id: string): number | undefined => rows.own(account, id)?.seq,

    list: (account: string, query: ScenarioListQuery, before?: number): Page<Scenario> =>
      page(filter(account, query), query, before),

    /** Of one benchmark, archived ones included: they are part of it. */
    ofBenchmark: (benchmark: number, query: ScenarioListQuery, before?: number): Page<Scenario> =>
      page([{ sql: inBenchmark('?'), values: [benchmark] }], query, before),

    /** The ids of `ids` the account has no scenario for, in their order. */
    missing: (account: string, ids: readonly string[]): string[] => ids.filter((id) => !rows.own(account, id)),

    metadataKeys: index.keys,
    metadataValues: index.values,
  }
}

const inBenchmark = (benchmark: string) =>
  `EXISTS (SELECT 1 FROM benchmark_scenarios AS b WHERE b.benchmark = ${benchmark} AND b.scenario = scenarios.seq)`

const filter = (account: string, { benchmark_id, validation_type, ...common }: ScenarioListQuery): Clause[] => [
  ...commonClauses('scenarios', account, common, 'scenario_metadata'),
  { sql: "scenarios.status = 'active' AND scenarios.hidden = 0", values: [] },
  ...(benchmark_id === undefined
    ? []
    : [
        {
          sql: inBenchmark('(SELECT seq FROM benchmarks WHERE id = ? AND account = ?)'),
          values: [benchmark_id, account],
        },
      ]),
  ...equals('scenarios.validation_type', validation_type),
]

const columnsOf = (fields: ScenarioFields) => [
  fields.name,
  JSON.stringify(fields.metadata),
  JSON.stringify(fields.input_context),
  JSON.stringify(fields.scoring_contract),
  toJson(fields.environment),
  fields.reference_output ?? null,
  toJson(fields.required_environment_variables),
  toJson(fields.required_secret_names),
  fields.scorer_timeout_sec ?? null,
  fields.validation_type ?? null,
]

const toScenario = (row: ScenarioRow): Scenario => ({
  id: row.id,
  name: row.name,
  input_context: JSON.parse(row.input_context),
  metadata: JSON.parse(row.metadata),
  scoring_contract: JSON.parse(row.scoring_contract),
  status: row.status,
  environment: fromJson<ScenarioEnvironment>(row.environment),
  is_public: false,
  reference_output: row.reference_output,
  required_environment_variables: fromJson<string[]>(row.required_environment_variables),
  required_secret_names: fromJson<string[]>(row.required_secret_names),
  scorer_timeout_sec: row.scorer_timeout_sec,
  validation_type: row.validation_type,
})
