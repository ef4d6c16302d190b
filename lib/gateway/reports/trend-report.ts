import type { BenchmarkJob } from '#lib/contract/benchmark-jobs.ts'
import { attemptsOf } from '#lib/protocol/job-plan.ts'
import { judgedBy, metricsOf } from '#lib/protocol/metrics.ts'
import type { TrendPoint, TrendReport } from '#lib/protocol/reports.ts'
import { comparing } from '#lib/statistics/comparison.ts'
import type { AgentIdentity, ExcludedScenario } from '#lib/statistics/figures.ts'
import { countedScore } from '#lib/statistics/tallies.ts'
import { HttpError, handleRequest } from '../http/handle-request.ts'
import { askedOf } from './asked.ts'
import { inTurns, type JobReader, jobReader } from './caller.ts'
import { isOnDataSetOf } from './data-set.ts'
import { incomparabilities } from './incomparable.ts'
import { answerIn } from './job-report.ts'
import { agentsOf, isComplete, judgedTogether, reportedJob, requireMetric } from './judged-job.ts'
import { notesOf } from './notes.ts'
import { trendCsv, trendMarkdown } from './trend-text.ts'
import { regressionOf, trendVerdict } from './trend-verdict.ts'

/** A job may be megabytes, whose reading holds up the terminals of this process: few at a time, and only so many. */
const pageSize = 5
const mostRead = 200
const [usualPoints, mostPoints] = [10, 50]

/**
 * `GET /api/benchmark-jobs/trend?job=…&agent=…&model=…&last=10&format=json|csv|md&failures=zero|leave_out`: what an agent
 * made of the data set of a job in its last jobs. `agent` and `model` are those of the first agent of the job unless given;
 * `metric` and `threshold` as for one job. Jobs without that metric are left out.
 */
export const trendReport = (request: Request): Promise<Response> =>
  handleRequest(request, async () => {
    const { format, rule, metric, threshold, of } = askedOf(request, ['job', 'agent', 'model', 'last'])
    const last = askedPoints(of('last'))
    const given = of('job')
    if (!given) throw new HttpError('invalid_argument', 'job must be the id of a job on the data set', { field: 'job' })
    const reader = await jobReader(request)
    const anchor = requireMetric(await reader.get(given), metric)
    const agent = chosenAgent(anchor, of('agent'), of('model'))
    const isOfAgent = (each: NamedAgent) => each.agent_name === agent.agent_name && each.model_name === agent.model_name
    const found = await readJobs(reader, anchor, metric, isOfAgent, last)
    const jobs = found.jobs.filter((job) => agentsOf(job).some(isOfAgent)).slice(-last)
    const agents = jobs.flatMap((job) => agentsOf(job).filter(isOfAgent))
    const scored = agents.filter(({ outcomes }) => outcomes.some((each) => countedScore(each, rule) !== undefined))
    const complete = found.jobs.every(isComplete)
    const attempts = Math.max(1, ...jobs.map((job) => attemptsOf(job) ?? 1))
    const comparison = await inTurns(
      comparing({ agents, complete, attempts, threshold }, rule, (run) => runBefore(scored, run)),
    )
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
    const judged = judgedTogether(jobs.length > 0 ? jobs : [anchor])
    const report: TrendReport = {
      ...agent,
      data_set: {
        job_id: anchor.id,
        job_name: anchor.name,
        benchmark_name: anchor.job_source?.benchmark_name ?? null,
        n_scenarios: anchor.job_spec?.scenario_ids.length ?? null,
      },
      rule,
      complete,
      is_unit_range: comparison.is_unit_range,
      threshold: comparison.threshold,
      metric: judged.metric,
      // Any metric of the anchor: jobs without it are left out.
      metrics: metricsOf(anchor),
      verdict: trendVerdict({ ...agent, ...judged, points }),
      points,
      agents: agentsSeen(found.jobs),
      n_jobs_read: found.read,
      has_older_jobs: found.hasOlder,
      n_jobs_of_data_set: found.jobs.length,
      notes: [
        'A data set is that of a benchmark, or of jobs with at least half of their scenarios in common.',
        'A regression is a mean below that of the job before, over the scenarios both have a score for; it is possible, and not more, where the difference is not settled and larger than its standard error.',
        ...notesOf({ rule, complete, ...judged, ...comparison }),
      ],
    }
    return answerIn(format, report, trendCsv, trendMarkdown)
  })

type NamedAgent = Pick<AgentIdentity, 'agent_name' | 'model_name'>

const askedPoints = (given: string | undefined): number => {
  if (given === undefined) return usualPoints
  const points = /^\d{1,3}$/.test(given) ? Number(given) : 0
  if (points < 1 || points > mostPoints)
    throw new HttpError('invalid_argument', `last must be a whole number from 1 to ${mostPoints}`, { field: 'last' })
  return points
}

/** An agent without `model` is the one of that name that has none, or the first of that name. */
const chosenAgent = (job: BenchmarkJob, name: string | undefined, model: string | undefined): NamedAgent => {
  const all = namedAgents(job)
  const chosen = all.find(
    ({ agent_name, model_name }) =>
      (name === undefined || agent_name === name) && (model === undefined || model_name === (model || null)),
  )
  if (chosen) return chosen
  if (name === undefined)
    throw new HttpError('invalid_argument', 'agent must be given: the job tells no agent of its own', {
      field: 'agent',
    })
  return { agent_name: name, model_name: model || null }
}

const namedAgents = (job: BenchmarkJob): NamedAgent[] => [
  ...(job.job_spec?.agent_configs ?? []).map(({ name, model_name }) => ({
    agent_name: name,
    model_name: model_name ?? null,
  })),
  ...agentsOf(job).map(({ agent_name, model_name }) => ({ agent_name, model_name })),
]

/** The jobs on the data set of `anchor`, the oldest first, from the newest back until the agent has run in enough of them. */
const readJobs = async (
  reader: JobReader,
  anchor: BenchmarkJob,
  metric: string | undefined,
  isOfAgent: (agent: NamedAgent) => boolean,
  enough: number,
): Promise<{ jobs: BenchmarkJob[]; read: number; hasOlder: boolean }> => {
  const isOnDataSet = isOnDataSetOf(anchor)
  const jobs: BenchmarkJob[] = []
  let [read, ofAgent, hasOlder] = [0, 0, true]
  let startingAfter: string | undefined
  while (hasOlder && read < mostRead && ofAgent < enough) {
    const page = await reader.list(pageSize, startingAfter)
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

/**
 * The run of the job before that one is compared with. Where an agent stands several times in a job, the first is compared
 * with the first, the second with the second.
 */
const runBefore = (agents: readonly AgentIdentity[], run: AgentIdentity): string | null => {
  const own = agents.findIndex(({ job_id }) => job_id === run.job_id)
  const before = agents[own - 1]
  if (own === -1 || !before) return null
  const place = agents.findIndex(({ benchmark_run_id }) => benchmark_run_id === run.benchmark_run_id) - own
  const candidates = agents.filter(({ job_id }) => job_id === before.job_id)
  return (candidates[place] ?? candidates[0] ?? before).benchmark_run_id
}

/** What is not the same for the agent in two jobs; of others in them nothing matters here. */
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

/** The newest job has the first word on their order. */
const agentsSeen = (jobs: readonly BenchmarkJob[]): TrendReport['agents'] => {
  const seen = new Map<string, NamedAgent & { n_jobs: number }>()
  for (const job of jobs.toReversed()) {
    const own = new Map(agentsOf(job).map((each) => [JSON.stringify([each.agent_name, each.model_name]), each]))
    for (const [key, { agent_name, model_name }] of own) {
      const known = seen.get(key)
      if (known) known.n_jobs++
      else seen.set(key, { agent_name, model_name, n_jobs: 1 })
    }
  }
  return [...seen.values()]
}
