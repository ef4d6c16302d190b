import type { BenchmarkJob } from '#lib/contract/benchmark-jobs.ts'
import { exclusionTest, type IdentifiedAttempt, identifiedAttempts, withoutExcluded } from '#lib/protocol/marks.ts'
import { countOf } from '#lib/protocol/report-words.ts'
import type {
  AgentFigures,
  FailureGroupFigures,
  LabelCount,
  MarkReport,
  ReportChoice,
  Verdict,
  WithoutExclusions,
} from '#lib/protocol/reports.ts'
import { judgmentStore } from '../judgment/marks.ts'

interface MarkedJobs {
  /** The jobs to compute figures from: without excluded attempts, unless the request ignores exclusions. */
  counted: BenchmarkJob[]
  /** The groups with the place of their first attempt among all attempts, as excluded ones stay visible. */
  located: (groups: readonly FailureGroupFigures[]) => readonly FailureGroupFigures[]
  report: <Pair>(
    agents: readonly Pick<AgentFigures, 'benchmark_run_id'>[],
    without: () => Promise<WithoutExclusions<Pair>>,
  ) => Promise<MarkReport<Pair>>
}

/** Applies what people excluded from the jobs. Reads the store at once, as cached reports belong to its version. */
export const markedJobs = (
  account: string,
  jobs: readonly BenchmarkJob[],
  choice: ReportChoice['exclusions'],
): MarkedJobs => {
  const store = judgmentStore()
  const exclusions = jobs.flatMap(({ id }) => store.exclusions(account, id))
  const labels = jobs.flatMap(({ id }) => store.labels(account, id))
  const isApplied = choice !== 'ignore'
  return {
    counted: isApplied ? jobs.map((job) => withoutExcluded(job, exclusions)) : [...jobs],
    located: (groups) => {
      const [job] = jobs
      if (!isApplied || !job || exclusions.length === 0) return groups
      const isExcluded = exclusionTest(exclusions, job.id)
      const remaining = Map.groupBy(
        identifiedAttempts(job)
          .flat()
          .filter((each) => !isExcluded(each)),
        (each) => JSON.stringify([each.benchmark_run_id, each.scenario_id]),
      )
      return groups.map((group) => {
        const { benchmark_run_id, scenario_id, attempt } = group.first
        const found = remaining.get(JSON.stringify([benchmark_run_id, scenario_id]))?.[attempt - 1]
        return { ...group, first: { ...group.first, attempt: found?.position ?? attempt } }
      })
    },
    report: async (agents, without) => {
      if (exclusions.length + labels.length === 0) return { exclusions: null, labels: [] }
      const runs = new Set(agents.map(({ benchmark_run_id }) => benchmark_run_id))
      const attempts = jobs.flatMap((job) =>
        identifiedAttempts(job)
          .flat()
          .map((each) => ({ ...each, job_id: job.id, isReported: runs.has(each.benchmark_run_id) })),
      )
      const ofScenario = Map.groupBy(attempts, ({ scenario_id }) => scenario_id)
      const ofAttempt = Map.groupBy(attempts, ({ job_id, attempt_id }) => attemptKey(job_id, attempt_id))
      const items = exclusions.flatMap((each) => {
        const found =
          each.attempt_id === null
            ? ofScenario.get(each.scenario_id)
            : ofAttempt.get(attemptKey(each.job_id, each.attempt_id))
        const own = (found ?? []).filter(({ isReported }) => isReported)
        // A trend reports one agent, and exclusions of the others don't concern it.
        if (found && own.length === 0) return []
        const [first] = each.attempt_id === null ? [] : own
        const attempt = first ? { benchmark_run_id: first.benchmark_run_id, position: first.position } : null
        return [{ ...each, n_attempts: own.length, attempt }]
      })
      const labeled = labels.flatMap(({ job_id, attempt_id, label }) =>
        (ofAttempt.get(attemptKey(job_id, attempt_id)) ?? []).flatMap((each) =>
          each.isReported ? [{ ...each, label }] : [],
        ),
      )
      return {
        exclusions:
          items.length === 0
            ? null
            : {
                rule: ruleOf(jobs.length, isApplied),
                applied: isApplied,
                items,
                without: isApplied ? await without() : null,
              },
        labels: labelCounts(labeled),
      }
    },
  }
}

/** The job as the report counted it. */
export const counted = (job: BenchmarkJob, { exclusions }: Pick<MarkReport<unknown>, 'exclusions'>): BenchmarkJob =>
  exclusions?.applied ? withoutExcluded(job, exclusions.items) : job

const attemptKey = (jobId: string, attemptId: string): string => JSON.stringify([jobId, attemptId])

const ruleOf = (jobs: number, isApplied: boolean): string =>
  isApplied
    ? `Excluded attempts don't count toward any figure. A scenario is excluded for all agents${
        jobs > 1 ? ' and in all jobs of this report, no matter which job it was excluded in' : ''
      }; an attempt only from the mean of its scenario.`
    : 'Exclusions are ignored: excluded attempts count like all others.'

const labelCounts = (attempts: readonly (IdentifiedAttempt & { label: string })[]): LabelCount[] =>
  [...Map.groupBy(attempts, ({ label }) => label)]
    .map(([label, ofLabel]) => ({
      label,
      n_attempts: ofLabel.length,
      agents: [...Map.groupBy(ofLabel, (each) => each.benchmark_run_id)].map(([benchmark_run_id, { length: n }]) => ({
        benchmark_run_id,
        n,
      })),
    }))
    .sort((a, b) => b.n_attempts - a.n_attempts || (a.label < b.label ? -1 : 1))

type Marks = Pick<MarkReport<unknown>, 'exclusions'>

/** Follows verdicts and gates, so that they never stand without what is excluded. */
export const exclusionSentence = ({ exclusions }: Marks): string[] => {
  const items = exclusions?.applied ? exclusions.items.filter(({ n_attempts }) => n_attempts > 0) : []
  if (items.length === 0) return []
  const scenarios = new Set(items.flatMap((each) => (each.attempt_id === null ? [each.scenario_id] : []))).size
  const attempts = items.filter(({ attempt_id }) => attempt_id !== null).length
  const parts = [
    ...(scenarios > 0 ? [countOf(scenarios, 'scenario')] : []),
    ...(attempts > 0 ? [countOf(attempts, 'attempt')] : []),
  ]
  return [`Excluded: ${parts.join(' and ')}.`]
}

export const withExclusions = (verdict: Verdict, marks: Marks, agents: readonly AgentFigures[]): Verdict => {
  const excluded = exclusionSentence(marks)
  if (excluded.length === 0) return verdict
  const isEmpty = agents.every(
    ({ n_completed, n_failed, n_timeout, n_cancelled, n_other }) =>
      n_completed + n_failed + n_timeout + n_cancelled + n_other === 0,
  )
  return isEmpty
    ? { lead: 'Every attempt is excluded, so there is no score.', more: excluded, tone: 'neutral' }
    : { ...verdict, more: [...verdict.more, ...excluded] }
}
