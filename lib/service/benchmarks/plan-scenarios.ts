import { type BenchmarkJobSpec, maxConcurrentTrials } from '#lib/contract/benchmark-jobs.ts'
import type { FieldProblem } from '#lib/contract/query-string.ts'
import type { Scenario } from '#lib/contract/scenarios.ts'
import { unmetNeeds } from '#lib/service/domain/run-profile.ts'
import type { Stores } from '#lib/service/store/stores.ts'
import { agentProblems } from './agents/agents.ts'
import type { AgentDefinition } from './agents/definition.ts'
import { type NamedAgents, secretsFor } from './agents/named-agents.ts'
import { maxTrialsPerJob, type PlannedJob, planError, profileOf, type RetryPolicy } from './plan.ts'
import { devboxEnvironment, settingsOf } from './settings.ts'

type Spec = Exclude<BenchmarkJobSpec, { type: 'harbor' }>
type Report = (field: string, message: string) => void
type PlanStore = Pick<Stores, 'benchmarks' | 'scenarios' | 'secrets'>

/** Plans a job from scenarios or a benchmark. Throws one 400 with every problem. */
export const planScenarios = (store: PlanStore, account: string, spec: Spec, namedAgents: NamedAgents): PlannedJob => {
  const problems: FieldProblem[] = []
  const report: Report = (field, message) => problems.push({ field: `spec.${field}`, message })
  const { ids, scenarios, benchmark } = scenariosOf(store, account, spec, report)
  const { agents, definitions } = agentsOf(store, account, spec, namedAgents, {
    requirers: [...scenarios, ...(benchmark ? [benchmark] : [])],
    report,
  })
  const orchestrator = orchestratorOf(spec, report)
  if (problems.length > 0) throw planError(problems)
  const trials = ids.length * agents.length
  if (trials > maxTrialsPerJob)
    throw planError([{ field: 'spec', message: `makes ${trials} trials; the limit is ${maxTrialsPerJob}` }])
  return {
    name: null,
    warnings: [],
    source:
      spec.type === 'benchmark'
        ? { type: 'benchmark', benchmark_id: spec.benchmark_id, benchmark_name: benchmark?.name ?? null }
        : { type: 'scenarios', scenario_ids: spec.scenario_ids },
    spec: { scenario_ids: [...ids], agent_configs: agents, orchestrator_config: orchestrator },
    settings: settingsOf({ environment: devboxEnvironment }),
    plan: {
      scenarios: scenarios.map(({ id, name }) => ({ id, name })),
      attempts: 1,
      concurrentTrials: orchestrator.n_concurrent_trials,
      // Here n_attempts counts retries on failure; in Harbor it counts attempts.
      retry: { ...retryAnyFailure, maxRetries: orchestrator.n_attempts },
      timeoutMultiplier: orchestrator.timeout_multiplier,
      benchmarkId: benchmark?.id ?? null,
      agents: definitions,
      harbor: null,
    },
  }
}

const scenariosOf = (store: PlanStore, account: string, spec: Spec, report: Report) => {
  const benchmark = spec.type === 'benchmark' ? store.benchmarks.get(account, spec.benchmark_id) : undefined
  if (spec.type === 'benchmark') {
    if (!benchmark) report('benchmark_id', `there is no benchmark ${JSON.stringify(spec.benchmark_id)}`)
    else if (benchmark.status === 'archived') report('benchmark_id', `benchmark ${benchmark.id} is archived`)
    else if (benchmark.scenarioIds.length === 0) report('benchmark_id', `benchmark ${benchmark.id} has no scenarios`)
  }
  const ids = spec.type === 'benchmark' ? (benchmark?.scenarioIds ?? []) : spec.scenario_ids
  const fieldOf = (i: number) => (spec.type === 'benchmark' ? 'benchmark_id' : `scenario_ids[${i}]`)
  if (spec.type === 'scenarios' && ids.length === 0) report('scenario_ids', 'must list at least one scenario')
  if (ids.length > maxScenarios) report('scenario_ids', `must list at most ${maxScenarios} scenarios`)
  const scenarios: Scenario[] = []
  for (const [i, id] of ids.entries()) {
    const scenario = store.scenarios.get(account, id)
    if (ids.indexOf(id) < i) report(fieldOf(i), `lists scenario ${id} twice; use n_attempts to repeat scenarios`)
    else if (!scenario) report(fieldOf(i), `there is no scenario ${JSON.stringify(id)}`)
    else if (scenario.status === 'archived') report(fieldOf(i), `scenario ${id} is archived`)
    else scenarios.push(scenario)
  }
  return { ids, scenarios, benchmark }
}

const agentsOf = (
  store: PlanStore,
  account: string,
  spec: Spec,
  namedAgents: NamedAgents,
  { requirers, report }: { requirers: readonly Parameters<typeof unmetNeeds>[0][]; report: Report },
) => {
  const agents = [...spec.agent_configs]
  const definitions: (AgentDefinition | null)[] = []
  const hasSecret = (name: string) => store.secrets.missing(account, [name]).length === 0
  if (agents.length === 0) report('agent_configs', 'must list at least one agent')
  if (agents.length > maxAgents) report('agent_configs', `must list at most ${maxAgents} agents`)
  for (const [i, agent] of agents.slice(0, maxAgents).entries()) {
    const reportHere: Report = (field, message) => report(`agent_configs[${i}].${field}`, message)
    for (const { field, message } of agentProblems(agent, namedAgents)) reportHere(field, message)
    const definition = agent.kwargs?.command === undefined ? (namedAgents.find(agent.name)?.definition ?? null) : null
    definitions.push(definition)
    const given = profileOf(agent)
    const [variables, secrets] = [given.envVars ?? {}, given.secrets ?? {}]
    const needed = definition && secretsFor(definition, { modelName: agent.model_name, variables, secrets }, hasSecret)
    for (const { field, message } of needed?.problems ?? [])
      reportHere(field === 'secrets' ? 'agent_environment.secrets' : field, message)
    const profile = { ...given, secrets: { ...needed?.secrets, ...secrets } }
    // The job's record lists the secrets, whoever chose them.
    if (needed && Object.keys(needed.secrets).length > 0)
      agents[i] = { ...agent, agent_environment: { ...agent.agent_environment, secrets: profile.secrets } }
    const missing = store.secrets.missing(account, [...new Set(Object.values(profile.secrets ?? {}))])
    for (const name of missing) reportHere('agent_environment.secrets', `there is no secret ${name}`)
    const unmet = requirers.flatMap((each) => unmetNeeds(each, profile))
    for (const message of new Set(unmet.map((each) => each.message))) reportHere('agent_environment', message)
  }
  return { agents, definitions }
}

const orchestratorOf = ({ orchestrator_config }: Spec, report: Report) => {
  const { n_concurrent_trials, n_attempts, timeout_multiplier, quiet } = orchestrator_config ?? {}
  const config = {
    n_concurrent_trials: n_concurrent_trials ?? 1,
    n_attempts: n_attempts ?? 0,
    timeout_multiplier: timeout_multiplier ?? 1,
    quiet: quiet ?? false,
  }
  for (const [field, { min, max }] of Object.entries(ranges)) {
    const value = config[field as keyof typeof ranges]
    if (!(value >= min && value <= max))
      report(`orchestrator_config.${field}`, `must be a number from ${min} to ${max}`)
  }
  return config
}

/** Unspecified: the limits of a job. */
const maxScenarios = 5000
const maxAgents = 64
const ranges = {
  n_concurrent_trials: { min: 1, max: maxConcurrentTrials },
  n_attempts: { min: 0, max: 100 },
  timeout_multiplier: { min: 0.001, max: 1000 },
} as const

/** Unspecified: the delay of a retry. One second, Harbor's default. */
const retryAnyFailure: Omit<RetryPolicy, 'maxRetries'> = {
  include: null,
  exclude: [],
  waitMultiplier: 1,
  minWaitSeconds: 1,
  maxWaitSeconds: 60,
}
