import type { BenchmarkJob } from '#lib/contract/benchmark-jobs.ts'
import { judgedBy, metricsOf } from '#lib/protocol/metrics.ts'
import { agentLabel, amount, countOf, metricText, stepOf, type TrendStep } from '#lib/protocol/report-words.ts'
import type {
  ComparedPair,
  ReportChoice,
  ReportFormat,
  TrendPoint,
  TrendReport,
  Verdict,
} from '#lib/protocol/reports.ts'
import { comparing } from '#lib/statistics/comparison.ts'
import type { AgentIdentity, ExcludedScenario } from '#lib/statistics/figures.ts'
import { judgedRule } from '#lib/statistics/judgment.ts'
import { isBuiltIn } from '#lib/statistics/metrics.ts'
import { countedScore } from '#lib/statistics/tallies.ts'
import { HttpError, handleRequest } from '../http/handle-request.ts'
import type { Provenance } from './html/document.ts'
import { htmlFile, provenanceOf } from './html/html-file.ts'
import { trendHtml } from './html/trend-html.ts'
import { incomparabilities } from './incomparable.ts'
import { type JobSource, jobSource } from './job-source.ts'
import { evidence, metricSentence, metricVerb, notesOf, testedPairs, unansweredSentence } from './job-verdict.ts'
import { agentsOf, isComplete, judgedTogether, reportedJob, requireMetric } from './judged-job.ts'
import { markedJobs, withExclusions } from './marked-jobs.ts'
import { parseReportParams, respondIn, runInSteps } from './report-request.ts'
import { regressionOf } from './trend-points.ts'
import { trendCsv, trendMarkdown } from './trend-text.ts'

/** Jobs may be megabytes, and parsing them delays terminals in this process: read a few at a time, up to a limit. */
const pageSize = 5
const maxRead = 200
const [defaultPoints, maxPoints] = [10, 50]

interface TrendQuery extends ReportChoice {
  /** A job on the dataset. */
  job: string
  agent: string | undefined
  /** An empty text for agents without a model. */
  model: string | undefined
  last: number
}

const formats: readonly ReportFormat[] = ['json', 'csv', 'md', 'html']
const tables = ['jobs', 'exclusions', 'labels'] as const

/**
 * `GET /api/benchmark-jobs/trend?job=…&agent=…&model=…&last=10&format=json|csv|md|html&table=jobs|exclusions|labels&failures=zero|leave_out`: results of an
 * agent on a job's dataset in its most recent jobs. Defaults to the job's first agent; jobs without the metric are skipped.
 */
export const trendReport = (request: Request): Promise<Response> =>
  handleRequest(request, async () => {
    const { format, table, query } = parseTrendReport(new URL(request.url).searchParams)
    const source = await jobSource(request)
    if (format === 'html') return htmlFile(await trendHtmlOf(source, query, provenanceOf(request)))
    const report = await trendReportOf(source, query)
    return respondIn(format, report, { csv: (each) => trendCsv(each, table), md: trendMarkdown })
  })

export const parseTrendReport = (searchParams: URLSearchParams) => {
  const { format, table, choice, param } = parseReportParams(searchParams, formats, tables, [
    'job',
    'agent',
    'model',
    'last',
  ])
  const last = parsePoints(param('last'))
  const job = param('job')
  if (!job) throw new HttpError('invalid_argument', 'job must be the ID of a job on the dataset', { field: 'job' })
  const query: TrendQuery = { ...choice, job, agent: param('agent'), model: param('model'), last }
  return { format, table, query }
}

export const trendHtmlOf = async (source: JobSource, query: TrendQuery, provenance: Provenance): Promise<string> =>
  trendHtml(await trendReportOf(source, query), provenance)

const trendReportOf = async (source: JobSource, query: TrendQuery): Promise<TrendReport> => {
  const { failures, metric, direction, threshold, last } = query
  const anchor = requireMetric(await source.get(query.job), metric)
  const agent = chooseAgent(anchor, query.agent, query.model)
  const isOfAgent = (each: NamedAgent) => each.agent_name === agent.agent_name && each.model_name === agent.model_name
  const found = await readJobs(source, anchor, metric, isOfAgent, last)
  const jobs = found.jobs.filter((job) => agentsOf(job).some(isOfAgent)).slice(-last)
  const complete = found.jobs.every(isComplete)
  const judged = judgedTogether(jobs.length > 0 ? jobs : [anchor])
  const marked = markedJobs(source.account, jobs, query.exclusions)
  const compare = async (jobs: readonly BenchmarkJob[]) => {
    const agents = jobs.flatMap((job) => agentsOf(job).filter(isOfAgent))
    const judgedJob = { agents, complete, direction, threshold }
    const rule = judgedRule(judgedJob, failures)
    const scored = agents.filter(({ outcomes }) => outcomes.some((each) => countedScore(each, rule) !== undefined))
    const comparison = await runInSteps(comparing(judgedJob, failures, (run) => previousRun(scored, run)))
    const points = comparison.agents.map((figures): TrendPoint => {
      const job = jobs.find(({ id }) => id === figures.job_id) as BenchmarkJob
      const change = comparison.pairs.find(({ a }) => a.benchmark_run_id === figures.benchmark_run_id) ?? null
      const before = jobs.find(({ id }) => id === change?.b.job_id)
      return {
        job: reportedJob(job),
        complete: isComplete(job),
        figures,
        change,
        regression: regressionOf(change),
        incomparable: before ? changedSince(before, job, isOfAgent, comparison.excluded_scenarios) : [],
      }
    })
    return { comparison, points, verdict: trendVerdict({ ...agent, ...judged, points }) }
  }
  const { comparison, points, verdict } = await compare(marked.counted)
  const marks = await marked.report(comparison.agents, async () => {
    const { comparison, verdict } = await compare(jobs)
    return { agents: comparison.agents, pairs: comparison.pairs, verdict }
  })
  return {
    ...agent,
    data_set: {
      job_id: anchor.id,
      job_name: anchor.name,
      benchmark_name: anchor.job_source?.benchmark_name ?? null,
      n_scenarios: anchor.job_spec?.scenario_ids.length ?? null,
    },
    rule: comparison.rule,
    complete,
    is_unit_range: comparison.is_unit_range,
    threshold: comparison.threshold,
    lower_is_better: comparison.lower_is_better,
    metric: judged.metric,
    // All metrics of the anchor: jobs without the chosen one are skipped.
    metrics: metricsOf(anchor),
    verdict: withExclusions(verdict, marks, comparison.agents),
    ...marks,
    points,
    agents: agentsOnDataSet(found.jobs),
    n_jobs_read: found.read,
    has_older_jobs: found.hasOlder,
    n_jobs_of_data_set: found.jobs.length,
    notes: [
      'Jobs share a dataset if they run the same benchmark or have at least half of their scenarios in common.',
      'A regression is a significantly worse mean than in the previous job, on the scenarios both scored; a possible regression is worse by more than the standard error, but not significant.',
      ...notesOf({ complete, ...judged, ...comparison }),
    ],
  }
}

type NamedAgent = Pick<AgentIdentity, 'agent_name' | 'model_name'>

const parsePoints = (given: string | undefined): number => {
  if (given === undefined) return defaultPoints
  const points = /^\d{1,3}$/.test(given) ? Number(given) : 0
  if (points < 1 || points > maxPoints)
    throw new HttpError('invalid_argument', `last must be a whole number from 1 to ${maxPoints}`, { field: 'last' })
  return points
}

const chooseAgent = (job: BenchmarkJob, name: string | undefined, model: string | undefined): NamedAgent => {
  const all = namedAgents(job)
  const chosen = all.find(
    ({ agent_name, model_name }) =>
      (name === undefined || agent_name === name) && (model === undefined || model_name === (model || null)),
  )
  if (chosen) return chosen
  if (name === undefined)
    throw new HttpError('invalid_argument', 'agent is required because the job lists none', { field: 'agent' })
  return { agent_name: name, model_name: model || null }
}

const namedAgents = (job: BenchmarkJob): NamedAgent[] => [
  ...(job.job_spec?.agent_configs ?? []).map(({ name, model_name }) => ({
    agent_name: name,
    model_name: model_name ?? null,
  })),
  ...agentsOf(job).map(({ agent_name, model_name }) => ({ agent_name, model_name })),
]

/** Reads jobs on the anchor's dataset, newest first, until the agent has run in `enough` of them. Returns oldest first. */
const readJobs = async (
  source: JobSource,
  anchor: BenchmarkJob,
  metric: string | undefined,
  isOfAgent: (agent: NamedAgent) => boolean,
  enough: number,
): Promise<{ jobs: BenchmarkJob[]; read: number; hasOlder: boolean }> => {
  const isOnDataSet = isOnDataSetOf(anchor)
  const jobs: BenchmarkJob[] = []
  let [read, ofAgent, hasOlder] = [0, 0, true]
  let startingAfter: string | undefined
  while (hasOlder && read < maxRead && ofAgent < enough) {
    const page = await source.list(pageSize, startingAfter)
    for (const job of page.jobs) {
      if (!isOnDataSet(job) || (metric !== undefined && !metricsOf(job).includes(metric))) continue
      jobs.push(judgedBy(job, metric))
      if (agentsOf(job).some(isOfAgent)) ofAgent++
    }
    read += page.jobs.length
    startingAfter = page.jobs.at(-1)?.id
    hasOlder = page.has_more && startingAfter !== undefined
  }
  if (!jobs.some(({ id }) => id === anchor.id) && ofAgent < enough) jobs.push(anchor)
  return { jobs: jobs.reverse().sort((a, b) => (a.create_time_ms ?? 0) - (b.create_time_ms ?? 0)), read, hasOlder }
}

/** The run of the previous job to compare with. An agent listed several times is matched by position. */
const previousRun = (agents: readonly AgentIdentity[], run: AgentIdentity): string | null => {
  const own = agents.findIndex(({ job_id }) => job_id === run.job_id)
  const before = agents[own - 1]
  if (own === -1 || !before) return null
  const position = agents.findIndex(({ benchmark_run_id }) => benchmark_run_id === run.benchmark_run_id) - own
  const candidates = agents.filter(({ job_id }) => job_id === before.job_id)
  return (candidates[position] ?? candidates[0] ?? before).benchmark_run_id
}

const changedSince = (
  before: BenchmarkJob,
  after: BenchmarkJob,
  isOfAgent: (agent: NamedAgent) => boolean,
  excluded: readonly ExcludedScenario[],
): TrendPoint['incomparable'] => {
  const jobs = [before, after].map(
    (job): BenchmarkJob => ({
      ...job,
      benchmark_outcomes: job.benchmark_outcomes?.filter(({ agent_name, model_name = null }) =>
        isOfAgent({ agent_name, model_name }),
      ),
      job_spec: job.job_spec && {
        ...job.job_spec,
        agent_configs: job.job_spec.agent_configs.filter(({ name, model_name }) =>
          isOfAgent({ agent_name: name, model_name: model_name ?? null }),
        ),
      },
    }),
  )
  const agents = [before, after].flatMap((job) => agentsOf(job).filter(isOfAgent))
  const ofBoth = excluded.flatMap((each) => {
    const missing_from = each.missing_from.filter(({ benchmark_run_id }) =>
      agents.some((agent) => agent.benchmark_run_id === benchmark_run_id),
    )
    return missing_from.length === 0 || missing_from.length === agents.length ? [] : [{ ...each, missing_from }]
  })
  return incomparabilities(jobs, { agents, excluded_scenarios: ofBoth })
}

const agentsOnDataSet = (jobs: readonly BenchmarkJob[]): TrendReport['agents'] => {
  const counts = new Map<string, NamedAgent & { n_jobs: number }>()
  for (const job of jobs.toReversed()) {
    const own = new Map(agentsOf(job).map((each) => [JSON.stringify([each.agent_name, each.model_name]), each]))
    for (const [key, { agent_name, model_name }] of own) {
      const known = counts.get(key)
      if (known) known.n_jobs++
      else counts.set(key, { agent_name, model_name, n_jobs: 1 })
    }
  }
  return [...counts.values()]
}

const minSharedPart = 0.5

/** Matches jobs of the same benchmark or with enough scenarios in common. Job-file tasks also match by name, as edits change their id. */
export const isOnDataSetOf = (given: BenchmarkJob): ((job: BenchmarkJob) => boolean) => {
  const benchmark = benchmarkOf(given)
  const [ids, names] = [idsOf(given), namesOf(given)]
  return (job) =>
    job.id === given.id ||
    (benchmark !== null && benchmarkOf(job) === benchmark) ||
    shareOf(ids, idsOf(job)) >= minSharedPart ||
    (isFromFile(given) && isFromFile(job) && shareOf(names, namesOf(job)) >= minSharedPart)
}

const benchmarkOf = ({ job_source }: BenchmarkJob): string | null =>
  job_source?.type === 'benchmark' ? job_source.benchmark_id || null : null

const isFromFile = ({ job_source }: BenchmarkJob): boolean =>
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

const shareOf = (a: ReadonlySet<string>, b: ReadonlySet<string>): number =>
  a.size === 0 || b.size === 0 ? 0 : a.intersection(b).size / Math.max(a.size, b.size)

const tones: Record<TrendStep, Verdict['tone']> = {
  first: 'neutral',
  regression: 'danger',
  possible: 'attention',
  better: 'ok',
  slightly_better: 'neutral',
  worse: 'neutral',
  same: 'neutral',
  none: 'neutral',
}

type Figures = Pick<TrendReport, 'agent_name' | 'model_name' | 'points'> & { metric?: string | null }

export const trendVerdict = ({ agent_name, model_name, points, metric = null }: Figures): Verdict => {
  const name = agentLabel({ name: agent_name, model: model_name })
  const newest = points.findLast(({ figures }) => figures.mean !== null)
  if (!newest) return { lead: `${name} has no score on this dataset yet.`, more: [], tone: 'neutral' }
  const { figures, job, complete, change } = newest
  const later = points.slice(points.indexOf(newest) + 1)
  const jobNames = new Map(points.map((point) => [point.job.id, point.job.name]))
  const score = `${name} ${metricVerb(metric)} ${metricText(metric, figures.mean ?? 0)} (n = ${figures.n_scenarios.toLocaleString('en-US')}) in ${job.name}${complete ? '' : ' so far'}`
  return {
    lead: change
      ? `${score}, ${changeText(change, testedPairs(points.flatMap((point) => point.change ?? [])), metric)}`
      : `${score}; there is no earlier job to compare with.`,
    more: [
      ...unscoredSentence(later),
      ...regressionSentence(points),
      ...(isBuiltIn(metric)
        ? []
        : unansweredSentence(
            points.map((point) => point.figures),
            ({ job_id }) => jobNames.get(job_id) ?? job_id,
          )),
      ...metricSentence(metric),
    ],
    tone: later.length > 0 && stepOf(newest) === 'better' ? 'neutral' : tones[stepOf(newest)],
  }
}

const unscoredSentence = (later: readonly TrendPoint[]): string[] => {
  const [last] = later.slice(-1)
  if (!last) return []
  return [
    `${countOf(later.length, 'later run')} ${later.length === 1 ? 'has' : 'have'} no score, most recently in ${last.job.name}: ${last.figures.reasons.mean ?? 'no counted outcome'}.`,
  ]
}

const changeText = (change: ComparedPair, tested: number, metric: string | null): string => {
  const { difference, reasons } = change
  if (difference === null)
    return `which can't be compared with the previous job: ${reasons.difference ?? 'no common scenario'}.`
  return difference === 0
    ? `the same as in the previous job ${evidence(change, tested, metric)}`
    : `${amount(difference, metric)} ${difference < 0 ? 'below' : 'above'}${judgedWord(change)} the previous job ${evidence(change, tested, metric)}`
}

const regressionSentence = (points: readonly TrendPoint[]): string[] => {
  const count = (step: TrendStep) => points.filter((point) => stepOf(point) === step).length
  const compared = points.filter(({ change }) => change?.difference != null).length
  if (compared === 0) return []
  const changes = countOf(compared, 'change')
  const [significant, possible] = [count('regression'), count('possible')]
  if (significant + possible === 0) return [`No regression in ${changes}.`]
  return [
    `${changes}: ${countOf(significant, 'significant regression')}, ${possible.toLocaleString('en-US')} possible.`,
  ]
}

const judgedWord = ({ difference, lower_is_better }: ComparedPair) =>
  lower_is_better ? ` (${(difference ?? 0) < 0 ? 'better' : 'worse'})` : ''
