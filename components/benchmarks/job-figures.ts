import { formatCount, formatDurationMs } from '#lib/browser/format.ts'
import {
  type BenchmarkJob,
  type BenchmarkOutcome,
  type InProgressRun,
  isJobActive,
} from '#lib/contract/benchmark-jobs.ts'
import { benchmarkRunStates } from '#lib/contract/benchmark-runs.ts'
import { agentsWithRuns } from '#lib/protocol/job-agents.ts'
import { attemptsOf, plannedTrials } from '#lib/protocol/job-plan.ts'
import { agentLabel, repeatSuffixes, truncate } from '#lib/protocol/report-words.ts'
import { etaRange, meanOf } from '#lib/statistics/means.ts'
import { durationsOf, talliesOf } from '#lib/statistics/tallies.ts'

export interface AgentRow {
  /** Matches `benchmark_run_id` in reports. */
  key: string
  name: string
  model: string | null
  differs?: string
  runId: string | null
  state: 'pending' | 'running' | 'finished'
  outcome: BenchmarkOutcome | null
  run: InProgressRun | null
}

export const agentRows = (job: BenchmarkJob): AgentRow[] => {
  const agents = agentsWithRuns(job)
  const specified = job.job_spec?.agent_configs ?? []
  const rows = agents.map(({ place, name, ...agent }): AgentRow & { place: number } => ({
    ...agent,
    name: name || 'Unnamed agent',
    state: stateOf(agent.run),
    place: place ?? specified.length,
  }))
  const state = isJobActive(job.state) ? 'pending' : 'finished'
  for (const [place, { name, model_name: model = null }] of specified.entries())
    if (!agents.some((agent) => agent.place === place))
      rows.push({ key: `pending ${place} ${name}`, name, model, runId: null, state, outcome: null, run: null, place })
  return rows.toSorted((a, b) => a.place - b.place).map(({ place: _, ...row }) => row)
}

/** Short unique labels: models without provider where possible, and models or differences alone if that is all they differ by. */
export const shortLabels = (agents: readonly Pick<AgentRow, 'name' | 'model' | 'differs'>[]): string[] => {
  const full = agents.map(agentLabel)
  const suffixes = repeatSuffixes(full)
  const isUnique = (labels: readonly string[]) => new Set(labels).size === new Set(full).size
  const bare = agents.map(({ model, ...agent }) => ({ ...agent, model: model?.split('/').findLast(Boolean) ?? null }))
  const hasOneName = agents.length > 1 && new Set(agents.map(({ name }) => name)).size === 1
  for (const shorter of [bare, agents]) {
    const models = shorter.flatMap(({ model }) => (model ? truncate(model) : []))
    if (hasOneName && new Set(models).size === agents.length) return models
  }
  const differences = agents.flatMap(({ differs }) => differs ?? [])
  const hasOneModel = new Set(agents.map(({ model }) => model)).size === 1
  if (hasOneName && hasOneModel && new Set(differences).size === agents.length) return differences
  const labels = bare.map(agentLabel)
  return (isUnique(labels) ? labels : full).map((label, at) => `${label}${suffixes[at]}`)
}

const stateOf = (run: InProgressRun | null) => (run && !endedStates.includes(run.state) ? 'running' : 'finished')

const endedStates: readonly string[] = benchmarkRunStates.filter((state) => state !== 'running')

export const scenarioIdsOf = ({ job_spec, benchmark_outcomes }: BenchmarkJob): string[] => {
  const outcomes = (benchmark_outcomes ?? []).flatMap(({ scenario_outcomes }) => scenario_outcomes)
  const ids = outcomes.map(({ scenario_definition_id }) => scenario_definition_id)
  return [...new Set([...(job_spec?.scenario_ids ?? []), ...ids])]
}

export interface JobProgress {
  finished: number
  total: number | null
}

export const progressOf = (job: BenchmarkJob): JobProgress => {
  const finished = (job.benchmark_outcomes ?? []).reduce((sum, outcome) => sum + outcomeCounts(outcome).total, 0)
  const planned = plannedTrials(job)
  return { finished, total: planned === undefined ? null : Math.max(planned, finished) }
}

export interface OutcomeCounts {
  completed: number
  failed: number
  timedOut: number
  cancelled: number
  other: number
  total: number
}

/** Counts reported by the outcome, or counted from its attempts. */
export const outcomeCounts = (outcome: BenchmarkOutcome): OutcomeCounts => {
  const { n_completed, n_failed, n_timeout, n_canceled, scenario_outcomes } = outcome
  const states: Record<string, number> = {}
  for (const { state } of scenario_outcomes) states[state] = (states[state] ?? 0) + 1
  const countOf = (count: number | null | undefined, state: string) =>
    typeof count === 'number' && Number.isFinite(count) ? count : (states[state] ?? 0)
  const completed = countOf(n_completed, 'COMPLETED')
  const failed = countOf(n_failed, 'FAILED')
  const timedOut = countOf(n_timeout, 'TIMEOUT')
  const cancelled = countOf(n_canceled, 'CANCELED')
  const known = completed + failed + timedOut + cancelled
  const total = Math.max(known, scenario_outcomes.length)
  return { completed, failed, timedOut, cancelled, other: total - known, total }
}

export interface AgentScore {
  mean: number | null
  n: number
  of: number
}

/** Mean over scenarios with failures as 0, or the service's own mean if it reports no attempts. */
export const agentScores = (agents: readonly AgentRow[]): (AgentScore | null)[] =>
  agents.map(({ outcome }) => {
    if (outcome === null) return null
    const outcomes = outcome.scenario_outcomes.map((each) => ({ ...each, scenario_id: each.scenario_definition_id }))
    if (outcomes.length > 0) {
      const tallies = [...talliesOf(outcomes, 'zero').values()]
      const means = tallies.flatMap(({ mean }) => mean ?? [])
      return { mean: meanOf(means), n: means.length, of: tallies.length }
    }
    const { completed, total } = outcomeCounts(outcome)
    return { mean: outcome.average_score ?? null, n: completed, of: total }
  })

export const formatScore = (score: number): string =>
  Number.isNaN(score) ? 'unknown' : score.toFixed(score === 0 || score === 1 ? 2 : 3).replace(/^(-?\d\.\d\d)0$/, '$1')

export interface YamlProblem {
  line: number | null
  text: string
}

/** Parses an error message with one problem per line. */
export const yamlProblems = (message: string): YamlProblem[] =>
  message
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
    .map((text) => {
      const at = /\bline (\d+)\b/i.exec(text) ?? /(?:^|\s)(\d+):\d+\b/.exec(text)
      return { line: at?.[1] ? Number(at[1]) : null, text }
    })

export const activeRuns = (job: BenchmarkJob): string[] =>
  (job.in_progress_runs ?? []).flatMap(({ state, benchmark_run_id }) => (state === 'running' ? benchmark_run_id : []))

const defaultConcurrency = ({ job_source }: BenchmarkJob) => (job_source?.type === 'harbor' ? 4 : 1)

export const shortEta = (job: BenchmarkJob, agents: readonly AgentRow[]): string => {
  const eta = etaOf(job, agents)
  if (typeof eta === 'string') return 'no estimate yet'
  const [low, high] = [formatDurationMs(eta.fluid), formatDurationMs(eta.waves)]
  return low === high ? `about ${low} left` : `${low} to ${high} left`
}

export const etaText = (job: BenchmarkJob, agents: readonly AgentRow[]): string => {
  const eta = etaOf(job, agents)
  if (typeof eta === 'string') return eta
  const { ended, left, slots, dropped } = eta
  const without = dropped > 0 ? `; ${formatCount(dropped)} of finished runs will never start` : ''
  return `${shortEta(job, agents)}, if the remaining ${formatCount(left)} take as long as the ${formatCount(ended)} finished, ${formatCount(slots)} at a time${without}`
}

const etaOf = (job: BenchmarkJob, agents: readonly AgentRow[]) => {
  const { finished, total } = progressOf(job)
  if (total === null) return 'The job does not report its number of trials.'
  const dropped = droppedOf(job, agents)
  const left = total - finished - dropped
  if (left <= 0) return 'The last trials are finishing.'
  const durations = durationsOf(agents.flatMap(({ outcome }) => outcome?.scenario_outcomes ?? []))
  const concurrency = job.job_spec?.orchestrator_config?.n_concurrent_trials ?? defaultConcurrency(job)
  const slots = Math.max(1, concurrency - (job.waiting?.n_trials ?? 0))
  const eta = etaRange(left, slots, durations)
  if (!eta && finished > 0) return 'No estimate: trials do not report durations.'
  if (!eta) return 'No estimate until the first trial ends.'
  return { ...eta, slots, left, dropped, ended: durations.length }
}

/** Trials that never start because their run was canceled or failed. */
const droppedOf = (job: BenchmarkJob, agents: readonly AgentRow[]): number => {
  if (!job.in_progress_runs?.length) return 0
  const each = (job.job_spec?.scenario_ids.length ?? 0) * (attemptsOf(job) ?? 1)
  const ended = agents.filter(({ state }) => state === 'finished')
  return ended.reduce((sum, { outcome }) => sum + Math.max(0, each - (outcome ? outcomeCounts(outcome).total : 0)), 0)
}
