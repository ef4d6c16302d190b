import type { BenchmarkJob } from '#lib/contract/benchmark-jobs.ts'
import { groupingFailures } from '#lib/protocol/failure-groups.ts'
import { plannedTrials } from '#lib/protocol/job-plan.ts'
import { namesOf } from '#lib/protocol/report-words.ts'
import type { Report, ReportChoice, ReportFormat } from '#lib/protocol/reports.ts'
import { judgedRule, judging } from '#lib/statistics/judgment.ts'
import { handleRequest } from '../http/handle-request.ts'
import { reportCsv, tables } from './csv.ts'
import { groupReport } from './groups.ts'
import { harborMean } from './harbor-mean.ts'
import type { Provenance } from './html/document.ts'
import { htmlFile, provenanceOf } from './html/html-file.ts'
import { jobHtml } from './html/job-html.ts'
import { type JobSource, jobSource } from './job-source.ts'
import { notesOf, verdictOf } from './job-verdict.ts'
import { agentsOf, isComplete, judgedTogether, reportedJob, requireMetric } from './judged-job.ts'
import { reportMarkdown } from './markdown.ts'
import { counted, markedJobs, withExclusions } from './marked-jobs.ts'
import { cachedReport } from './report-cache.ts'
import { parseReportParams, respondIn, runInSteps } from './report-request.ts'

interface JobReportQuery extends ReportChoice {
  job: string
}

const formats: readonly ReportFormat[] = ['json', 'csv', 'md', 'html']

/**
 * `GET /api/benchmark-jobs/{id}/report?format=json|csv|md|html&table=…&failures=zero|leave_out&exclusions=apply|ignore`, also with `metric` (reward key, `@cost_usd`, `@duration_ms` or `@tokens`), `direction` (`higher` or `lower` is better),
 * `threshold` (worst passing score) and `group` (metadata key of the scenarios).
 */
export const jobReport = (request: Request, id: string): Promise<Response> =>
  handleRequest(request, async () => {
    const { format, table, query } = parseJobReport(id, new URL(request.url).searchParams)
    const source = await jobSource(request)
    if (format === 'html') return htmlFile(await jobHtmlOf(source, query, provenanceOf(request)))
    const report = await jobReportOf(source, query)
    return respondIn(format, report, { csv: (each) => reportCsv(each, table), md: reportMarkdown })
  })

export const parseJobReport = (job: string, searchParams: URLSearchParams) => {
  const { format, table, choice } = parseReportParams(
    searchParams,
    formats,
    ['agents', 'failure_groups', ...tables],
    ['group'],
  )
  const query: JobReportQuery = { job, ...choice }
  return { format, table, query }
}

export const jobHtmlOf = async (source: JobSource, query: JobReportQuery, provenance: Provenance): Promise<string> => {
  const report = await jobReportOf(source, query)
  const job = requireMetric(await source.get(query.job), query.metric)
  return jobHtml(report, agentsOf(counted(job, report)), provenance)
}

const jobReportOf = async (source: JobSource, query: JobReportQuery): Promise<Report> => {
  const job = await source.get(query.job)
  const compute = () => computeReport(source, query, job)
  // Metadata of scenarios may change without the job.
  return query.group === undefined ? cachedReport(source.account, query, [job], compute) : compute()
}

const computeReport = async (source: JobSource, query: JobReportQuery, read: BenchmarkJob): Promise<Report> => {
  const { failures, metric, direction, threshold, group, exclusions } = query
  const whole = requireMetric(read, metric)
  const judged = judgedTogether([whole])
  const marked = markedJobs(source.account, [whole], exclusions)
  const judge = async (job: BenchmarkJob) => {
    const figures = { agents: agentsOf(job), complete: isComplete(job), direction, threshold }
    const judgment = await runInSteps(judging(figures, failures))
    const verdict = verdictOf({ ...judgment, state: job.state, planned: plannedTrials(job), ...judged })
    return { figures, judgment, verdict }
  }
  const job = marked.counted[0] ?? whole
  const { figures, judgment, verdict } = await judge(job)
  const marks = await marked.report(judgment.agents, async () => {
    const { judgment, verdict } = await judge(whole)
    return { agents: judgment.agents, pairs: judgment.pairs, verdict }
  })
  const harbor_mean =
    metric === undefined || metric === read.judged_metric
      ? harborMean(whole, job, { ...judged, agents: judgment.agents }, judgedRule(figures, failures))
      : null
  return {
    job: reportedJob(job),
    verdict: withExclusions(verdict, marks, judgment.agents),
    ...judgment,
    ...marks,
    ...judged,
    ...(await groupReport(
      { source, jobs: [job], judged: figures, rule: failures, name: namesOf(judgment.agents) },
      group,
      judgment,
    )),
    failure_groups: marked.located(await runInSteps(groupingFailures(figures.agents, { ...judgment, metric }))),
    harbor_mean,
    notes: [...notesOf({ ...judgment, ...judged }), ...(harbor_mean === null ? [] : [harbor_mean])],
  }
}
