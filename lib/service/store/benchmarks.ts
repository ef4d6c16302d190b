import { Benchmark, type BenchmarkListQuery } from '#lib/contract/benchmarks.ts'
import { clause } from './clauses.ts'
import { type Database, inTransaction } from './database.ts'
import { createTable, fieldsOf, type Page } from './table.ts'

interface Stored {
  account: string
  create_time_ms: number
}

type BenchmarkRow = Omit<Benchmark, 'scenarioIds' | 'is_public'> & Stored & { seq: number }
export type BenchmarkFields = Omit<Benchmark, 'id' | 'status' | 'is_public'>

export const createBenchmarkStore = (database: Database) => {
  const scenariosOf = database.prepare(`
    SELECT s.id FROM benchmark_scenarios AS b JOIN scenarios AS s ON s.seq = b.scenario WHERE b.benchmark = ? ORDER BY b.position`)
  const clearScenarios = database.prepare('DELETE FROM benchmark_scenarios WHERE benchmark = ?')
  const addScenario = database.prepare(
    'INSERT INTO benchmark_scenarios (benchmark, scenario, position) SELECT ?, seq, ? FROM scenarios WHERE id = ?',
  )
  const fields = fieldsOf(Benchmark)
  const table = createTable(database, 'benchmarks', {
    json: ['metadata', 'required_environment_variables', 'required_secret_names'],
    metadata: 'benchmark_metadata',
    isListed: ({ status }) => status === 'active',
    view: (row: BenchmarkRow): Benchmark => ({
      ...fields(row),
      scenarioIds: scenariosOf.all(row.seq).map(({ id }) => id as string),
      is_public: false,
    }),
  })

  const setScenarios = (seq: number, ids: readonly string[]) => {
    clearScenarios.run(seq)
    for (const [position, id] of ids.entries()) addScenario.run(seq, position, id)
  }

  return {
    ...table,

    insert: (benchmark: Omit<Benchmark, 'status' | 'is_public'> & Stored): void =>
      inTransaction(database, () => {
        const { seq } = table.insert({ ...benchmark, status: 'active' })
        setScenarios(seq, benchmark.scenarioIds)
      }),

    update: (id: string, changed: BenchmarkFields): void =>
      inTransaction(database, () => {
        const row = table.mustFind(id)
        table.update(row, changed)
        setScenarios(row.seq, changed.scenarioIds)
      }),

    /** Archived benchmarks are not listed, and their metadata is not offered as filters. */
    setStatus: (id: string, status: 'active' | 'archived'): void => table.update(table.mustFind(id), { status }),

    list: (account: string, query: BenchmarkListQuery, before?: number): Page<Benchmark> =>
      table.list(account, query, before, [clause("benchmarks.status = 'active'")]),
  }
}
