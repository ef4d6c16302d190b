import { plannedTrials } from '#lib/protocol/job-plan.ts'
import type { Report } from '#lib/protocol/reports.ts'
import { judging } from '#lib/statistics/judgement.ts'
import { handleRequest } from '../http/handle-request.ts'
import { reportCsv } from './csv.ts'
import { notesOf, verdictOf } from './job-verdict.ts'
import { agentsOf, isComplete, judgedTogether, reportedJob, requireMetric } from './judged-job.ts'
import { reportMarkdown } from './markdown.ts'
import { jobReader, parseReportRequest, respondIn, runInSteps } from './report-request.ts'

/**
 * `GET /api/benchmark-jobs/{id}/report?format=json|csv|md&table=agents|pairs|excluded_scenarios&failures=zero|leave_out`,
 * also with `metric` (reward key) and `threshold` (lowest passing score).
 */
export const jobReport = (request: Request, id: string): Promise<Response> =>
  handleRequest(request, async () => {
    const { format, rule, metric, threshold, table } = parseReportRequest(request, ['table'])
    const job = requireMetric(await (await jobReader(request)).get(id), metric)
    const judgement = await runInSteps(judging({ agents: agentsOf(job), complete: isComplete(job), threshold }, rule))
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
