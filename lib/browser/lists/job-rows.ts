import type { BenchmarkJob } from '#lib/contract/benchmark-jobs.ts'
import type { JobListView, jobAges } from '../address/job-list-view.ts'

const hourMs = 3_600_000
const ageMs: Record<(typeof jobAges)[number], number> = {
  '1h': hourMs,
  '24h': 24 * hourMs,
  '7d': 7 * 24 * hourMs,
  '30d': 30 * 24 * hourMs,
}

/** The filters only the page has. */
export const jobsShownBy = (
  { state, source, agent, created }: Pick<JobListView, 'state' | 'source' | 'agent' | 'created'>,
  nowMs: number,
): ((job: BenchmarkJob) => boolean) => {
  const part = agent?.toLowerCase()
  return (job) =>
    (state === undefined || job.state === state) &&
    (source === undefined || job.job_source?.type === source) &&
    (part === undefined || agentsOf(job).some((name) => name.toLowerCase().includes(part))) &&
    (created === undefined || (job.create_time_ms !== null && job.create_time_ms >= nowMs - ageMs[created]))
}

/** Names and models. */
const agentsOf = ({ benchmark_outcomes, job_spec, in_progress_runs }: BenchmarkJob): string[] => [
  ...(benchmark_outcomes ?? []).flatMap(({ agent_name, model_name }) => [agent_name, model_name ?? '']),
  ...(job_spec?.agent_configs ?? []).flatMap(({ name, model_name }) => [name, model_name ?? '']),
  ...(in_progress_runs ?? []).flatMap(({ agent_config }) => [agent_config?.name ?? '', agent_config?.model_name ?? '']),
]
