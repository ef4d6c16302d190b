import { type ExportFields, timeField } from '#lib/browser/lists/export.ts'
import type { BenchmarkJob } from '#lib/contract/benchmark-jobs.ts'
import { agentRows, agentScores, type OutcomeCounts, outcomeCounts, progressOf } from '../job-figures.ts'

/** What stands in a file for each column of the list of jobs. */
export const jobFields: ExportFields<BenchmarkJob> = {
  name: { name: 'name', value: ({ name }) => name },
  state: { name: 'state', value: ({ state }) => state },
  agents: {
    name: 'agents',
    value: (job) => {
      const agents = agentRows(job)
      const scores = agentScores(job, agents)
      return agents.map(({ name, model }, at) => ({
        agent_name: name,
        model_name: model,
        mean: scores[at]?.mean ?? null,
        n_scenarios: scores[at]?.n ?? 0,
        metric: job.judged_metric ?? null,
      }))
    },
  },
  source: { name: 'job_source', value: ({ job_source }) => job_source?.type },
  progress: [
    { name: 'n_finished', value: (job) => progressOf(job).finished },
    { name: 'n_planned', value: (job) => progressOf(job).total },
  ],
  counts: [
    { name: 'n_completed', value: (job) => sumOf(job, ({ completed }) => completed) },
    { name: 'n_failed', value: (job) => sumOf(job, ({ failed }) => failed) },
    { name: 'n_timeout', value: (job) => sumOf(job, ({ timedOut }) => timedOut) },
    { name: 'n_canceled', value: (job) => sumOf(job, ({ cancelled }) => cancelled) },
  ],
  duration: {
    name: 'longest_run_ms',
    value: ({ benchmark_outcomes, in_progress_runs }) => {
      const runs = [...(benchmark_outcomes ?? []), ...(in_progress_runs ?? [])]
      return Math.max(0, ...runs.map(({ duration_ms }) => duration_ms ?? 0)) || null
    },
  },
  created: timeField('create_time_ms', ({ create_time_ms }) => create_time_ms),
  id: { name: 'id', value: ({ id }) => id },
}

const sumOf = ({ benchmark_outcomes }: BenchmarkJob, of: (counts: OutcomeCounts) => number): number =>
  (benchmark_outcomes ?? []).reduce((sum, outcome) => sum + of(outcomeCounts(outcome)), 0)
