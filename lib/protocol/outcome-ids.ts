import type { BenchmarkJob, BenchmarkOutcome, ScenarioOutcome } from '#lib/contract/benchmark-jobs.ts'

/** Adds missing ids to outcomes: a scenario falls back to its name, a run to its position. */
export const identifiedOutcomes = ({ id, benchmark_outcomes }: BenchmarkJob) => {
  const taken = new Set<string>()
  return (benchmark_outcomes ?? []).map((outcome, at): BenchmarkOutcome => {
    const { benchmark_run_id: reportedId, scenario_outcomes: scenarios } = outcome
    const benchmark_run_id = reportedId && !taken.has(reportedId) ? reportedId : `${id} run ${at + 1}`
    taken.add(benchmark_run_id)
    const lacksId = scenarios.some(({ scenario_definition_id: id }) => !id.trim())
    if (benchmark_run_id === reportedId && !lacksId) return outcome
    return { ...outcome, benchmark_run_id, scenario_outcomes: lacksId ? scenarios.map(byName) : scenarios }
  })
}

export const unnamedScenario = 'Unnamed scenario'

const byName = (outcome: ScenarioOutcome): ScenarioOutcome => {
  const { scenario_definition_id: id, scenario_name: name } = outcome
  return id.trim() ? outcome : { ...outcome, scenario_definition_id: name.trim() ? name : unnamedScenario }
}
