import type { StringMap } from '#lib/contract/common.ts'
import {
  hasScenarioRunEnded,
  type RunProfile,
  ScenarioRun,
  type ScenarioRunListQuery,
  type ScenarioRunState,
  type ScoringResult,
} from '#lib/contract/scenario-runs.ts'
import type { AgentRecord, RunFailure } from '#lib/service/domain/benchmark-jobs.ts'
import { durationOf, knownTime } from '#lib/service/domain/benchmark-runs.ts'
import { equals } from './clauses.ts'
import { type Database, inTransaction } from './database.ts'
import { createTable, fieldsOf, type Page } from './table.ts'

/** Times are 0 if unknown. */
export interface ScenarioRunRecord {
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
  metadata: StringMap
  profile: RunProfile
  score: number | null
  scoring_contract_result: ScoringResult | null
  rewards: Record<string, number> | null
  /** Set for a job's run: COMPLETED, FAILED, TIMEOUT or CANCELED. */
  outcome: string | null
  failure: RunFailure | null
  warnings: string[] | null
  environment_differs: boolean
  engine: string | null
  agent_record: AgentRecord | null
  attempt: number | null
  retry: number | null
  replaced: boolean
}

export type EndedScenarioRun = Omit<ScenarioRunRecord, 'seq'> & { replaced: true }

type Ending = Pick<
  ScenarioRunRecord,
  'rewards' | 'outcome' | 'failure' | 'warnings' | 'environment_differs' | 'engine' | 'agent_record'
>
type NewScenarioRun = Omit<
  ScenarioRunRecord,
  | 'seq'
  | 'state'
  | 'end_time_ms'
  | 'score'
  | 'scoring_contract_result'
  | 'replaced'
  | 'attempt'
  | 'retry'
  | keyof Ending
> & { attempt?: number | undefined; retry?: number | undefined }

export interface ScenarioRunMove extends Partial<Ending> {
  from: ScenarioRunState
  to: ScenarioRunState
  timeMs: number
  result?: ScoringResult | null
}

export type ScenarioRunStore = ReturnType<typeof createScenarioRunStore>

export const createScenarioRunStore = (database: Database) => {
  const fields = fieldsOf(ScenarioRun)
  const table = createTable(database, 'scenario_runs', {
    json: ['metadata', 'profile', 'scoring_contract_result', 'rewards', 'failure', 'warnings', 'agent_record'],
    flags: ['replaced', 'environment_differs'],
    metadata: 'scenario_run_metadata',
    view: (run: ScenarioRunRecord): ScenarioRun => ({
      ...fields(run),
      // Unspecified: the devbox id of a run whose devbox could not be created.
      devbox_id: run.devbox_id ?? '',
      purpose: run.profile.purpose ?? null,
      start_time_ms: knownTime(run.start_time_ms),
      duration_ms: durationOf(run),
      environment_variables: run.profile.envVars ?? null,
      secrets_provided: run.profile.secrets ?? null,
      n_retries: run.retry,
    }),
  })
  const strayDevboxes = database.prepare(`
    SELECT d.id, d.account FROM devboxes AS d LEFT JOIN scenario_runs AS r ON r.id = d.initiator_id
    WHERE d.status NOT IN ('failure', 'shutdown') AND d.initiator_type = 'scenario'
      AND (r.id IS NULL OR r.end_time_ms IS NOT NULL)`)

  const adopt = database.prepare(`
    UPDATE scenario_runs SET benchmark_run_id = ?, replaced = 0 WHERE id IN (SELECT value FROM json_each(?))`)
  const drop = database.prepare('DELETE FROM scenario_runs WHERE id IN (SELECT value FROM json_each(?))')
  const unfinishedImports = 'replaced = 1 AND benchmark_run_id IS NULL AND devbox_id IS NULL AND attempt IS NOT NULL'

  return {
    ...table,

    insert: (run: NewScenarioRun): void => void table.insert({ ...run, state: 'running' }),

    insertEnded: (run: EndedScenarioRun): void => void table.insert(run),

    /** Assigns imported scenario runs to their benchmark run, which counts them from now on. */
    adopt: (benchmarkRunId: string, ids: readonly string[]): void =>
      void adopt.run(benchmarkRunId, JSON.stringify(ids)),

    drop: (ids: readonly string[]): void => void drop.run(JSON.stringify(ids)),

    dropUnfinishedImports: (): string[] => {
      const ids = table.where(unfinishedImports).map(({ id }) => id)
      database.exec(`DELETE FROM scenario_runs WHERE ${unfinishedImports}`)
      return ids
    },

    record: table.find,

    byDevbox: (devboxId: string): ScenarioRunRecord | undefined => table.where('devbox_id = ?', devboxId)[0],

    ofBenchmarkRun: (benchmarkRunId: string): ScenarioRunRecord[] =>
      table.where('benchmark_run_id = ?', benchmarkRunId),

    unended: (): ScenarioRunRecord[] => table.where('end_time_ms IS NULL'),

    /** Writes even to a full disk. */
    transaction: <T>(work: () => T): T => database.essential(() => inTransaction(database, work)),

    move: (id: string, { from, to, timeMs, result, ...ending }: ScenarioRunMove): boolean => {
      if (table.find(id)?.state !== from) return false
      database.essential(() =>
        table.set(id, {
          state: to,
          end_time_ms: hasScenarioRunEnded(to) ? timeMs : null,
          ...(result !== undefined && { score: result?.score ?? null, scoring_contract_result: result }),
          ...ending,
        }),
      )
      return true
    },

    rescore: (
      id: string,
      scored: Pick<ScenarioRunRecord, 'state' | 'score' | 'outcome' | 'scoring_contract_result' | 'warnings'>,
    ): void => table.set(id, scored),

    setDevbox: (id: string, devbox_id: string): void => table.set(id, { devbox_id }),

    replace: (id: string): void => table.set(id, { replaced: true }),

    /** Devboxes of ended or never stored runs, left by a crash. */
    strayDevboxes: () => strayDevboxes.all() as { id: string; account: string }[],

    list: (account: string, query: ScenarioRunListQuery, before?: number): Page<ScenarioRun> =>
      table.list(account, query, before, [
        // A replaced scenario run can be read by id, but is not listed.
        ...equals('scenario_runs.replaced', 0),
        ...equals('scenario_runs.benchmark_run_id', query.benchmark_run_id),
        ...equals('scenario_runs.scenario_id', query.scenario_id),
        ...equals('scenario_runs.state', query.state),
      ]),
  }
}
