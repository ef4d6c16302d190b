import {
  BenchmarkJob,
  type BenchmarkJobState,
  type BenchmarkOutcome,
  hasJobEnded,
} from '#lib/contract/benchmark-jobs.ts'
import type { StringMap } from '#lib/contract/common.ts'
import { benchmarkOutcome, type EndedTrial, nodeLost } from '#lib/service/domain/benchmark-jobs.ts'
import { knownTime } from '#lib/service/domain/benchmark-runs.ts'
import { countOf } from '#lib/service/kit/amounts.ts'
import type { BenchmarkRunRecord, BenchmarkRunStore } from './benchmark-runs.ts'
import type { Database } from './database.ts'
import { createTable, fieldsOf } from './table.ts'

type JobSource = NonNullable<BenchmarkJob['job_source']>
type JobSpec = NonNullable<BenchmarkJob['job_spec']>

interface JobRow {
  seq: number
  id: string
  account: string
  name: string
  state: BenchmarkJobState
  create_time_ms: number
  end_time_ms: number | null
  metadata: StringMap
  source: JobSource
  spec: JobSpec
  plan: string
  failure_reason: string | null
  warnings: JobWarning[]
  metrics: string[]
  judged_metric: string | null
  settings: Record<string, unknown> | null
}

export interface JobWarning {
  sentence: string
  tasks: string[]
}

interface TrialRow
  extends Omit<EndedTrial, 'failure' | 'rewards' | 'warnings' | 'environment_differs' | 'agent_record'> {
  benchmark_run_id: string
  failure: string | null
  rewards: string | null
  warnings: string | null
  environment_differs: number
  agent_record: string | null
}

export type JobRecord<Plan> = Omit<JobRow, 'seq' | 'end_time_ms' | 'plan' | 'failure_reason'> & { plan: Plan }

type Measured = 'metrics' | 'judged_metric' | 'settings'
type NewJob = Omit<JobRecord<unknown>, 'state' | Measured> & Partial<Pick<JobRow, Measured>>

/** A page of large jobs has tens of thousands of trials; the outcomes of this many ended runs are cached. */
const maxCachedOutcomes = 1_000

export type BenchmarkJobStore = ReturnType<typeof createBenchmarkJobStore>

export const createBenchmarkJobStore = (database: Database, benchmarkRuns: BenchmarkRunStore) => {
  const byName = database.prepare('SELECT 1 FROM benchmark_jobs WHERE account = ? AND name = ?')
  const countUnended = database.prepare(
    'SELECT count(*) AS n FROM benchmark_jobs WHERE end_time_ms IS NULL AND account = ?',
  )
  const versionOf = database.prepare(`
    SELECT coalesce(version, 0) AS version FROM benchmark_jobs LEFT JOIN job_versions ON job_id = id
    WHERE account = ? AND id = ?`)
  const trialsOf = database.prepare(`
    SELECT id, benchmark_run_id, scenario_id, scenario_name, state, outcome, score, rewards, failure, start_time_ms, end_time_ms,
      attempt, warnings, environment_differs, engine, agent_record
    FROM scenario_runs WHERE benchmark_run_id = ? AND replaced = 0 AND end_time_ms IS NOT NULL ORDER BY seq`)

  const nodeLosses = database.prepare(`
    SELECT failure ->> 'exception_message' AS message, count(*) AS n_trials FROM scenario_runs
    WHERE benchmark_run_id = ? AND replaced = 1 AND failure ->> 'exception_type' = '${nodeLost}'
    GROUP BY message ORDER BY message`)

  const endedTrials = (runId: string): EndedTrial[] =>
    (trialsOf.all(runId) as unknown as TrialRow[]).map((row) => ({
      ...row,
      failure: row.failure && JSON.parse(row.failure),
      rewards: row.rewards && JSON.parse(row.rewards),
      warnings: row.warnings && JSON.parse(row.warnings),
      environment_differs: row.environment_differs === 1,
      agent_record: row.agent_record && JSON.parse(row.agent_record),
    }))

  const ended = new Map<string, BenchmarkOutcome>()
  const outcomeOf = (run: BenchmarkRunRecord): BenchmarkOutcome | undefined => {
    const known = ended.get(run.id)
    if (known) return known
    const trials = endedTrials(run.id)
    // Unspecified: a run has an outcome once its first scenario has finished.
    if (trials.length === 0 && run.end_time_ms === null) return undefined
    const losses = nodeLosses.all(run.id).map((row) => ({ ...row })) as { message: string; n_trials: number }[]
    const outcome = benchmarkOutcome(run, trials, losses)
    if (ended.size >= maxCachedOutcomes) ended.clear()
    if (run.end_time_ms !== null) ended.set(run.id, outcome)
    return outcome
  }

  const fields = fieldsOf(BenchmarkJob)
  const table = createTable(database, 'benchmark_jobs', {
    json: ['metadata', 'source', 'spec', 'warnings', 'metrics', 'settings'],
    sorts: { job_source: "source ->> '$.type'", create_time_ms: 'nullif(create_time_ms, 0)' },
    view: (row: JobRow): BenchmarkJob => {
      const runs = benchmarkRuns.ofJob(row.id)
      const outcomes = runs.map(outcomeOf).filter((outcome) => outcome !== undefined)
      const now = Date.now()
      return {
        ...fields(row),
        create_time_ms: knownTime(row.create_time_ms),
        job_source: row.source,
        job_spec: row.spec,
        warnings: warningsOf(row.warnings, outcomes),
        // Derived from the trial rows, so it always matches them.
        benchmark_outcomes: outcomes,
        in_progress_runs: runs
          .filter(({ end_time_ms }) => end_time_ms === null)
          .map(({ id, state, start_time_ms, agent }) => ({
            benchmark_run_id: id,
            state,
            start_time_ms,
            duration_ms: Math.max(0, now - start_time_ms),
            // The rest is in the spec.
            agent_config: agent && { type: agent.type, name: agent.name, model_name: agent.model_name ?? null },
          })),
      }
    },
  })
  const isNameTaken = (account: string, name: string): boolean => byName.get(account, name) !== undefined

  return {
    ...table,

    insert: ({ plan, ...job }: NewJob): boolean => {
      if (isNameTaken(job.account, job.name)) return false
      table.insert({ ...job, plan: JSON.stringify(plan), state: 'queued' })
      return true
    },

    plan: (id: string, { spec, plan, warnings }: Pick<JobRecord<unknown>, 'spec' | 'plan' | 'warnings'>): void =>
      table.set(id, { spec, plan: JSON.stringify(plan), warnings }),

    record: <Plan>(id: string): JobRecord<Plan> => {
      const row = table.mustFind(id)
      return { ...row, plan: JSON.parse(row.plan) }
    },

    isNameTaken,

    /** Counts the changes of a job, its runs and its trials. */
    version: (account: string, id: string): number | undefined =>
      versionOf.get(account, id)?.version as number | undefined,

    setMetrics: (id: string, metrics: string[], judged_metric: string | null): void => {
      table.set(id, { metrics, judged_metric })
      ended.clear()
    },

    imported: (account: string, importId: string): Pick<JobRow, 'id' | 'name' | 'end_time_ms'> | undefined =>
      table.where("account = ? AND source ->> 'import_id' = ?", account, importId)[0],

    unended: (): { id: string; account: string }[] => table.where('end_time_ms IS NULL'),

    countUnended: (account: string): number => Number(countUnended.get(account)?.n),

    endedTrials,

    move: (id: string, to: BenchmarkJobState, timeMs: number, failureReason: string | null): void =>
      database.essential(() =>
        table.set(id, { state: to, end_time_ms: hasJobEnded(to) ? timeMs : null, failure_reason: failureReason }),
      ),
  }
}

const maxNamedTasks = 3

/** Merges the warnings of a job and its trials, each sentence once with the tasks it applies to. */
const warningsOf = (known: readonly JobWarning[], outcomes: readonly BenchmarkOutcome[]): string[] => {
  const tasksOf = new Map(known.map(({ sentence, tasks }) => [sentence, new Set(tasks)]))
  for (const { scenario_outcomes } of outcomes)
    for (const { warnings, scenario_name } of scenario_outcomes)
      for (const sentence of warnings ?? []) {
        const tasks = tasksOf.get(sentence)
        if (tasks === undefined) tasksOf.set(sentence, new Set([scenario_name]))
        else if (tasks.size > 0) tasks.add(scenario_name)
      }
  const lost = new Map<string, number>()
  for (const { message, n_trials } of outcomes.flatMap(({ node_losses }) => node_losses ?? []))
    lost.set(message, (lost.get(message) ?? 0) + n_trials)
  for (const [message, count] of lost) tasksOf.set(`${message}: ${countOf(count, 'trial')} ran again`, new Set())
  return [...tasksOf].map(([sentence, tasks]) => {
    const named = [...tasks].slice(0, maxNamedTasks).join(', ')
    const more = tasks.size - maxNamedTasks
    return tasks.size === 0 ? sentence : `${named}${more > 0 ? ` and ${more} more` : ''}: ${sentence}`
  })
}
