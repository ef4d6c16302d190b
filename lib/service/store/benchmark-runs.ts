import type { RunUsage } from '#lib/contract/agent-usage.ts'
import type { AgentConfig } from '#lib/contract/benchmark-jobs.ts'
import { BenchmarkRun, type BenchmarkRunListQuery, type BenchmarkRunState } from '#lib/contract/benchmark-runs.ts'
import type { StringMap } from '#lib/contract/common.ts'
import type { RunProfile } from '#lib/contract/scenario-runs.ts'
import { durationOf, knownTime } from '#lib/service/domain/benchmark-runs.ts'
import { equals } from './clauses.ts'
import type { Database } from './database.ts'
import { createTable, fieldsOf, type Page } from './table.ts'

/** Times are 0 if unknown. */
export interface BenchmarkRunRecord {
  seq: number
  id: string
  account: string
  benchmark_id: string | null
  name: string | null
  state: BenchmarkRunState
  start_time_ms: number
  end_time_ms: number | null
  score: number | null
  metadata: StringMap
  profile: RunProfile
  job_id: string | null
  agent_index: number | null
  agent: AgentConfig | null
  planned_trials: number | null
}

type NewBenchmarkRun = Omit<BenchmarkRunRecord, 'seq' | 'state' | 'end_time_ms' | 'score' | 'planned_trials'> &
  Partial<Pick<BenchmarkRunRecord, 'planned_trials'>>

export type BenchmarkRunStore = ReturnType<typeof createBenchmarkRunStore>

type Counts = RunUsage & { n: number }

export const createBenchmarkRunStore = (database: Database) => {
  const usageAt = (figure: keyof RunUsage) => `json_extract(agent_record, '$.usage.${figure}')`
  const trials = 'scenario_runs WHERE benchmark_run_id = ?1 AND replaced = 0'
  // Trials that failed during setup have a different reason than those that ran.
  const mostCommonReason = `
    SELECT ${usageAt('unknown_because')} AS reason FROM ${trials} AND reason IS NOT NULL
    GROUP BY reason ORDER BY count(*) DESC, reason LIMIT 1`
  const count = database.prepare(`
    SELECT count(*) AS n, sum(${usageAt('n_input_tokens')}) AS n_input_tokens,
      sum(${usageAt('n_cache_tokens')}) AS n_cache_tokens, sum(${usageAt('n_output_tokens')}) AS n_output_tokens,
      sum(${usageAt('cost_usd')}) AS cost_usd, (${mostCommonReason}) AS unknown_because,
      count(coalesce(${usageAt('n_input_tokens')}, ${usageAt('n_output_tokens')})) AS n_with_tokens,
      count(${usageAt('cost_usd')}) AS n_with_cost
    FROM ${trials}`)
  /** Counts of ended runs, which no longer change; a page of a list may have thousands. */
  const counted = new Map<string, Counts>()
  const countsOf = ({ id, end_time_ms }: BenchmarkRunRecord): Counts => {
    const counts = counted.get(id) ?? (count.get(id) as unknown as Counts)
    if (end_time_ms !== null) counted.set(id, counts)
    return counts
  }
  const fields = fieldsOf(BenchmarkRun)
  const table = createTable(database, 'benchmark_runs', {
    json: ['metadata', 'profile', 'agent'],
    metadata: 'benchmark_run_metadata',
    sorts: {
      start_time_ms: 'nullif(start_time_ms, 0)',
      duration_ms: 'nullif(end_time_ms, 0) - nullif(start_time_ms, 0)',
      agent_name: "agent ->> '$.name'",
    },
    view: (run: BenchmarkRunRecord): BenchmarkRun => {
      const { n: n_scenario_runs, ...usage } = countsOf(run)
      const isKnown = usage.n_with_tokens + usage.n_with_cost > 0
      return {
        ...fields(run),
        start_time_ms: knownTime(run.start_time_ms),
        duration_ms: durationOf(run),
        purpose: run.profile.purpose ?? null,
        environment_variables: run.profile.envVars ?? null,
        secrets_provided: run.profile.secrets ?? null,
        n_scenario_runs,
        n_total_trials: run.planned_trials,
        agent_name: run.agent?.name ?? null,
        model_name: run.agent?.model_name ?? null,
        usage: run.job_id === null ? null : { ...usage, unknown_because: isKnown ? null : usage.unknown_because },
      }
    },
  })

  return {
    ...table,

    insert: (run: NewBenchmarkRun): BenchmarkRunRecord => table.insert({ ...run, state: 'running' }),

    record: table.find,

    ofJob: (jobId: string): BenchmarkRunRecord[] => table.where('job_id = ?', jobId),

    end: (id: string, ending: Pick<BenchmarkRunRecord, 'state' | 'end_time_ms' | 'score'>): void =>
      database.essential(() => table.set(id, ending)),

    list: (account: string, query: BenchmarkRunListQuery, before?: number): Page<BenchmarkRun> =>
      table.list(account, query, before, [
        ...equals('benchmark_runs.benchmark_id', query.benchmark_id),
        ...equals('benchmark_runs.state', query.state),
      ]),
  }
}
