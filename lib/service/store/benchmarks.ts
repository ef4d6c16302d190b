import type { Benchmark, BenchmarkListQuery } from '#lib/contract/benchmarks.ts'
import { type Clause, commonClauses } from './clauses.ts'
import { type Database, inTransaction } from './database.ts'
import { createMetadataIndex } from './metadata.ts'
import { fromJson, type Page, readPage, toJson } from './pages.ts'
import { createRows } from './rows.ts'

interface BenchmarkRow {
  seq: number
  id: string
  account: string
  name: string
  status: string
  create_time_ms: number
  metadata: string
  attribution: string | null
  description: string | null
  required_environment_variables: string | null
  required_secret_names: string | null
}

export interface NewBenchmark extends Omit<Benchmark, 'status' | 'is_public'> {
  account: string
  create_time_ms: number
}

export type BenchmarkFields = Omit<Benchmark, 'id' | 'status' | 'is_public'>

export type BenchmarkStore = ReturnType<typeof createBenchmarkStore>

export const createBenchmarkStore = (database: Database) => {
  const insert = database.prepare(`
    INSERT INTO benchmarks (id, account, status, create_time_ms, name, metadata, attribution, description, required_environment_variables, required_secret_names)
    VALUES (?, ?, 'active', ?, ?, ?, ?, ?, ?, ?)`)
  const rows = createRows<BenchmarkRow>(database, 'benchmarks')
  const setFields = database.prepare(`
    UPDATE benchmarks SET name = ?, metadata = ?, attribution = ?, description = ?, required_environment_variables = ?, required_secret_names = ? WHERE seq = ?`)
  const setStatus = database.prepare('UPDATE benchmarks SET status = ? WHERE seq = ?')
  const scenariosOf = database.prepare(`
    SELECT s.id FROM benchmark_scenarios AS b JOIN scenarios AS s ON s.seq = b.scenario WHERE b.benchmark = ? ORDER BY b.position`)
  const clearScenarios = database.prepare('DELETE FROM benchmark_scenarios WHERE benchmark = ?')
  const addScenario = database.prepare(
    'INSERT INTO benchmark_scenarios (benchmark, scenario, position) SELECT ?, seq, ? FROM scenarios WHERE id = ?',
  )
  const index = createMetadataIndex(database, 'benchmark_metadata')

  const setScenarios = (seq: number | bigint, ids: readonly string[]) => {
    clearScenarios.run(seq)
    for (const [position, id] of ids.entries()) addScenario.run(seq, position, id)
  }
  const toBenchmark = (row: BenchmarkRow): Benchmark => ({
    id: row.id,
    name: row.name,
    metadata: JSON.parse(row.metadata),
    scenarioIds: scenariosOf.all(row.seq).map(({ id }) => id as string),
    status: row.status,
    attribution: row.attribution,
    description: row.description,
    is_public: false,
    required_environment_variables: fromJson<string[]>(row.required_environment_variables),
    required_secret_names: fromJson<string[]>(row.required_secret_names),
  })

  return {
    insert: ({ id, account, create_time_ms, ...fields }: NewBenchmark): void =>
      inTransaction(database, () => {
        const { lastInsertRowid: seq } = insert.run(id, account, create_time_ms, ...columnsOf(fields))
        setScenarios(seq, fields.scenarioIds)
        index.add(account, seq, fields.metadata)
      }),

    get: (account: string, id: string): Benchmark | undefined => {
      const row = rows.own(account, id)
      return row && toBenchmark(row)
    },

    update: (account: string, id: string, fields: BenchmarkFields): void =>
      inTransaction(database, () => {
        const row = rows.known(id)
        setFields.run(...columnsOf(fields), row.seq)
        setScenarios(row.seq, fields.scenarioIds)
        if (row.status !== 'active') return
        index.remove(account, row.seq, JSON.parse(row.metadata))
        index.add(account, row.seq, fields.metadata)
      }),

    /** Archived ones leave the lists and the metadata one can filter by. */
    setStatus: (account: string, id: string, status: 'active' | 'archived'): void =>
      inTransaction(database, () => {
        const row = rows.known(id)
        if (row.status === status) return
        setStatus.run(status, row.seq)
        const change = status === 'active' ? index.add : index.remove
        change(account, row.seq, JSON.parse(row.metadata))
      }),

    position: (account: string, id: string): number | undefined => rows.own(account, id)?.seq,

    list: (account: string, query: BenchmarkListQuery, before?: number): Page<Benchmark> =>
      readPage(database, 'benchmarks', filter(account, query), query, before, toBenchmark),

    metadataKeys: index.keys,
    metadataValues: index.values,
  }
}

const filter = (account: string, query: BenchmarkListQuery): Clause[] => [
  ...commonClauses('benchmarks', account, query, 'benchmark_metadata'),
  { sql: "benchmarks.status = 'active'", values: [] },
]

const columnsOf = (fields: BenchmarkFields) => [
  fields.name,
  JSON.stringify(fields.metadata),
  fields.attribution ?? null,
  fields.description ?? null,
  toJson(fields.required_environment_variables),
  toJson(fields.required_secret_names),
]
