import { formatCountOf } from '#lib/browser/format.ts'
import type { BenchmarkJob, BenchmarkJobSpec } from '#lib/contract/benchmark-jobs.ts'
import type { ScenarioRow } from '../grid/scenario-grid.ts'
import type { AgentRow, JobProgress } from '../job-figures.ts'

/** The new job, or the reason there can't be one. */
export type RunAgain = { spec: BenchmarkJobSpec } | { refusal: string }

export const cloneOf = ({ job_source, job_spec }: BenchmarkJob): RunAgain => {
  if (job_source?.type === 'harbor' && job_source.inline_yaml != null)
    return { spec: { type: 'harbor', inline_yaml: job_source.inline_yaml } }
  if (!job_source || !job_spec) return { refusal: 'The service does not report the source of the job' }
  const { agent_configs, orchestrator_config, scenario_ids } = job_spec
  if (job_source.type === 'benchmark' && job_source.benchmark_id != null)
    return { spec: { type: 'benchmark', benchmark_id: job_source.benchmark_id, agent_configs, orchestrator_config } }
  if (job_source.type === 'scenarios')
    return { spec: { type: 'scenarios', scenario_ids, agent_configs, orchestrator_config } }
  return { refusal: `Jobs of type ${job_source.type} can't be created here` }
}

/** Finished attempts without a score. */
export interface Unscored {
  scenarios: readonly ScenarioRow[]
  agents: readonly AgentRow[]
  attempts: number
}

export const unscoredOf = (rows: readonly ScenarioRow[], agents: readonly AgentRow[]): Unscored => {
  const hasNoScore = ({ score }: { score?: number | null | undefined }) => score == null
  const attempts = rows.flatMap(({ cells }) => cells.flatMap((cell) => cell.attempts)).filter(hasNoScore)
  return {
    scenarios: rows.filter(({ cells }) => cells.some((cell) => cell.attempts.some(hasNoScore))),
    agents: agents.filter((_, at) => rows.some(({ cells }) => cells[at]?.attempts.some(hasNoScore))),
    attempts: attempts.length,
  }
}

/** A job with only the unscored scenarios and agents. */
export const rerunOf = (
  job: BenchmarkJob,
  unscored: Unscored,
  narrow: (yaml: string, tasks: readonly string[]) => { yaml: string } | { refusal: string },
): RunAgain => {
  const { job_source, job_spec } = job
  if (unscored.attempts === 0) return { refusal: 'Every finished attempt has a score' }
  const whole = cloneOf(job)
  if ('refusal' in whole) return whole
  if (whole.spec.type === 'harbor') {
    const narrowed = narrow(
      job_source?.inline_yaml ?? '',
      unscored.scenarios.map(({ name }) => name),
    )
    return 'refusal' in narrowed ? narrowed : { spec: { type: 'harbor', inline_yaml: narrowed.yaml } }
  }
  const isIncluded = ({ name, model_name = null }: { name: string; model_name?: string | null | undefined }) =>
    unscored.agents.some((agent) => agent.name === name && agent.model === model_name)
  return {
    spec: {
      type: 'scenarios',
      scenario_ids: unscored.scenarios.map(({ id }) => id),
      agent_configs: (job_spec?.agent_configs ?? []).filter(isIncluded),
      orchestrator_config: job_spec?.orchestrator_config,
    },
  }
}

export const neverStartedText = ({ finished, total }: JobProgress): string => {
  const left = (total ?? finished) - finished
  return left > 0 ? ` ${formatCountOf(left, 'trial')} never started; to run them too, clone the job.` : ''
}
