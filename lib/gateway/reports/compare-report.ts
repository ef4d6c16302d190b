import type { BenchmarkJob } from '#lib/contract/benchmark-jobs.ts'
import { attemptsOf } from '#lib/protocol/job-plan.ts'
import type { AgentIdentity, CompareReport } from '#lib/protocol/reports.ts'
import { comparing } from '#lib/statistics/comparison.ts'
import { isControl } from '#lib/statistics/figures.ts'
import { HttpError, handleRequest } from '../http/handle-request.ts'
import { compareVerdict } from './compare-verdict.ts'
import { reportCsv } from './csv.ts'
import { comparability, incomparabilities } from './incomparable.ts'
import { jobReader, runInSteps } from './job-reader.ts'
import { respondIn } from './job-report.ts'
import { agentsOf, isComplete, judgedTogether, reportedJob, requireMetric } from './judged-job.ts'
import { compareMarkdown } from './markdown.ts'
import { notesOf } from './notes.ts'
import { parseReportRequest } from './report-request.ts'

const maxJobs = 10

/**
 * `GET /api/benchmark-jobs/compare?jobs=a,b&baseline=a&format=json|csv|md&table=agents|pairs|excluded_scenarios&failures=zero|leave_out`.
 * `baseline` is one of the jobs (default: the first) or one of their runs. `metric` and `threshold` as for one job.
 */
export const compareReport = (request: Request): Promise<Response> =>
  handleRequest(request, async () => {
    const { format, rule, metric, threshold, table, param } = parseReportRequest(request, ['jobs', 'baseline', 'table'])
    const ids = [...new Set((param('jobs') ?? '').split(',').filter(Boolean))]
    if (ids.length === 0 || ids.length > maxJobs)
      throw new HttpError('invalid_argument', `jobs must be 1 to ${maxJobs} job IDs, separated by commas`, {
        field: 'jobs',
      })
    const read = await jobReader(request)
    const jobs: BenchmarkJob[] = []
    // One at a time: each may be megabytes, and failures of a wrong key are counted.
    for (const id of ids) jobs.push(requireMetric(await read.get(id, `jobs.${id}`), metric))
    const baseline = param('baseline') ?? (ids[0] as string)
    const agents = jobs.flatMap(agentsOf)
    const complete = jobs.every(isComplete)
    const attempts = Math.max(...jobs.map((job) => attemptsOf(job) ?? 1))
    const comparison = await runInSteps(
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
    return respondIn(format, report, (each) => reportCsv(each, table), compareMarkdown)
  })

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
