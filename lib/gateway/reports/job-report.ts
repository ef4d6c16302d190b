import { attemptsOf, plannedTrials } from '#lib/protocol/job-plan.ts'
import type { Report, ReportFormat } from '#lib/protocol/reports.ts'
import { judging } from '#lib/statistics/judgement.ts'
import { handleRequest, json } from '../http/handle-request.ts'
import { reportCsv } from './csv.ts'
import { jobReader, runInSteps } from './job-reader.ts'
import { verdictOf } from './job-verdict.ts'
import { agentsOf, isComplete, judgedTogether, reportedJob, requireMetric } from './judged-job.ts'
import { reportMarkdown } from './markdown.ts'
import { notesOf } from './notes.ts'
import { parseReportRequest } from './report-request.ts'

/**
 * `GET /api/benchmark-jobs/{id}/report?format=json|csv|md&table=agents|pairs|excluded_scenarios&failures=zero|leave_out`,
 * also with `metric` (reward key) and `threshold` (lowest passing score).
 */
export const jobReport = (request: Request, id: string): Promise<Response> =>
  handleRequest(request, async () => {
    const { format, rule, metric, threshold, table } = parseReportRequest(request, ['table'])
    const job = requireMetric(await (await jobReader(request)).get(id), metric)
    const judgement = await runInSteps(
      judging({ agents: agentsOf(job), complete: isComplete(job), attempts: attemptsOf(job), threshold }, rule),
    )
    const judged = judgedTogether([job])
    const report: Report = {
      job: reportedJob(job),
      verdict: verdictOf({ ...judgement, state: job.state, planned: plannedTrials(job), ...judged }),
      ...judgement,
      ...judged,
      notes: notesOf({ ...judgement, ...judged }),
    }
    return respondIn(format, report, (each) => reportCsv(each, table), reportMarkdown)
  })

export const respondIn = <R>(
  format: ReportFormat,
  report: R,
  csv: (report: R) => string,
  markdown: (report: R) => string,
): Response => {
  if (format === 'json') return json(report)
  const isCsv = format === 'csv'
  return new Response(isCsv ? csv(report) : markdown(report), {
    headers: {
      'content-type': `text/${isCsv ? 'csv' : 'markdown'}; charset=utf-8`,
      'content-disposition': `attachment; filename="benchmark-report.${format}"`,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    },
  })
}
