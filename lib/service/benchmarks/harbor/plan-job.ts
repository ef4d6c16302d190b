import type { AgentConfig } from '#lib/contract/benchmark-jobs.ts'
import { ServiceError } from '#lib/service/kit/errors.ts'
import type { JobWarning } from '#lib/service/store/benchmark-jobs.ts'
import type { ScenarioStore } from '#lib/service/store/scenarios.ts'
import type { Stores } from '#lib/service/store/stores.ts'
import { type HarborAgent, type HarborPart, type HarborScenario, type PlannedJob, planRefusal } from '../plan.ts'
import { readJobFile } from './job-file.ts'
import { readTask } from './task.ts'
import type { YamlProblem } from './yaml-source.ts'

interface Surroundings {
  datasetRoots: readonly string[]
  isolation: 'bubblewrap' | 'none'
  store: Pick<Stores, 'secrets' | 'scenarios'>
}

const field = 'spec.inline_yaml'

/** Plans the job that a Harbor job file asks for. Throws one 400 with every problem, each at its line and key. */
export const planHarborJob = async (
  { datasetRoots, isolation, store }: Surroundings,
  account: string,
  yaml: string,
): Promise<PlannedJob> => {
  const hasSecret = (name: string) => store.secrets.missing(account, [name]).length === 0
  const { job, problems } = await readJobFile(yaml, { account, datasetRoots, hasSecret })
  if (problems) throw planRefusal(problems.map((problem) => ({ field, message: sentenceOf(problem) })))
  if (isolation === 'none')
    throw new ServiceError(
      'invalid_argument',
      `${field}: Harbor tasks need folders like /app and /tests of their own, which devboxes have under bubblewrap only`,
      { field, shouldRetry: false },
    )
  const { name, quiet, plan, harbor } = job
  return {
    name,
    warnings: jobWarnings(harbor),
    source: { type: 'harbor', inline_yaml: yaml },
    spec: {
      scenario_ids: plan.scenarios.map(({ id }) => id),
      agent_configs: harbor.agents.map(agentConfigOf),
      orchestrator_config: {
        n_concurrent_trials: plan.concurrentTrials,
        n_attempts: plan.attempts,
        timeout_multiplier: harbor.settings.timeoutMultiplier,
        quiet,
      },
    },
    plan: { ...plan, harbor },
  }
}

/** Those of the job file, then those of its tasks, each once. */
const jobWarnings = ({ warnings, scenarios }: HarborPart): JobWarning[] => {
  const tasksOf = new Map<string, string[]>()
  for (const scenario of scenarios)
    for (const sentence of scenario.warnings) {
      const tasks = tasksOf.get(sentence)
      if (tasks) tasks.push(scenario.name)
      else tasksOf.set(sentence, [scenario.name])
    }
  return [
    ...warnings.map((sentence) => ({ sentence, tasks: [] })),
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

/** Makes a scenario of each task that has none yet, so that the ids in the job's spec can be read. */
export const keepTasksAsScenarios = async (
  store: ScenarioStore,
  account: string,
  { scenarios }: HarborPart,
): Promise<void> => {
  for (const scenario of scenarios) {
    if (store.get(account, scenario.id)) continue
    const { task } = await readTask(scenario.path)
    if (store.get(account, scenario.id)) continue
    store.insert({ account, create_time_ms: Date.now(), hidden: true, ...asScenario(scenario, task?.steps ?? []) })
  }
}

const asScenario = ({ id, name, source, checksum }: HarborScenario, steps: readonly { instruction: string }[]) => ({
  id,
  name,
  input_context: { problem_statement: steps.map(({ instruction }) => instruction).join('\n\n') },
  metadata: { harbor_checksum: checksum, ...(source !== null && { harbor_dataset: source }) },
  scoring_contract: {
    scoring_function_parameters: [
      { name: 'verifier', weight: 1, scorer: { type: 'command_scorer' as const, command: '/tests/test.sh' } },
    ],
  },
})
