import * as z from 'zod/mini'
import { BenchmarkJobListQuery, benchmarkJobStates } from '#lib/contract/benchmark-jobs.ts'
import { paths } from './paths.ts'
import { pageDefaults, searchOf } from './search.ts'

export const jobSources = ['harbor', 'benchmark', 'scenarios', 'imported'] as const
export const jobAges = ['1h', '24h', '7d', '30d'] as const

/**
 * What the address of the job list says: the query of the API, and beside it how the page narrows the jobs that are
 * loaded, as the API has no such filters.
 */
export const JobListView = z.extend(BenchmarkJobListQuery, {
  state: z.optional(z.enum(benchmarkJobStates, `must be one of ${benchmarkJobStates.join(', ')}`)),
  source: z.optional(z.enum(jobSources, `must be one of ${jobSources.join(', ')}`)),
  /** Part of the name or the model of one of its agents. */
  agent: z.optional(z.string()),
  /** Created within so long. */
  created: z.optional(z.enum(jobAges, `must be one of ${jobAges.join(', ')}`)),
  /** Which of its columns the page shows. */
  columns: z.optional(z.string()),
})
export type JobListView = z.output<typeof JobListView>

/** The part of a view that the service answers. */
export const jobQueryOf = ({
  state: _state,
  source: _source,
  agent: _agent,
  created: _created,
  columns: _columns,
  ...query
}: JobListView): BenchmarkJobListQuery => query

export const jobListPath = (view: Partial<JobListView>): string =>
  `${paths.benchmarkJobs()}${searchOf(view, pageDefaults)}`
