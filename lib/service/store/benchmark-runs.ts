import type { AgentConfig } from '#lib/contract/benchmark-jobs.ts'
import type { BenchmarkRun, BenchmarkRunListQuery, BenchmarkRunState } from '#lib/contract/benchmark-runs.ts'
import type { StringMap } from '#lib/contract/common.ts'
import type { RunProfile } from '#lib/contract/scenario-runs.ts'
import { type Clause, commonClauses } from './clauses.ts'
import { type Database, inTransaction } from './database.ts'
import { createMetadataIndex } from './metadata.ts'
import { equals, fromJson, type Page, readPage, toJson } from './pages.ts'
import { createRows } from './rows.ts'

interface BenchmarkRunRow {
  seq: number
  id: string
  account: string
  benchmark_id: string | null
  name: string | null
  state: BenchmarkRunState
  start_time_ms: number
  end_time_ms: number | null
  score: number | null
  metadata: string
  profile: string
  job_id: string | null
  agent_index: number | null
  agent: string | null
}

/** A run as the service itself sees it, of whichever account. */
export interface BenchmarkRunRecord extends Omit<BenchmarkRunRow, 'seq' | 'metadata' | 'profile' | 'agent'> {
  metadata: StringMap
  /** What each of its scenario runs is started with. */
  profile: RunProfile
  /** Of a run that belongs to a job. */
  agent: AgentConfig | null
}

export interface NewBenchmarkRun extends Omit<BenchmarkRunRecord, 'state' | 'end_time_ms' | 'score'> {}

export type BenchmarkRunStore = ReturnType<typeof createBenchmarkRunStore>

export const createBenchmarkRunStore = (database: Database) => {
  const insert = database.prepare(`
    INSERT INTO benchmark_runs (id, account, benchmark_id, name, state, start_time_ms, metadata, profile, job_id, agent_index, agent)
    VALUES (?, ?, ?, ?, 'running', ?, ?, ?, ?, ?, ?)`)
  const rows = createRows<BenchmarkRunRow>(database, 'benchmark_runs')
  const byJob = database.prepare('SELECT * FROM benchmark_runs WHERE job_id = ? ORDER BY agent_index')
  const end = database.prepare(
    "UPDATE benchmark_runs SET state = ?, end_time_ms = ?, score = ? WHERE id = ? AND state = 'running'",
  )
  const index = createMetadataIndex(database, 'benchmark_run_metadata')

  return {
    insert: (run: NewBenchmarkRun): void =>
      inTransaction(database, () => {
        const { lastInsertRowid: seq } = insert.run(
          run.id,
          run.account,
          run.benchmark_id,
          run.name,
          run.start_time_ms,
          JSON.stringify(run.metadata),
          JSON.stringify(run.profile),
          run.job_id,
          run.agent_index,
          toJson(run.agent),
        )
        index.add(run.account, seq, run.metadata)
      }),

    get: (account: string, id: string): BenchmarkRun | undefined => {
      const row = rows.own(account, id)
      return row && toBenchmarkRun(row)
    },

    record: (id: string): BenchmarkRunRecord | undefined => {
      const row = rows.find(id)
      return row && toRecord(row)
    },

    /** In the order of the job's agents. */
    ofJob: (jobId: string): BenchmarkRunRecord[] => (byJob.all(jobId) as unknown as BenchmarkRunRow[]).map(toRecord),

    /** False when it was not running any more. */
    end: (
      id: string,
      { state, timeMs, score }: { state: Exclude<BenchmarkRunState, 'running'>; timeMs: number; score: number | null },
    ): boolean => database.essential(() => end.run(state, timeMs, score, id).changes === 1),

    position: (account: string, id: string): number | undefined => rows.own(account, id)?.seq,

    list: (account: string, query: BenchmarkRunListQuery, before?: number): Page<BenchmarkRun> =>
      readPage(database, 'benchmark_runs', filter(account, query), query, before, toBenchmarkRun),
  }
}

const filter = (account: string, { benchmark_id, state, ...common }: BenchmarkRunListQuery): Clause[] => [
  ...commonClauses('benchmark_runs', account, common, 'benchmark_run_metadata'),
  ...equals('benchmark_runs.benchmark_id', benchmark_id),
  ...equals('benchmark_runs.state', state),
]

const toRecord = ({ seq: _, metadata, profile, agent, ...row }: BenchmarkRunRow): BenchmarkRunRecord => ({
  ...row,
  metadata: JSON.parse(metadata),
  profile: JSON.parse(profile),
  agent: fromJson<AgentConfig>(agent),
})

const toBenchmarkRun = (row: BenchmarkRunRow): BenchmarkRun => {
  const profile = JSON.parse(row.profile) as RunProfile
  return {
    id: row.id,
    start_time_ms: row.start_time_ms,
    state: row.state,
    metadata: JSON.parse(row.metadata),
    benchmark_id: row.benchmark_id,
    name: row.name,
    duration_ms: row.end_time_ms === null ? null : row.end_time_ms - row.start_time_ms,
    score: row.score,
    purpose: profile.purpose ?? null,
    environment_variables: profile.envVars ?? null,
    secrets_provided: profile.secrets ?? null,
  }
}
