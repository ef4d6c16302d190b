import * as z from 'zod/mini'
import { paths } from '#lib/browser/address/paths.ts'
import { pageDefaults, searchOf } from '#lib/browser/address/search.ts'
import { sortingOf } from '#lib/browser/lists/service-sort.ts'
import { type BenchmarkJob, BenchmarkJobListQuery, benchmarkJobStates } from '#lib/contract/benchmark-jobs.ts'

export const jobSources = ['harbor', 'benchmark', 'scenarios', 'imported'] as const
export const jobAges = ['1h', '24h', '7d', '30d'] as const

/** The API's query plus filters and sorting the API lacks, which apply to loaded rows. */
export const JobSearchParams = z.extend(BenchmarkJobListQuery, {
  state: z.optional(z.enum(benchmarkJobStates, `must be one of ${benchmarkJobStates.join(', ')}`)),
  source: z.optional(z.enum(jobSources, `must be one of ${jobSources.join(', ')}`)),
  agent: z.optional(z.string()),
  created: z.optional(z.enum(jobAges, `must be one of ${jobAges.join(', ')}`)),
  /** A column ID, with a leading `-` for descending order. By default the newest come first. */
  sort: z.optional(z.string()),
  columns: z.optional(z.string()),
})
export type JobSearchParams = z.output<typeof JobSearchParams>

export const jobQueryOf = ({
  state: _state,
  source: _source,
  agent: _agent,
  created: _created,
  sort,
  columns: _columns,
  ...query
}: JobSearchParams): BenchmarkJobListQuery => ({ ...query, ...sortingOf(sort, sortFields) })

const sortFields = { name: 'name', state: 'state', source: 'job_source', created: 'create_time_ms', id: 'id' }

export const jobsPath = (params: Partial<JobSearchParams>): string =>
  `${paths.benchmarkJobs()}${searchOf(params, pageDefaults)}`

const hourMs = 3_600_000
const ageMs: Record<(typeof jobAges)[number], number> = {
  '1h': hourMs,
  '24h': 24 * hourMs,
  '7d': 7 * 24 * hourMs,
  '30d': 30 * 24 * hourMs,
}

export const jobFilter = (
  { state, source, agent, created }: Pick<JobSearchParams, 'state' | 'source' | 'agent' | 'created'>,
  nowMs: number,
): ((job: BenchmarkJob) => boolean) => {
  const part = agent?.toLowerCase()
  return (job) =>
    (state === undefined || job.state === state) &&
    (source === undefined || job.job_source?.type === source) &&
    (part === undefined || agentTexts(job).some((name) => name.toLowerCase().includes(part))) &&
    (created === undefined || (job.create_time_ms !== null && job.create_time_ms >= nowMs - ageMs[created]))
}

const agentTexts = ({ benchmark_outcomes, job_spec, in_progress_runs }: BenchmarkJob): string[] => [
  ...(benchmark_outcomes ?? []).flatMap(({ agent_name, model_name }) => [agent_name, model_name ?? '']),
  ...(job_spec?.agent_configs ?? []).flatMap(({ name, model_name }) => [name, model_name ?? '']),
  ...(in_progress_runs ?? []).flatMap(({ agent_config }) => [agent_config?.name ?? '', agent_config?.model_name ?? '']),
]
