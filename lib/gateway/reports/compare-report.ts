import type { BenchmarkJob } from '#lib/contract/benchmark-jobs.ts'
import { attemptsOf } from '#lib/protocol/job-plan.ts'
import type { CompareReport } from '#lib/protocol/reports.ts'
import { comparing } from '#lib/statistics/comparison.ts'
import { HttpError, handleRequest } from '../http/handle-request.ts'
import { askedOf } from './asked.ts'
import { baselineChoice } from './baseline.ts'
import { inTurns, jobReader } from './caller.ts'
import { compareVerdict } from './compare-verdict.ts'
import { reportCsv } from './csv.ts'
import { comparability, incomparabilities } from './incomparable.ts'
import { answerIn } from './job-report.ts'
import { agentsOf, isComplete, judgedTogether, reportedJob, requireMetric } from './judged-job.ts'
import { compareMarkdown } from './markdown.ts'
import { notesOf } from './notes.ts'

const mostJobs = 10

/**
 * `GET /api/benchmark-jobs/compare?jobs=a,b&baseline=a&format=json|csv|md&table=agents|pairs|excluded_scenarios&failures=zero|leave_out`.
 * `baseline` is one of the jobs, the first unless given, or one run of them. `metric` and `threshold` as for one job.
 */
export const compareReport = (request: Request): Promise<Response> =>
  handleRequest(request, async () => {
    const { format, rule, metric, threshold, table, of } = askedOf(request, ['jobs', 'baseline', 'table'])
    const ids = [...new Set((of('jobs') ?? '').split(',').filter(Boolean))]
    if (ids.length === 0 || ids.length > mostJobs)
      throw new HttpError(
        'invalid_argument',
        `jobs must be the ids of 1 to ${mostJobs} jobs with commas between them`,
        {
          field: 'jobs',
        },
      )
    const read = await jobReader(request)
    const jobs: BenchmarkJob[] = []
    // One at a time: each may be megabytes, and the failures of a wrong key are counted.
    for (const id of ids) jobs.push(requireMetric(await read.get(id, `jobs.${id}`), metric))
    const baseline = of('baseline') ?? (ids[0] as string)
    const agents = jobs.flatMap(agentsOf)
    const complete = jobs.every(isComplete)
    const attempts = Math.max(...jobs.map((job) => attemptsOf(job) ?? 1))
    const comparison = await inTurns(
      comparing({ agents, complete, attempts, threshold }, rule, baselineChoice(agents, ids, baseline)),
    )
    const reported = jobs.map(reportedJob)
    const judged = judgedTogether(jobs)
    const report: CompareReport = {
      jobs: reported,
      baseline,
      rule,
      complete,
      verdict: compareVerdict({ jobs: reported, complete, ...judged, ...comparison }),
      ...judged,
      ...comparison,
      incomparable: incomparabilities(jobs, comparison),
      ...comparability(jobs),
      notes: notesOf({ rule, complete, ...judged, ...comparison }),
    }
    return answerIn(format, report, (each) => reportCsv(each, table), compareMarkdown)
  })
