import type { BenchmarkJob } from '#lib/contract/benchmark-jobs.ts'

/** From this share of their scenarios on two jobs count as being on one data set. */
const sharedAtLeast = 0.5

/**
 * Whether jobs are on the data set of this one: of the same benchmark, or with at least half of their scenarios in common.
 * A task of a job file has a new id when a file of it changes; those count by their names as well.
 */
export const isOnDataSetOf = (given: BenchmarkJob): ((job: BenchmarkJob) => boolean) => {
  const benchmark = benchmarkOf(given)
  const [ids, names] = [idsOf(given), namesOf(given)]
  return (job) =>
    job.id === given.id ||
    (benchmark !== null && benchmarkOf(job) === benchmark) ||
    shareOf(ids, idsOf(job)) >= sharedAtLeast ||
    (isOfFile(given) && isOfFile(job) && shareOf(names, namesOf(job)) >= sharedAtLeast)
}

const benchmarkOf = ({ job_source }: BenchmarkJob): string | null =>
  job_source?.type === 'benchmark' ? job_source.benchmark_id || null : null

const isOfFile = ({ job_source }: BenchmarkJob): boolean =>
  job_source?.type === 'harbor' || job_source?.type === 'imported'

const outcomesOf = ({ benchmark_outcomes }: BenchmarkJob) =>
  (benchmark_outcomes ?? []).flatMap(({ scenario_outcomes }) => scenario_outcomes)

const idsOf = (job: BenchmarkJob): ReadonlySet<string> =>
  new Set([
    ...(job.job_spec?.scenario_ids ?? []),
    ...outcomesOf(job).map(({ scenario_definition_id }) => scenario_definition_id),
  ])

const namesOf = (job: BenchmarkJob): ReadonlySet<string> =>
  new Set(outcomesOf(job).map(({ scenario_name }) => scenario_name))

/** Of the larger of the two. */
const shareOf = (a: ReadonlySet<string>, b: ReadonlySet<string>): number =>
  a.size === 0 || b.size === 0 ? 0 : a.intersection(b).size / Math.max(a.size, b.size)
