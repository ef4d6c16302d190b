import type { Benchmark, BenchmarkListQuery } from '#lib/contract/benchmarks.ts'
import { type Database, inTransaction } from './database.ts'
import { createTable, type Page } from './table.ts'

interface BenchmarkRow extends Omit<Benchmark, 'scenarioIds' | 'is_public'> {
  seq: number
  account: string
  create_time_ms: number
}

export interface NewBenchmark extends Omit<Benchmark, 'status' | 'is_public'> {
  account: string
  create_time_ms: number
}

export type BenchmarkFields = Omit<Benchmark, 'id' | 'status' | 'is_public'>

export const createBenchmarkStore = (database: Database) => {
  const scenariosOf = database.prepare(`
    SELECT s.id FROM benchmark_scenarios AS b JOIN scenarios AS s ON s.seq = b.scenario WHERE b.benchmark = ? ORDER BY b.position`)
  const clearScenarios = database.prepare('DELETE FROM benchmark_scenarios WHERE benchmark = ?')
  const addScenario = database.prepare(
    'INSERT INTO benchmark_scenarios (benchmark, scenario, position) SELECT ?, seq, ? FROM scenarios WHERE id = ?',
  )
  const table = createTable(database, 'benchmarks', {
    json: ['metadata', 'required_environment_variables', 'required_secret_names'],
    metadata: 'benchmark_metadata',
    isListed: ({ status }) => status === 'active',
    view: ({ seq, account: _, create_time_ms: __, ...row }: BenchmarkRow): Benchmark => ({
      ...row,
      scenarioIds: scenariosOf.all(seq).map(({ id }) => id as string),
      is_public: false,
    }),
  })

  const setScenarios = (seq: number, ids: readonly string[]) => {
    clearScenarios.run(seq)
    for (const [position, id] of ids.entries()) addScenario.run(seq, position, id)
  }

  return {
    insert: (benchmark: NewBenchmark): void =>
      inTransaction(database, () => {
        const { seq } = table.insert({ ...benchmark, status: 'active' })
        setScenarios(seq, benchmark.scenarioIds)
      }),

    get: table.get,

    update: (id: string, fields: BenchmarkFields): void =>
      inTransaction(database, () => {
        const row = table.mustFind(id)
        table.update(row, fields)
        setScenarios(row.seq, fields.scenarioIds)
      }),

    /** Archived benchmarks are not listed, and their metadata is not offered as filters. */
    setStatus: (id: string, status: 'active' | 'archived'): void => table.update(table.mustFind(id), { status }),

    position: table.position,

    list: (account: string, query: BenchmarkListQuery, before?: number): Page<Benchmark> =>
      table.list(account, query, before, [{ sql: "benchmarks.status = 'active'", values: [] }]),

    metadataKeys: table.metadataKeys,
    metadataValues: table.metadataValues,
  }
}
