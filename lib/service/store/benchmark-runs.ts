import type { RunUsage } from '#lib/contract/agent-usage.ts'
import type { AgentConfig } from '#lib/contract/benchmark-jobs.ts'
import type { BenchmarkRun, BenchmarkRunListQuery, BenchmarkRunState } from '#lib/contract/benchmark-runs.ts'
import type { StringMap } from '#lib/contract/common.ts'
import type { RunProfile } from '#lib/contract/scenario-runs.ts'
import { durationOf, knownTime } from '#lib/service/domain/benchmark-runs.ts'
import { equals } from './clauses.ts'
import type { Database } from './database.ts'
import { createTable, type Page } from './table.ts'

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

export interface NewBenchmarkRun
  extends Omit<BenchmarkRunRecord, 'seq' | 'state' | 'end_time_ms' | 'score' | 'planned_trials'> {
  planned_trials?: number | null
}

export type BenchmarkRunStore = ReturnType<typeof createBenchmarkRunStore>

export const createBenchmarkRunStore = (database: Database) => {
  const count = database.prepare(`
    SELECT count(*) AS n, sum(${usageAt('n_input_tokens')}) AS n_input_tokens,
      sum(${usageAt('n_cache_tokens')}) AS n_cache_tokens, sum(${usageAt('n_output_tokens')}) AS n_output_tokens,
      sum(${usageAt('cost_usd')}) AS cost_usd, (${mostCommonUnknownReason}) AS unknown_because,
      count(coalesce(${usageAt('n_input_tokens')}, ${usageAt('n_output_tokens')})) AS n_with_tokens,
      count(${usageAt('cost_usd')}) AS n_with_cost
    FROM scenario_runs WHERE benchmark_run_id = ?1 AND replaced = 0`)
  /** Counts of ended runs, which no longer change; a page of a list may have thousands. */
  const counted = new Map<string, Counts>()
  const countsOf = ({ id, end_time_ms }: BenchmarkRunRecord): Counts => {
    const known = counted.get(id)
    if (known !== undefined) return known
    const counts = count.get(id) as unknown as Counts
    if (end_time_ms !== null) counted.set(id, counts)
    return counts
  }
  const table = createTable(database, 'benchmark_runs', {
    json: ['metadata', 'profile', 'agent'],
    metadata: 'benchmark_run_metadata',
    view: (run: BenchmarkRunRecord) => toBenchmarkRun(run, countsOf(run)),
  })

  return {
    insert: (run: NewBenchmarkRun): BenchmarkRunRecord => table.insert({ ...run, state: 'running' }),

    get: table.get,

    record: table.find,
    own: table.own,

    ofJob: (jobId: string): BenchmarkRunRecord[] => table.where('job_id = ?', jobId),

    end: (id: string, ending: Pick<BenchmarkRunRecord, 'state' | 'end_time_ms' | 'score'>): void =>
      database.essential(() => table.set(id, ending)),

    position: table.position,

    list: (account: string, query: BenchmarkRunListQuery, before?: number): Page<BenchmarkRun> =>
      table.list(account, query, before, [
        ...equals('benchmark_runs.benchmark_id', query.benchmark_id),
        ...equals('benchmark_runs.state', query.state),
      ]),
  }
}

type Counts = RunUsage & { n: number }

const usageAt = (figure: keyof RunUsage) => `json_extract(agent_record, '$.usage.${figure}')`

/** Trials that failed during setup have a different reason than those that ran. */
const mostCommonUnknownReason = `
  SELECT ${usageAt('unknown_because')} AS reason FROM scenario_runs
  WHERE benchmark_run_id = ?1 AND replaced = 0 AND reason IS NOT NULL GROUP BY reason ORDER BY count(*) DESC, reason LIMIT 1`

const toBenchmarkRun = (run: BenchmarkRunRecord, { n: n_scenario_runs, ...usage }: Counts): BenchmarkRun => ({
  id: run.id,
  start_time_ms: knownTime(run.start_time_ms),
  state: run.state,
  metadata: run.metadata,
  benchmark_id: run.benchmark_id,
  name: run.name,
  duration_ms: durationOf(run),
  score: run.score,
  purpose: run.profile.purpose ?? null,
  environment_variables: run.profile.envVars ?? null,
  secrets_provided: run.profile.secrets ?? null,
  n_scenario_runs,
  n_total_trials: run.planned_trials ?? null,
  job_id: run.job_id,
  agent_name: run.agent?.name ?? null,
  model_name: run.agent?.model_name ?? null,
  usage: run.job_id === null ? null : { ...usage, unknown_because: isKnown(usage) ? null : usage.unknown_because },
})

const isKnown = ({ n_with_tokens, n_with_cost }: RunUsage) => n_with_tokens + n_with_cost > 0
