import type { AgentConfig } from '#lib/contract/benchmark-jobs.ts'
import type { Isolation } from '#lib/service/engine/box.ts'
import { ServiceError } from '#lib/service/kit/errors.ts'
import type { JobWarning } from '#lib/service/store/benchmark-jobs.ts'
import type { ScenarioStore } from '#lib/service/store/scenarios.ts'
import type { Stores } from '#lib/service/store/stores.ts'
import type { NamedAgents } from '../agents/named-agents.ts'
import {
  type HarborAgent,
  type HarborPart,
  type HarborScenario,
  type JobPlan,
  type PlannedJob,
  planError,
} from '../plan.ts'
import { devboxEnvironment, type RunConfig, settingsOf } from '../settings.ts'
import { readJobFile } from './job-file.ts'
import { readTasks } from './job-tasks.ts'
import type { EnvironmentOptions } from './task-environment.ts'
import type { YamlProblem } from './yaml-source.ts'

interface PlanOptions {
  datasetRoots: readonly string[]
  isolation: Isolation
  hasImages: boolean
  store: Pick<Stores, 'secrets' | 'scenarios'>
  namedAgents: NamedAgents
}

const field = 'spec.inline_yaml'

export const planHarborJob = async (
  { datasetRoots, isolation, hasImages, store, namedAgents }: PlanOptions,
  account: string,
  yaml: string,
): Promise<PlannedJob> => {
  const hasSecret = (name: string) => store.secrets.missing(account, [name]).length === 0
  const { job, problems } = await readJobFile(yaml, { datasetRoots, hasSecret, namedAgents })
  if (problems) throw planError(problems.map((problem) => ({ field, message: sentenceOf(problem) })))
  if (isolation === 'none' && !hasImages)
    throw new ServiceError(
      'invalid_argument',
      `${field}: Harbor tasks need isolated devboxes (bubblewrap or a container engine), for folders like /app and /tests`,
      { field, shouldRetry: false },
    )
  const { name, quiet, plan, harbor } = job
  return {
    name,
    warnings: harbor.warnings.map((sentence) => ({ sentence, tasks: [] })),
    source: { type: 'harbor', inline_yaml: yaml },
    spec: {
      scenario_ids: [],
      agent_configs: harbor.agents.map(agentConfigOf),
      orchestrator_config: {
        n_concurrent_trials: plan.concurrentTrials,
        n_attempts: plan.attempts,
        timeout_multiplier: harbor.settings.timeoutMultiplier,
        quiet,
      },
    },
    plan: { ...plan, harbor },
    settings: settingsOf(runConfigOf(harbor)),
  }
}

const runConfigOf = ({ settings, agents }: HarborPart): RunConfig => ({
  timeout_multiplier: settings.timeoutMultiplier,
  agent_timeout_multiplier: settings.agentTimeoutMultiplier,
  verifier_timeout_multiplier: settings.verifierTimeoutMultiplier,
  environment_build_timeout_multiplier: settings.buildTimeoutMultiplier,
  environment: {
    ...devboxEnvironment,
    override_cpus: settings.environment.overrideCpus,
    override_memory_mb: settings.environment.overrideMemoryMb,
    override_storage_mb: settings.environment.overrideStorageMb,
    force_build: settings.environment.forceBuild,
  },
  verifier: {
    override_timeout_sec: settings.verifier.overrideTimeoutSeconds,
    max_timeout_sec: settings.verifier.maxTimeoutSeconds,
  },
  agents: agents.map(({ overrideTimeoutSeconds, maxTimeoutSeconds, kwargs }) => ({
    override_timeout_sec: overrideTimeoutSeconds,
    max_timeout_sec: maxTimeoutSeconds,
    kwargs,
  })),
})

export const readPlannedTasks = async (
  store: ScenarioStore,
  account: string,
  plan: JobPlan,
  { hasImages }: Pick<EnvironmentOptions, 'hasImages'>,
): Promise<{ plan: JobPlan; warnings: JobWarning[] }> => {
  const { harbor } = plan
  if (!harbor || harbor.unread.length === 0) return { plan, warnings: [] }
  const scenarios: HarborScenario[] = []
  const { forceBuild } = harbor.settings.environment
  for await (const part of readTasks(account, harbor.unread, { forceBuild, hasImages })) {
    store.insertMissing(
      part.map(({ scenario, instruction }) => ({
        account,
        create_time_ms: Date.now(),
        hidden: true,
        ...asScenario(scenario, instruction),
      })),
    )
    scenarios.push(...part.map(({ scenario }) => scenario))
  }
  const named = scenarios.map(({ id, name }) => ({ id, name }))
  const warnings = warningsOf(harbor, scenarios)
  return { plan: { ...plan, scenarios: named, harbor: { ...harbor, scenarios, unread: [] } }, warnings }
}

const warningsOf = ({ warnings, unread }: HarborPart, scenarios: readonly HarborScenario[]): JobWarning[] => {
  const tasksOf = new Map<string, string[]>()
  for (const scenario of scenarios)
    for (const sentence of scenario.warnings) {
      const tasks = tasksOf.get(sentence)
      if (tasks) tasks.push(scenario.name)
      else tasksOf.set(sentence, [scenario.name])
    }
  const duplicates = unread.length - scenarios.length
  return [
    ...warnings.map((sentence) => ({ sentence, tasks: [] })),
    ...(duplicates > 0 ? [{ sentence: `Duplicate tasks run once: ${duplicates} skipped`, tasks: [] }] : []),
    ...[...tasksOf].map(([sentence, tasks]) => ({ sentence, tasks })),
  ]
}

const sentenceOf = ({ line, column, path, message }: YamlProblem) =>
  `${line}:${column} ${path ? `${path}: ` : ''}${message}`

const agentConfigOf = ({ name, modelName, overrideTimeoutSeconds, kwargs, env }: HarborAgent): AgentConfig => ({
  name,
  type: 'job_agent',
  model_name: modelName,
  timeout_seconds: overrideTimeoutSeconds,
  kwargs,
  agent_environment: { environment_variables: env.variables, secrets: env.secrets },
})

const asScenario = ({ id, name, source, checksum, metadata }: HarborScenario, instruction: string) => ({
  id,
  name,
  input_context: { problem_statement: instruction },
  metadata: { ...metadata, harbor_checksum: checksum, ...(source !== null && { harbor_dataset: source }) },
  scoring_contract: {
    scoring_function_parameters: [
      { name: 'verifier', weight: 1, scorer: { type: 'command_scorer' as const, command: '/tests/test.sh' } },
    ],
  },
})
