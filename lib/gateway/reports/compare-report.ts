import type { BenchmarkJob } from '#lib/contract/benchmark-jobs.ts'
import {
  comparedScenarios,
  differenceWords,
  gainOf,
  type NameOf,
  runNames,
  sameAgentJob,
} from '#lib/protocol/report-words.ts'
import type {
  AgentIdentity,
  ComparedPair,
  CompareReport,
  ReportChoice,
  ReportFormat,
  Verdict,
} from '#lib/protocol/reports.ts'
import { comparing } from '#lib/statistics/comparison.ts'
import { isControl, type JudgedAgent } from '#lib/statistics/figures.ts'
import { isBuiltIn } from '#lib/statistics/metrics.ts'
import { HttpError, handleRequest } from '../http/handle-request.ts'
import { reportCsv, tables } from './csv.ts'
import { type Gate, gateOf, parseGate, unfinishedJobs } from './gate.ts'
import { groupReport } from './groups.ts'
import { compareHtml } from './html/compare-html.ts'
import type { Provenance } from './html/document.ts'
import { htmlFile, provenanceOf } from './html/html-file.ts'
import { comparability, incomparabilities } from './incomparable.ts'
import { type JobSource, jobSource } from './job-source.ts'
import { controlsSentence, evidence, metricSentence, notesOf, testedPairs, unansweredSentence } from './job-verdict.ts'
import { agentsOf, agentsOfAll, isComplete, judgedTogether, reportedJob, requireMetric } from './judged-job.ts'
import { gateJunit } from './junit.ts'
import { compareMarkdown } from './markdown.ts'
import { counted, exclusionSentence, markedJobs, withExclusions } from './marked-jobs.ts'
import { cachedReport } from './report-cache.ts'
import { parseReportParams, respondIn, runInSteps } from './report-request.ts'

const maxJobs = 10

interface CompareQuery extends ReportChoice {
  jobs: readonly string[]
  /** One of the jobs or one of their runs. */
  baseline: string
  gate: Gate | undefined
}

const formats: readonly ReportFormat[] = ['json', 'csv', 'md', 'html', 'junit']

/**
 * `GET /api/benchmark-jobs/compare/report?jobs=a,b&baseline=a&format=json|csv|md|html|junit&table=…`.
 * `baseline` is one of the jobs (default: the first) or one of their runs. `failures`, `metric`, `threshold`, `group` and
 * `exclusions` as for one job;
 * `gate=no_regression|superior|non_inferior` with `margin` decides whether the compared runs pass.
 */
export const compareReport = (request: Request): Promise<Response> =>
  handleRequest(request, async () => {
    const { format, table, query } = parseCompareReport(new URL(request.url).searchParams)
    const source = await jobSource(request)
    if (format === 'html') return htmlFile(await compareHtmlOf(source, query, provenanceOf(request)))
    const report = await compareReportOf(source, query)
    return respondIn(format, report, {
      csv: (each) => reportCsv(each, table),
      md: compareMarkdown,
      junit: gateJunit,
    })
  })

const own = ['jobs', 'baseline', 'gate', 'margin']

export const parseCompareReport = (searchParams: URLSearchParams) => {
  const { format, table, choice, param } = parseReportParams(
    searchParams,
    formats,
    ['agents', ...tables],
    [...own, 'group'],
  )
  const jobs = [...new Set((param('jobs') ?? '').split(',').filter(Boolean))]
  const [first] = jobs
  if (first === undefined || jobs.length > maxJobs)
    throw new HttpError('invalid_argument', `jobs must be 1 to ${maxJobs} job IDs, separated by commas`, {
      field: 'jobs',
    })
  const gate = parseGate(param('gate'), param('margin'))
  if (format === 'junit' && !gate)
    throw new HttpError('invalid_argument', 'format=junit requires a gate', { field: 'gate' })
  const query: CompareQuery = { ...choice, jobs, baseline: param('baseline') ?? first, gate }
  return { format, table, query }
}

export const compareHtmlOf = async (
  source: JobSource,
  query: CompareQuery,
  provenance: Provenance,
): Promise<string> => {
  const report = await compareReportOf(source, query)
  const agents: JudgedAgent[] = []
  for (const id of query.jobs) {
    const job = requireMetric(await source.get(id, `jobs.${id}`), query.metric)
    agents.push(...agentsOf(counted(job, report)))
  }
  return compareHtml(report, agents, provenance)
}

const compareReportOf = async (source: JobSource, query: CompareQuery): Promise<CompareReport> => {
  const jobs: BenchmarkJob[] = []
  // One at a time: each may be megabytes, and failures of a wrong key are counted.
  for (const id of query.jobs) jobs.push(await source.get(id, `jobs.${id}`))
  const compute = () => computeComparison(source, query, jobs)
  // Metadata of scenarios may change without the jobs.
  return query.group === undefined ? cachedReport(source.account, query, jobs, compute) : compute()
}

const computeComparison = async (
  source: JobSource,
  query: CompareQuery,
  read: readonly BenchmarkJob[],
): Promise<CompareReport> => {
  const { failures, metric, direction, threshold, baseline, gate, group, exclusions } = query
  const whole = read.map((job) => requireMetric(job, metric))
  const reported = whole.map(reportedJob)
  const complete = whole.every(isComplete)
  const judged = judgedTogether(whole)
  const marked = markedJobs(source.account, whole, exclusions)
  const compare = async (jobs: readonly BenchmarkJob[]) => {
    const agents = agentsOfAll(jobs)
    const figures = { agents, complete, direction, threshold }
    const comparison = await runInSteps(comparing(figures, failures, baselineChoice(agents, query.jobs, baseline)))
    return { figures, comparison, verdict: compareVerdict({ jobs: reported, complete, ...judged, ...comparison }) }
  }
  const jobs = marked.counted
  const { figures, comparison, verdict } = await compare(jobs)
  const marks = await marked.report(comparison.agents, async () => {
    const { comparison, verdict } = await compare(whole)
    return { agents: comparison.agents, pairs: comparison.pairs, verdict }
  })
  const judgedGate = gate && gateOf(gate, { jobs: reported, baseline, ...judged, ...comparison }, unfinishedJobs(jobs))
  return {
    jobs: reported,
    baseline,
    complete,
    verdict: verdict && withExclusions(verdict, marks, comparison.agents),
    ...judged,
    ...comparison,
    ...marks,
    gate: judgedGate ? { ...judgedGate, sentence: [judgedGate.sentence, ...exclusionSentence(marks)].join(' ') } : null,
    incomparable: incomparabilities(jobs, comparison),
    ...(await groupReport(
      { source, jobs, judged: figures, rule: failures, name: runNames({ jobs: reported, agents: comparison.agents }) },
      group,
      comparison,
    )),
    ...comparability(jobs),
    notes: notesOf({ complete, ...judged, ...comparison }),
  }
}

/**
 * Chooses the run to compare each agent with: in a baseline job the same agent and model (the second with the second), else
 * its only run. The baseline job's own runs have no baseline, except in a single job: there it is the first non-control.
 */
export const baselineChoice = (agents: readonly AgentIdentity[], jobs: readonly string[], baseline: string) => {
  const ofBaseline = agents.filter(({ job_id }) => job_id === baseline)
  const isRun = agents.some(({ benchmark_run_id }) => benchmark_run_id === baseline)
  if (!isRun && !jobs.includes(baseline))
    throw new HttpError('invalid_argument', 'baseline must be one of the jobs or a run with an outcome', {
      field: 'baseline',
    })
  if (isRun) return () => baseline
  const first = ofBaseline.find(({ agent_name }) => !isControl(agent_name)) ?? ofBaseline[0]
  if (jobs.length === 1) return () => first?.benchmark_run_id ?? null
  return (agent: AgentIdentity): string | null => {
    if (agent.job_id === baseline) return null
    const isSame = (each: AgentIdentity) => each.agent_name === agent.agent_name && each.model_name === agent.model_name
    const position = agents
      .filter((each) => each.job_id === agent.job_id && isSame(each))
      .findIndex(({ benchmark_run_id }) => benchmark_run_id === agent.benchmark_run_id)
    const same = ofBaseline.filter(isSame)
    return (same[position] ?? same[0] ?? (ofBaseline.length === 1 ? first : undefined))?.benchmark_run_id ?? null
  }
}

type Figures = Pick<CompareReport, 'jobs' | 'agents' | 'complete' | 'pairs'> & { metric?: string | null }

export const compareVerdict = (report: Figures): Verdict | null => {
  const { complete, agents } = report
  const candidates = report.pairs.filter(({ a, b }) => !isControl(a.agent_name) && !isControl(b.agent_name))
  const pairs = candidates.length > 0 ? candidates : report.pairs
  const [first] = pairs
  if (!first) return null
  const others = report.pairs
    .filter((pair) => !pairs.includes(pair))
    .flatMap(({ a, b }) => [a.agent_name, b.agent_name])
  const name = runNames(report)
  const baselineJob = sameAgentJob(report)
  const tested = testedPairs(report.pairs)
  const sentence = (pair: ComparedPair) => runSentence(pair, name, baselineJob(pair), tested, report.metric)
  const better = pairs.filter((pair) => pair.significant && (gainOf(pair) ?? 0) > 0).length
  const worse = pairs.filter((pair) => pair.significant && (gainOf(pair) ?? 0) < 0).length
  const unanswered = isBuiltIn(report.metric) ? [] : unansweredSentence(agents, name)
  const largest = pairs.reduce((a, b) => (ranksBefore(b, a) ? b : a))
  const soFar = complete ? '' : 'So far: '
  const summary =
    better + worse === 0
      ? `None of ${pairs.length} runs differs significantly from the baseline.`
      : `Of ${pairs.length} runs, ${better} significantly better than the baseline, ${worse} significantly worse, ${pairs.length - better - worse} not significant.`
  const [lead = '', ...more] =
    pairs.length === 1
      ? [soFar + sentence(first)]
      : largest.difference === null
        ? [`${soFar}None of ${pairs.length} runs can be compared with the baseline.`, sentence(first)]
        : [soFar + summary, `Largest ${kindOf(largest)}: ${sentence(largest)}`]
  return {
    lead,
    more: [
      ...more,
      ...unanswered,
      ...controlsSentence([...new Set(others.filter(isControl))]),
      ...changesSentence(pairs),
      ...metricSentence(report.metric ?? null),
    ],
    tone: worse > 0 ? 'danger' : unanswered.length > 0 ? 'attention' : better > 0 ? 'ok' : 'neutral',
  }
}

const ranksBefore = (a: ComparedPair, b: ComparedPair): boolean => {
  const weight = (pair: ComparedPair) => (pair.significant ? ((gainOf(pair) ?? 0) < 0 ? 2 : 1) : 0)
  const size = ({ difference }: ComparedPair) => (difference === null ? -1 : Math.abs(difference))
  return weight(a) > weight(b) || (weight(a) === weight(b) && size(a) > size(b))
}

const kindOf = (pair: ComparedPair): string =>
  pair.significant ? ((gainOf(pair) ?? 0) < 0 ? 'loss' : 'gain') : 'difference'

const runSentence = (
  pair: ComparedPair,
  name: NameOf,
  baselineJob: string | undefined,
  tested: number,
  metric: string | null | undefined,
): string => {
  const { a, b, difference, lower_is_better, reasons } = pair
  if (difference === null)
    return `${name(a)} and ${name(b)} can't be compared: ${reasons.difference ?? 'no common scenario'}.`
  const baseline = baselineJob === undefined ? name(b) : `in ${baselineJob}`
  return difference === 0
    ? `${name(a)} scores the same as ${baseline} ${evidence(pair, tested, metric)}`
    : `${name(a)} ${differenceWords(difference, lower_is_better, metric)} than ${baseline} ${evidence(pair, tested, metric)}`
}

const changesSentence = (pairs: readonly ComparedPair[]): string[] => {
  const sum = (of: (pair: ComparedPair) => number) => pairs.reduce((total, pair) => total + of(pair), 0)
  const compared = sum(({ n }) => n)
  if (compared === 0) return []
  const [worse, better] = [sum((pair) => pair.worse.length), sum((pair) => pair.better.length)]
  const hasPasses = pairs.every(({ new_passes }) => new_passes !== null)
  const format = (count: number) => count.toLocaleString('en-US')
  const newly = (kind: 'new_failures' | 'new_passes', word: string) =>
    hasPasses ? ` (${format(sum((pair) => (pair[kind] ?? []).length))} newly ${word})` : ''
  return [
    `Of ${comparedScenarios(compared, pairs.length)}, ${format(worse)} scored worse${newly('new_failures', 'failing')}, ${format(better)} better${newly('new_passes', 'passing')} and ${format(compared - worse - better)} the same.`,
  ]
}
