import { join } from 'node:path'
import * as z from 'zod/mini'
import type { AgentConfig } from '#lib/contract/benchmark-jobs.ts'
import type { AgentRecord, RunFailure } from '#lib/service/domain/benchmark-jobs.ts'
import { unknownUsage } from '../agents/usage.ts'
import { combine, rewardOf } from '../harbor/rewards.ts'
import { type Outcome, outcomeOf, type Rewards } from '../outcome.ts'
import type { ForeignAgent, ForeignTrial } from './foreign-job.ts'
import { OptionalCount, OptionalText, optional, readJson, timeOf } from './json-file.ts'
import { toHarborRecord } from './terminal-bench.ts'

/** `{rewards: {reward: 1}}`, in older versions `{reward: 1}` or `{rewards: 1}`. */
const Verified = optional(z.object({ rewards: optional(z.unknown()), reward: optional(z.unknown()) }))
const Failure = optional(
  z.union([
    z.object({ exception_type: z.string(), exception_message: z.catch(z._default(z.string(), ''), '') }),
    // As Python prints an exception.
    z.pipe(
      z.string().check(z.regex(/^[\w.]+/)),
      z.transform((text: string) => failureIn(text)),
    ),
  ]),
)
const Used = optional(
  z.object({
    n_input_tokens: OptionalCount,
    n_cache_tokens: OptionalCount,
    n_output_tokens: OptionalCount,
    cost_usd: optional(z.number().check(z.minimum(0))),
  }),
)
type Used = z.output<typeof Used>
const Phase = optional(z.object({ started_at: OptionalText, finished_at: OptionalText }))

const Agent = optional(
  z.object({
    name: OptionalText,
    import_path: OptionalText,
    model_name: OptionalText,
    override_timeout_sec: optional(z.number()),
    kwargs: optional(z.record(z.string(), z.unknown())),
  }),
)
/** By folder, by name or both, depending on the version. */
const Task = optional(z.object({ path: OptionalText, name: OptionalText, source: OptionalText, git_url: OptionalText }))

const Config = z.object({ trial_name: OptionalText, task: z.catch(z.union([z.string(), Task]), null), agent: Agent })
type Config = z.output<typeof Config>

const Result = z.object({
  id: OptionalText,
  task_name: OptionalText,
  task_id: optional(z.union([z.string(), z.object({ path: OptionalText, name: OptionalText })])),
  trial_name: OptionalText,
  source: OptionalText,
  task_checksum: OptionalText,
  attempt: OptionalCount,
  config: optional(Config),
  agent_info: optional(
    z.object({
      name: OptionalText,
      version: OptionalText,
      model_info: optional(z.object({ name: OptionalText, provider: OptionalText })),
    }),
  ),
  agent_result: Used,
  verifier_result: Verified,
  exception_info: Failure,
  started_at: OptionalText,
  finished_at: OptionalText,
  environment_setup: Phase,
  verifier: Phase,
  step_results: optional(
    z.array(
      z.object({ step_name: OptionalText, agent_result: Used, verifier_result: Verified, exception_info: Failure }),
    ),
  ),
  warnings: optional(z.array(z.string())),
  environment_differs: optional(z.boolean()),
  engine: OptionalText,
})
type Result = z.output<typeof Result>

interface Options {
  jobAgents?: readonly AgentConfig[]
  prefix?: string
  jobRecord?: unknown
}

type Read = { trial: Omit<ForeignTrial, 'logs' | 'logFolder'>; id: string | null } | { problem: string }

/** Reads a trial's folder; `prefix` precedes the file names. */
export const readHarborTrial = async (
  folder: string,
  name: string,
  { jobAgents = [], prefix = '', jobRecord }: Options = {},
): Promise<Read> => {
  const read = await resultOf(folder, prefix, jobRecord)
  if ('problem' in read) return { problem: `result.json ${read.problem}` }
  const { data: result } = Result.safeParse(read.value)
  if (!result) return { problem: 'result.json is not a trial record' }
  const configFile =
    result.config === null
      ? await readJson(join(folder, `${prefix}config.json`))
      : { value: (read.value as { config: unknown }).config }
  const config = ('value' in configFile && Config.safeParse(configFile.value).data) || null
  const warnings = [...(result.warnings ?? [])]
  const { rewards, dropped } = rewardsOf(result)
  // A failed step without a reward ended the trial.
  const stepFailure = result.step_results?.findLast(({ exception_info }) => exception_info)?.exception_info ?? null
  const failure = result.exception_info ?? (rewards ? null : stepFailure)
  const hasEnded = result.finished_at !== null || result.verifier !== null
  if (!rewards && !failure && dropped.length === 0 && !hasEnded)
    return { problem: 'result.json has neither a reward nor an end: it was still running' }
  if (dropped.length > 0) warnings.push(`rewards that are not numbers are ignored: ${dropped.join(', ')}`)
  const task = taskOf(result, config, name)
  const agent = agentOf(result, config, jobAgents.length === 1 ? jobAgents[0] : undefined)
  if (!task) return { problem: 'neither result.json nor config.json names its task' }
  if (rewards === null && failure === null) warnings.push('its files contain neither a reward nor an exception')
  const startedMs = timeOf(result.started_at) ?? timeOf(result.environment_setup?.started_at ?? null)
  const endedMs = timeOf(result.finished_at) ?? timeOf(result.verifier?.finished_at ?? null)
  return {
    id: result.id,
    trial: {
      name: result.trial_name ?? config?.trial_name ?? name,
      agent,
      task,
      ...(result.attempt !== null && { attempt: result.attempt }),
      startedMs,
      // The clock was set back.
      endedMs: startedMs !== null && endedMs !== null && endedMs < startedMs ? null : endedMs,
      rewards,
      judge: (metric) => importedOutcome(rewards, failure, metric),
      warnings,
      environmentDiffers: result.environment_differs ?? false,
      engine: result.engine,
      record: recordOf(result),
    },
  }
}

/** Terminal-Bench 1 writes results.json. */
const resultOf = async (folder: string, prefix: string, jobRecord: unknown): ReturnType<typeof readJson> => {
  const read = await readJson(join(folder, `${prefix}result.json`))
  if ('value' in read) return read
  const older = await readJson(join(folder, `${prefix}results.json`))
  if ('value' in older) return { value: toHarborRecord(older.value) }
  return jobRecord === undefined ? read : { value: jobRecord }
}

interface FoundRewards {
  rewards: Rewards | null
  dropped: string[]
}

const noRewards: FoundRewards = { rewards: null, dropped: [] }

const rewardsOf = ({ verifier_result, step_results }: Result): FoundRewards => {
  const whole = verified(verifier_result)
  if (whole.rewards || !step_results) return whole
  const ofSteps = step_results.map((step) => verified(step.verifier_result).rewards)
  const rewards = combine(ofSteps, 'mean')
  return rewards ? { rewards, dropped: [] } : whole
}

const verified = (result: Result['verifier_result']): FoundRewards => {
  if (!result) return noRewards
  const { rewards, reward } = result
  if (typeof rewards === 'object' && rewards !== null) return numbersOf(rewards)
  const only = rewards ?? reward
  return numbersOf(only === null ? {} : { reward: only })
}

const numbersOf = (found: object): FoundRewards => {
  const read = Object.entries(found).map(([name, value]) => [name, rewardOf(value)] as const)
  const numbers = read.filter((each): each is [string, number] => each[1] !== undefined)
  const dropped = read.filter(([, value]) => value === undefined).map(([name]) => name)
  return { rewards: numbers.length > 0 ? Object.fromEntries(numbers) : null, dropped }
}

const failureIn = (line: string): RunFailure => {
  const [type = '', ...message] = line.split(':')
  return { exception_type: type.trim().split('.').at(-1) as string, exception_message: message.join(':').trim() }
}

const taskOf = (result: Result, config: Config | null, trialName: string) => {
  const task = typeof config?.task === 'string' ? { name: config.task, path: null, source: null } : config?.task
  const name =
    result.task_name ??
    task?.name ??
    folderName(task?.path) ??
    (typeof result.task_id === 'string'
      ? result.task_id
      : (result.task_id?.name ?? folderName(result.task_id?.path))) ??
    // `<first 32 characters of the task>__<7 characters>`; other tools append a number.
    (/^(.+)__[A-Za-z0-9]{1,7}$/.exec(trialName)?.[1] || null)
  if (!name) return undefined
  return { name, source: result.source ?? task?.source ?? null, checksum: result.task_checksum }
}

const folderName = (path: string | null | undefined) => path?.split(/[\\/]/).findLast(Boolean)

/** A custom agent has its name only in the result, and in some versions its import path as its configured name. */
const agentOf = ({ agent_info }: Result, config: Config | null, onlyAgent: AgentConfig | undefined): ForeignAgent => {
  const agent = config?.agent
  const configuredName = agent?.name?.includes(':') ? (agent_info?.name ?? agent.name) : agent?.name
  const name = configuredName ?? agent_info?.name ?? (agent && (onlyAgent?.name ?? agent.import_path))
  if (!name && onlyAgent) return onlyAgent
  const model = agent_info?.model_info
  const named = model?.name && model.provider ? `${model.provider}/${model.name}` : (model?.name ?? null)
  const kwargs = agent?.kwargs ?? {}
  return {
    name: name || null,
    type: 'job_agent',
    model_name: agent?.model_name ?? named,
    ...(agent?.override_timeout_sec && { timeout_seconds: agent.override_timeout_sec }),
    ...(Object.keys(kwargs).length > 0 && { kwargs }),
  }
}

/** Like Harbor, counts the reward of a verified trial whatever else failed, even where this service would not. */
const importedOutcome = (rewards: Rewards | null, failure: RunFailure | null, metric: string | null): Outcome => {
  const outcome = outcomeOf(rewards, failure, metric)
  if (rewards === null || outcome.state === 'COMPLETED' || failure?.exception_type === 'AgentTimeoutError')
    return outcome
  return { ...outcomeOf(rewards, null, metric), failure_reason: failure }
}

const recordOf = ({ agent_info, agent_result, step_results }: Result): AgentRecord => {
  const used = (agent_result ? [agent_result] : (step_results ?? []).map((step) => step.agent_result)).filter(
    (each) => each !== null,
  )
  const total = (name: keyof NonNullable<Used>) => {
    const known = used.map((each) => each[name]).filter((value) => value !== null)
    return known.length > 0 ? known.reduce((sum, value) => sum + value, 0) : null
  }
  const usage = {
    n_input_tokens: total('n_input_tokens'),
    n_cache_tokens: total('n_cache_tokens'),
    n_output_tokens: total('n_output_tokens'),
    cost_usd: total('cost_usd'),
  }
  const isKnown = Object.values(usage).some((value) => value !== null)
  return {
    version: agent_info?.version ?? null,
    usage: isKnown ? { ...usage, unknown_because: null } : unknownUsage('the imported files do not report it'),
    trajectories: [],
  }
}
