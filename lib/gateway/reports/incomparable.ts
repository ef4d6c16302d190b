import type { AgentConfig, BenchmarkJob } from '#lib/contract/benchmark-jobs.ts'
import { attemptsOf, plannedTrials } from '#lib/wire/job-plan.ts'
import { agentLabel, countOf, cutPart } from '#lib/wire/report-words.ts'
import type { AgentIdentity, CompareReport, Incomparability } from '#lib/wire/reports.ts'
import { endings } from './job-verdict.ts'
import { isComplete } from './judged-job.ts'

/** What makes a comparison of these jobs less than fair, the gravest first. */
export const incomparabilities = (
  compared: readonly BenchmarkJob[],
  judged: Pick<CompareReport, 'excluded_scenarios'> & { agents: readonly AgentIdentity[] },
): Incomparability[] =>
  // A long name would leave no room for what is said of the next job.
  differences(
    compared.map((job) => ({ ...job, name: cutPart(job.name) })),
    judged,
  )

const differences: typeof incomparabilities = (jobs, { agents, excluded_scenarios }) => [
  ...jobs.flatMap(incomplete),
  ...scenarios(jobs, agents, excluded_scenarios),
  ...differing(
    'metric',
    'Scores are of different metrics',
    jobs,
    ({ judged_metric }) => judged_metric ?? 'scorers of the service',
  ),
  ...differing('attempts', 'Attempts at a scenario', jobs, (job) => attemptsOf(job)),
  ...differing('timeouts', 'Timeout multiplier', jobs, (job) =>
    job.job_spec ? (job.job_spec.orchestrator_config?.timeout_multiplier ?? 1) : undefined,
  ),
  ...environments(jobs),
  ...sameAgents(jobs),
  ...differing('source', 'Source', jobs, sourceOf),
]

/** Of a job that goes on, or that ended before all of its attempts were made. */
const incomplete = (job: BenchmarkJob): Incomparability[] => {
  const { name, state, benchmark_outcomes } = job
  const line = (text: string): Incomparability[] => [{ kind: 'incomplete', text: `${name} ${text}` }]
  if (!isComplete(job)) return line(`is ${state}: outcomes of it may still come`)
  const made = (benchmark_outcomes ?? []).reduce((sum, { scenario_outcomes }) => sum + scenario_outcomes.length, 0)
  const planned = plannedTrials(job) ?? 0
  if (!endings[state] || planned <= made) return []
  return line(`${endings[state]}: there are ${made.toLocaleString('en-US')} of ${countOf(planned, 'attempt')}`)
}

/** What jobs that are compared do not tell, so that it may differ. */
export const untold = (jobs: readonly BenchmarkJob[]): Incomparability[] => {
  const line = (what: string, isTold: (job: BenchmarkJob) => unknown): Incomparability[] => {
    const silent = jobs.filter((job) => !isTold(job)).map(({ name }) => cutPart(name))
    return silent.length === 0 || jobs.length < 2
      ? []
      : [{ kind: 'source', text: `${what} may differ: not told of ${silent.join(', ')}` }]
  }
  return [
    ...line('Attempts, timeouts and the configuration of agents', ({ job_spec }) => job_spec),
    ...line('The source', ({ job_source }) => job_source),
  ]
}

const scenarios = (
  jobs: readonly BenchmarkJob[],
  agents: readonly AgentIdentity[],
  excluded: CompareReport['excluded_scenarios'],
): Incomparability[] => {
  if (excluded.length === 0) return []
  const lines = jobs.flatMap(({ id, name }) => {
    const own = agents.filter(({ job_id }) => job_id === id)
    const absent = excluded.filter(({ missing_from }) => {
      const none = missing_from.filter(({ job_id, why }) => job_id === id && why === 'no_outcome')
      return own.length > 0 && none.length === own.length
    })
    return absent.length === 0 ? [] : [`${absent.length} not in ${name}`]
  })
  const names = excluded.map(({ scenario_name }) => scenario_name)
  const changed = new Set(names.filter((name, i) => names.indexOf(name) !== i)).size
  return [
    {
      kind: 'scenarios',
      text: [
        `${countOf(excluded.length, 'scenario has', 'scenarios have')} no score of some agents, which are compared without ${excluded.length === 1 ? 'it' : 'them'}`,
        ...(lines.length > 0 ? [lines.join(', ')] : []),
        ...(changed > 0 ? [`${changed} of them by name only: their definitions differ`] : []),
      ].join('; '),
    },
  ]
}

const differing = (
  kind: Incomparability['kind'],
  label: string,
  jobs: readonly BenchmarkJob[],
  shown: (job: BenchmarkJob) => string | number | undefined,
): Incomparability[] => {
  const values = jobs.map((job) => ({ name: job.name, value: shown(job) })).filter(({ value }) => value !== undefined)
  if (new Set(values.map(({ value }) => value)).size < 2) return []
  return [{ kind, text: `${label}: ${values.map(({ name, value }) => `${value} in ${name}`).join(', ')}` }]
}

const mostNamed = 3

/** Scenarios whose environment was the one they ask for in some of the jobs and another in others. */
const environments = (jobs: readonly BenchmarkJob[]): Incomparability[] => {
  const found = new Map<string, Map<string, boolean>>()
  for (const { id, benchmark_outcomes } of jobs)
    for (const { scenario_outcomes } of benchmark_outcomes ?? [])
      for (const { scenario_name, scenario_definition_id, environment_differs } of scenario_outcomes) {
        const name = scenario_name.trim() || scenario_definition_id
        const differs = found.get(name) ?? new Map<string, boolean>()
        differs.set(id, (differs.get(id) ?? false) || environment_differs === true)
        found.set(name, differs)
      }
  const names = [...found].filter(([, differs]) => new Set(differs.values()).size > 1).map(([name]) => name)
  if (names.length === 0) return []
  const some = names.slice(0, mostNamed).join(', ')
  const more = names.length > mostNamed ? ` and ${names.length - mostNamed} more` : ''
  return [
    {
      kind: 'environment',
      text: `The environment is the one the task asks for in some of the jobs only, at ${some}${more}`,
    },
  ]
}

const sourceOf = ({ job_source: source }: BenchmarkJob): string | undefined =>
  source ? [source.type, source.benchmark_name ?? source.benchmark_id].filter(Boolean).join(' ') : undefined

/** Agents that bear one name and model in several jobs and are set up differently. */
const sameAgents = (jobs: readonly BenchmarkJob[]): Incomparability[] => {
  const byName = new Map<string, { job: string; agent: AgentConfig }[]>()
  for (const { name: job, job_spec } of jobs)
    for (const agent of job_spec?.agent_configs ?? []) {
      const name = agentLabel({ name: agent.name, model: agent.model_name })
      byName.set(name, [...(byName.get(name) ?? []), { job, agent }])
    }
  return [...byName].flatMap(([name, found]) => {
    const differs = (of: (agent: AgentConfig) => unknown) =>
      new Set(found.map(({ agent }) => JSON.stringify(sorted(of(agent) ?? null)))).size > 1
    const timeouts = found.map(({ job, agent }) => `${agent.timeout_seconds ?? 'none'} in ${job}`).join(', ')
    return [
      ...(differs(({ timeout_seconds }) => timeout_seconds)
        ? [{ kind: 'timeouts' as const, text: `Timeout of ${name} in seconds: ${timeouts}` }]
        : []),
      ...(differs(({ agent_environment }) => agent_environment?.environment_variables ?? {})
        ? [{ kind: 'environment' as const, text: `Environment variables of ${name} differ: ${variables(found)}` }]
        : []),
      ...(differs(({ agent_environment }) => agent_environment?.secrets ?? {})
        ? [{ kind: 'environment' as const, text: `${name} is given other secrets` }]
        : []),
      ...(differs(({ kwargs }) => kwargs ?? {})
        ? [{ kind: 'agents' as const, text: `${name} has other arguments` }]
        : []),
    ]
  })
}

/** Their names alone: a value may be a secret. */
const variables = (found: readonly { agent: AgentConfig }[]): string => {
  const all = found.map(({ agent }) => agent.agent_environment?.environment_variables ?? {})
  const names = [...new Set(all.flatMap((each) => Object.keys(each)))].sort()
  return names.filter((name) => new Set(all.map((each) => each[name])).size > 1).join(', ')
}

/** Equal values as equal text, whatever order their keys came in. */
const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, each]) => [key, sorted(each)]),
  )
}
