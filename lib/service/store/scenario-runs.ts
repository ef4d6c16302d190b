import type { StringMap } from '#lib/contract/common.ts'
import type {
  RunProfile,
  ScenarioRun,
  ScenarioRunListQuery,
  ScenarioRunState,
  ScoringResult,
} from '#lib/contract/scenario-runs.ts'
import { hasScenarioRunEnded } from '#lib/contract/scenario-runs.ts'
import { type Clause, commonClauses } from './clauses.ts'
import { type Database, inTransaction } from './database.ts'
import { createMetadataIndex } from './metadata.ts'
import { equals, fromJson, type Page, readPage, toJson } from './pages.ts'
import { createRows } from './rows.ts'

/** Why a run has no score, as an outcome of a job tells it. */
export interface RunFailure {
  exception_type: string
  exception_message: string
}

interface ScenarioRunRow {
  seq: number
  id: string
  account: string
  scenario_id: string
  scenario_name: string
  benchmark_run_id: string | null
  devbox_id: string | null
  name: string | null
  state: ScenarioRunState
  start_time_ms: number
  end_time_ms: number | null
  metadata: string
  profile: string
  score: number | null
  scoring_contract_result: string | null
  outcome: string | null
  failure: string | null
  attempt: number | null
  retry: number | null
  replaced: number
}

/** A run as the service itself sees it, of whichever account. */
export interface ScenarioRunRecord
  extends Omit<ScenarioRunRow, 'seq' | 'metadata' | 'profile' | 'scoring_contract_result' | 'failure' | 'replaced'> {
  metadata: StringMap
  /** What it was started with, that of its benchmark run included. */
  profile: RunProfile
  scoring_contract_result: ScoringResult | null
  failure: RunFailure | null
  /** A later scenario run of its trial took its place: nothing counts it. */
  replaced: boolean
}

export interface NewScenarioRun
  extends Pick<
    ScenarioRunRecord,
    | 'id'
    | 'account'
    | 'scenario_id'
    | 'scenario_name'
    | 'benchmark_run_id'
    | 'devbox_id'
    | 'name'
    | 'start_time_ms'
    | 'metadata'
    | 'profile'
  > {
  /** Of a job's run: which of the attempts at its scenario, counted from 0; and how often its trial had been run before. */
  attempt?: number
  retry?: number
}

/** What changes; what is absent stays as it is. */
export interface ScenarioRunMove {
  from: ScenarioRunState
  to: ScenarioRunState
  timeMs: number
  result?: ScoringResult | null
  /** Of a job's run: COMPLETED, FAILED, TIMEOUT or CANCELED. */
  outcome?: string
  failure?: RunFailure
}

export type ScenarioRunStore = ReturnType<typeof createScenarioRunStore>

export const createScenarioRunStore = (database: Database) => {
  const insert = database.prepare(`
    INSERT INTO scenario_runs (id, account, scenario_id, scenario_name, benchmark_run_id, devbox_id, name, state, start_time_ms, metadata, profile, attempt, retry)
    VALUES (?, ?, ?, ?, ?, ?, ?, 'running', ?, ?, ?, ?, ?)`)
  const rows = createRows<ScenarioRunRow>(database, 'scenario_runs')
  const byDevbox = database.prepare('SELECT * FROM scenario_runs WHERE devbox_id = ?')
  const byBenchmarkRun = database.prepare('SELECT * FROM scenario_runs WHERE benchmark_run_id = ? ORDER BY seq')
  const unended = database.prepare('SELECT * FROM scenario_runs WHERE end_time_ms IS NULL ORDER BY seq')
  const move = database.prepare(`
    UPDATE scenario_runs SET state = ?, end_time_ms = ?, score = ?, scoring_contract_result = ?, outcome = ?, failure = ?
    WHERE id = ? AND state = ?`)
  const replace = database.prepare('UPDATE scenario_runs SET replaced = 1 WHERE id = ?')
  const strayDevboxes = database.prepare(`
    SELECT d.id, d.account FROM devboxes AS d LEFT JOIN scenario_runs AS r ON r.id = d.initiator_id
    WHERE d.status NOT IN ('failure', 'shutdown') AND d.initiator_type = 'scenario'
      AND (r.id IS NULL OR r.end_time_ms IS NOT NULL)`)
  const index = createMetadataIndex(database, 'scenario_run_metadata')

  return {
    insert: (run: NewScenarioRun): void =>
      inTransaction(database, () => {
        const { lastInsertRowid: seq } = insert.run(
          run.id,
          run.account,
          run.scenario_id,
          run.scenario_name,
          run.benchmark_run_id,
          run.devbox_id,
          run.name,
          run.start_time_ms,
          JSON.stringify(run.metadata),
          JSON.stringify(run.profile),
          run.attempt ?? null,
          run.retry ?? null,
        )
        index.add(run.account, seq, run.metadata)
      }),

    get: (account: string, id: string): ScenarioRun | undefined => {
      const found = rows.own(account, id)
      return found && toScenarioRun(found)
    },

    record: (id: string): ScenarioRunRecord | undefined => {
      const found = rows.find(id)
      return found && toRecord(found)
    },

    byDevbox: (devboxId: string): ScenarioRunRecord | undefined => {
      const found = byDevbox.get(devboxId) as ScenarioRunRow | undefined
      return found && toRecord(found)
    },

    /** In the order they were started in. */
    ofBenchmarkRun: (benchmarkRunId: string): ScenarioRunRecord[] =>
      (byBenchmarkRun.all(benchmarkRunId) as unknown as ScenarioRunRow[]).map(toRecord),

    /** Of all accounts, oldest first. */
    unended: (): ScenarioRunRecord[] => (unended.all() as unknown as ScenarioRunRow[]).map(toRecord),

    /** All that `work` writes is kept, on a full disk as well, or none of it. */
    together: <T>(work: () => T): T => database.essential(() => inTransaction(database, work)),

    /** False when it was not in `from` any more. */
    move: (id: string, { from, to, timeMs, result, outcome, failure }: ScenarioRunMove): boolean => {
      const before = rows.find(id)
      if (before?.state !== from) return false
      const scored = result === undefined ? fromJson<ScoringResult>(before.scoring_contract_result) : result
      const end = hasScenarioRunEnded(to) ? timeMs : null
      const { changes } = database.essential(() =>
        move.run(
          to,
          end,
          scored?.score ?? null,
          toJson(scored),
          outcome ?? before.outcome,
          failure ? toJson(failure) : before.failure,
          id,
          from,
        ),
      )
      return changes === 1
    },

    /** A later scenario run of its trial takes the place of this one. */
    replace: (id: string): void => {
      replace.run(id)
    },

    /** Devboxes made for runs that have ended or were never stored: a crash came in between. */
    strayDevboxes: (): { id: string; account: string }[] =>
      strayDevboxes.all() as unknown as { id: string; account: string }[],

    position: (account: string, id: string): number | undefined => rows.own(account, id)?.seq,

    list: (account: string, query: ScenarioRunListQuery, before?: number): Page<ScenarioRun> =>
      readPage(database, 'scenario_runs', filter(account, query), query, before, toScenarioRun),
  }
}

const filter = (
  account: string,
  { benchmark_run_id, scenario_id, state, ...common }: ScenarioRunListQuery,
): Clause[] => [
  // A replaced scenario run can be read by its id, but is in no list.
  { sql: 'scenario_runs.replaced = 0', values: [] },
  ...commonClauses('scenario_runs', account, common, 'scenario_run_metadata'),
  ...equals('scenario_runs.benchmark_run_id', benchmark_run_id),
  ...equals('scenario_runs.scenario_id', scenario_id),
  ...equals('scenario_runs.state', state),
]

const toRecord = ({ seq: _, ...row }: ScenarioRunRow): ScenarioRunRecord => ({
  ...row,
  metadata: JSON.parse(row.metadata),
  profile: JSON.parse(row.profile),
  scoring_contract_result: fromJson<ScoringResult>(row.scoring_contract_result),
  failure: fromJson<RunFailure>(row.failure),
  replaced: row.replaced === 1,
})

const toScenarioRun = (row: ScenarioRunRow): ScenarioRun => {
  const profile = JSON.parse(row.profile) as RunProfile
  return {
    id: row.id,
    // Unspecified: the devbox of a run whose devbox could not be made.
    devbox_id: row.devbox_id ?? '',
    scenario_id: row.scenario_id,
    metadata: JSON.parse(row.metadata),
    state: row.state,
    benchmark_run_id: row.benchmark_run_id,
    name: row.name,
    purpose: profile.purpose ?? null,
    start_time_ms: row.start_time_ms,
    duration_ms: row.end_time_ms === null ? null : row.end_time_ms - row.start_time_ms,
    environment_variables: profile.envVars ?? null,
    secrets_provided: profile.secrets ?? null,
    scoring_contract_result: fromJson<ScoringResult>(row.scoring_contract_result),
  }
}
