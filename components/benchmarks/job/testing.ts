import type { BenchmarkJob, ScenarioOutcome } from '#lib/contract/benchmark-jobs.ts'

type Result = number | 'FAILED' | 'TIMEOUT' | 'CANCELED' | Partial<ScenarioOutcome>

/** A job with these results by agent, scenario and attempt. */
export const jobOf = (
  results: Record<string, Record<string, Result | readonly Result[]>>,
  part: Partial<BenchmarkJob> = {},
): BenchmarkJob => ({
  id: 'bmj_1',
  name: 'job',
  state: 'completed',
  create_time_ms: 0,
  job_source: { type: 'harbor' },
  benchmark_outcomes: Object.entries(results).map(([agent, scenarios], at) => {
    const [agent_name = '', model_name = null] = agent.split(' · ')
    const scenario_outcomes = Object.entries(scenarios).flatMap(([name, given]) =>
      (Array.isArray(given) ? given : [given]).map((result: Result, attempt) => outcomeOf(name, result, at, attempt)),
    )
    const count = (state: string) => scenario_outcomes.filter((each) => each.state === state).length
    return {
      benchmark_run_id: `bmr_${at + 1}`,
      agent_name,
      model_name,
      n_completed: count('COMPLETED'),
      n_failed: count('FAILED'),
      n_timeout: count('TIMEOUT'),
      average_score: null,
      scenario_outcomes,
    }
  }),
  ...part,
})

const outcomeOf = (name: string, result: Result, agent: number, attempt: number): ScenarioOutcome => ({
  scenario_definition_id: `scn_${name}`,
  scenario_name: name,
  scenario_run_id: `scr_${agent + 1}_${name}_${attempt + 1}`,
  duration_ms: 1000,
  ...(typeof result === 'number'
    ? { state: 'COMPLETED', score: result }
    : typeof result === 'string'
      ? { state: result, score: null }
      : { state: 'COMPLETED', ...result }),
})
