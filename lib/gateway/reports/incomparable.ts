import { isDeepStrictEqual } from 'node:util'
import type { AgentConfig, BenchmarkJob } from '#lib/contract/benchmark-jobs.ts'
import { attemptsOf, plannedTrials } from '#lib/protocol/job-plan.ts'
import { agentLabel, countOf, truncate } from '#lib/protocol/report-words.ts'
import type { AgentIdentity, CompareReport, Incomparability } from '#lib/protocol/reports.ts'
import { endings } from './job-verdict.ts'
import { isComplete } from './judged-job.ts'

/** Lists what makes a comparison of these jobs unfair, most important first. */
export const incomparabilities = (
  compared: readonly BenchmarkJob[],
  { agents, excluded_scenarios }: Pick<CompareReport, 'excluded_scenarios'> & { agents: readonly AgentIdentity[] },
): Incomparability[] => {
  const jobs = withShortNames(compared)
  return [
    ...jobs.flatMap(incomplete),
    ...scenarios(jobs, agents, excluded_scenarios),
    ...environments(jobs),
    ...settingsOf(jobs)
      .filter(({ values }) => new Set(values.filter((value) => value !== undefined)).size > 1)
      .map(({ kind, label, values }) => ({ kind, text: `${label}: ${inJobs(values, jobs)}` })),
    ...sameAgents(jobs),
  ]
}

const withShortNames = (jobs: readonly BenchmarkJob[]) => jobs.map((job) => ({ ...job, name: truncate(job.name) }))

/** Settings that all jobs share, and settings that some don't report. Empty for a single job, whose agents share all settings. */
export const comparability = (compared: readonly BenchmarkJob[]): Pick<CompareReport, 'same' | 'not_reported'> => {
  if (compared.length < 2) return { same: [], not_reported: [] }
  const jobs = withShortNames(compared)
  const settings = settingsOf(jobs)
  const isReported = ({ values }: Setting) => values.every((value) => value !== undefined)
  const isSame = (setting: Setting) => isReported(setting) && new Set(setting.values).size === 1
  return {
    same: settings.filter((setting) => isSame(setting) && setting.isUsual).map(({ label }) => label),
    not_reported: settings
      .filter(
        (setting) =>
          !isReported(setting) &&
          (setting.isUsual || setting.values.some((value) => value !== undefined && value !== unset)),
      )
      .map(({ label, values }) => `${label}: ${inJobs(values, jobs)}`),
  }
}

interface Setting {
  kind: Incomparability['kind']
  label: string
  values: readonly (string | undefined)[]
  isUsual: boolean
}

const unset = 'unset'

const inJobs = (values: Setting['values'], jobs: readonly BenchmarkJob[]): string =>
  values.every((value) => value === undefined)
    ? 'not reported'
    : values.map((value, at) => `${value ?? 'not reported'} in ${jobs[at]?.name}`).join(', ')

const settingsOf = (jobs: readonly BenchmarkJob[]): Setting[] => {
  const usual = (
    kind: Setting['kind'],
    label: string,
    of: (job: BenchmarkJob) => string | number | null | undefined,
  ): Setting => ({ kind, label, values: jobs.map((job) => of(job)?.toString()), isUsual: true })
  const keys = [...new Set(jobs.flatMap(({ settings }) => Object.keys(settings ?? {})))]
  const metric = usual('metric', 'Metric', ({ judged_metric }) => judged_metric)
  return [
    // Without rewards, the scenarios define the scoring.
    ...(metric.values.some((value) => value !== undefined) ? [metric] : []),
    usual('attempts', 'Attempts per scenario', (job) => attemptsOf(job)),
    usual('timeouts', 'Timeout multiplier', timeoutMultiplier),
    usual('environment', 'Environment type', ({ settings }) => settingOf(settings?.[environmentType])),
    usual('source', 'Source', sourceOf),
    ...keys
      .filter((key) => key !== 'timeout_multiplier' && key !== environmentType)
      .map((key) => ({
        kind: kindOf(key),
        label: key,
        values: jobs.map(({ settings }) => settingOf(settings?.[key])),
        isUsual: false,
      })),
  ]
}

const environmentType = 'environment.type'

const timeoutMultiplier = ({ settings, job_spec }: BenchmarkJob): string | undefined =>
  settingOf(settings?.timeout_multiplier ?? job_spec?.orchestrator_config?.timeout_multiplier ?? undefined)

/** Null means unset; undefined means unknown. */
const settingOf = (value: unknown): string | undefined =>
  value === undefined
    ? undefined
    : value === null
      ? unset
      : truncate(typeof value === 'string' ? value : JSON.stringify(value))

const kindOf = (key: string): Incomparability['kind'] => {
  if (/timeout/.test(key)) return 'timeouts'
  return key.startsWith('agent.') ? 'agents' : 'environment'
}

const incomplete = (job: BenchmarkJob): Incomparability[] => {
  const { name, state, benchmark_outcomes } = job
  const line = (text: string): Incomparability[] => [{ kind: 'incomplete', text: `${name} ${text}` }]
  if (!isComplete(job)) return line(`is ${state} and may still get outcomes`)
  const made = (benchmark_outcomes ?? []).reduce((sum, { scenario_outcomes }) => sum + scenario_outcomes.length, 0)
  const planned = plannedTrials(job) ?? 0
  if (planned <= made || (made === 0 && !endings[state])) return []
  const counts = `${made.toLocaleString('en-US')} of ${countOf(planned, 'attempt')}`
  return line(`${endings[state] ?? 'is incomplete'}: ${counts} have an outcome`)
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
    return absent.length === 0 ? [] : [`${absent.length} missing in ${name}`]
  })
  const names = excluded.map(({ scenario_name }) => scenario_name)
  const changed = new Set(names.filter((name, i) => names.indexOf(name) !== i)).size
  return [
    {
      kind: 'scenarios',
      text: [
        `${countOf(excluded.length, 'scenario lacks', 'scenarios lack')} a score for some agents and ${excluded.length === 1 ? 'is' : 'are'} excluded from their comparison`,
        ...(lines.length > 0 ? [lines.join(', ')] : []),
        ...(changed > 0 ? [`${changed} with different definitions under the same name`] : []),
      ].join('; '),
    },
  ]
}

const maxNamed = 3

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
  const more = names.length > maxNamed ? ` and ${names.length - maxNamed} more` : ''
  const some = names.slice(0, maxNamed).join(', ')
  return [{ kind: 'environment', text: `Requested environment available in only some jobs: ${some}${more}` }]
}

const sourceOf = ({ job_source: source }: BenchmarkJob): string | undefined =>
  source ? [source.type, source.benchmark_name ?? source.benchmark_id].filter(Boolean).join(' ') : undefined

const sameAgents = (jobs: readonly BenchmarkJob[]): Incomparability[] => {
  const byName = new Map<string, { job: string; agent: AgentConfig }[]>()
  for (const { name: job, job_spec } of jobs)
    for (const agent of job_spec?.agent_configs ?? []) {
      const name = agentLabel({ name: agent.name, model: agent.model_name })
      byName.set(name, [...(byName.get(name) ?? []), { job, agent }])
    }
  return [...byName].flatMap(([name, found]) => {
    const unless = (of: (agent: AgentConfig) => unknown, kind: Incomparability['kind'], text: () => string) =>
      found.every(({ agent }) => isDeepStrictEqual(of(agent), of((found[0] as (typeof found)[0]).agent)))
        ? []
        : [{ kind, text: text() }]
    const timeouts = () =>
      found.map(({ job, agent }) => `${agent.timeout_seconds ?? 'not reported'} in ${job}`).join(', ')
    return [
      ...unless(
        ({ timeout_seconds }) => timeout_seconds ?? null,
        'timeouts',
        () => `Timeout of ${name} in seconds: ${timeouts()}`,
      ),
      ...unless(
        ({ agent_environment }) => agent_environment?.environment_variables ?? {},
        'environment',
        () => `Environment variables of ${name} differ: ${variables(found)}`,
      ),
      ...unless(
        ({ agent_environment }) => agent_environment?.secrets ?? {},
        'environment',
        () => `Secrets of ${name} differ`,
      ),
      ...unless(
        ({ kwargs }) => kwargs ?? {},
        'agents',
        () => `Arguments of ${name} differ`,
      ),
    ]
  })
}

/** Names only: a value may be secret. */
const variables = (found: readonly { agent: AgentConfig }[]): string => {
  const all = found.map(({ agent }) => agent.agent_environment?.environment_variables ?? {})
  const names = [...new Set(all.flatMap((each) => Object.keys(each)))].sort()
  return names.filter((name) => new Set(all.map((each) => each[name])).size > 1).join(', ')
}
