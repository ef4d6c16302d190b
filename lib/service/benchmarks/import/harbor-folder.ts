import { createHash } from 'node:crypto'
import { basename, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import * as z from 'zod/mini'
import type { AgentConfig } from '#lib/contract/benchmark-jobs.ts'
import { countOf } from '#lib/service/kit/amounts.ts'
import type { Rewards } from '../outcome.ts'
import { type RunConfig, settingsOf } from '../settings.ts'
import { earliest, type ForeignAgent, type ForeignJob, type ForeignTrial, latest, NoJobError } from './foreign-job.ts'
import { readHarborTrial } from './harbor-trial.ts'
import { trialFolders } from './job-folders.ts'
import { OptionalCount, OptionalText, optional, readJson, timeOf } from './json-file.ts'
import { logsBelow } from './log-list.ts'
import { plannedTrials, terminalBenchRun, toHarborRecord } from './terminal-bench.ts'

const JobConfig = z.object({
  job_name: OptionalText,
  agents: optional(z.array(z.object({ name: OptionalText, model_name: OptionalText }))),
  metrics: optional(z.array(z.object({ type: OptionalText }))),
})

const Metrics = optional(z.union([z.array(z.record(z.string(), z.unknown())), z.record(z.string(), z.unknown())]))
const JobResult = z.object({
  id: OptionalText,
  started_at: OptionalText,
  finished_at: OptionalText,
  n_total_trials: OptionalCount,
  stats: optional(
    z.object({
      n_retries: OptionalCount,
      evals: optional(z.record(z.string(), z.object({ n_trials: OptionalCount, metrics: Metrics }))),
    }),
  ),
  // In some versions and in Terminal-Bench 1: copies of the trials' records.
  trial_results: optional(z.array(z.unknown())),
  results: optional(z.array(z.unknown())),
  accuracy: optional(z.number()),
})

/** Harbor may have summed floats in another order. */
const tolerance = 1e-9

export const readHarborFolder = async (folder: string, givenName: string): Promise<ForeignJob> => {
  const config = await documentOf(join(folder, 'config.json'), JobConfig)
  // Some versions write results.json.
  const [result, legacyResult] = [
    await documentOf(join(folder, 'result.json'), JobResult),
    await documentOf(join(folder, 'results.json'), JobResult),
  ]
  const known = 'value' in result ? result.value : 'value' in legacyResult ? legacyResult.value : undefined
  const run = await terminalBenchRun(folder)
  const warnings: ForeignJob['warnings'] = []
  const warn = (sentence: string, tasks: string[] = []) => void warnings.push({ sentence, tasks })
  if (!known) warn(`result.json of the job ${'problem' in result ? result.problem : ''}; using its trials only`)
  const isOfTerminalBench = known != null && (known.results !== null || known.accuracy !== null)
  if ('problem' in config && !run && !isOfTerminalBench) warn(`config.json of the job ${config.problem}`)

  const configured = [
    ...('value' in config ? (config.value.agents ?? []) : []),
    { name: run?.agent_name ?? null, model_name: run?.model_name ?? null },
  ].flatMap(({ name, model_name }): AgentConfig[] => (name ? [{ name, type: 'job_agent', model_name }] : []))
  const jobAgents = configured.length > 0 ? configured : agentsOfEvals(Object.keys(known?.stats?.evals ?? {}))
  const folders = await trialFolders(folder)
  const jobRecords = recordsOf(known, folders.length === 0)
  const trials: ForeignTrial[] = []
  const settings: Record<string, unknown>[] = []
  const ids = new Map<string, string>()
  const addTrial = ({ trial, settings: own, id }: TrialRead, name: string, logs: ForeignTrial['logs']) => {
    const key = JSON.stringify([id, trial.name, trial.startedMs])
    const first = id === null ? undefined : ids.get(key)
    if (first !== undefined) return warn(`trial ${name} is skipped: it is a copy of ${first}`)
    ids.set(key, name)
    const task = { ...trial.task, source: trial.task.source ?? run?.dataset_name ?? null }
    trials.push({ ...trial, task, logs, record: withTrajectories(trial.record, logs) })
    if (own) settings.push(own)
  }
  for (const path of folders) {
    const name = basename(path)
    const read = await readHarborTrial(join(folder, path), name, { jobAgents, jobRecord: jobRecords.get(name) })
    jobRecords.delete(name)
    if ('problem' in read) {
      warn(`trial ${name} is skipped: ${read.problem}`)
      continue
    }
    jobRecords.delete(read.trial.name)
    const logs = await logsBelow(join(folder, path))
    if (logs.omitted > 0)
      read.trial.warnings.push(`${countOf(logs.omitted, 'log file is', 'log files are')} skipped: links, or too many`)
    addTrial(read, name, logs.files)
  }
  for (const [name, record] of jobRecords) {
    if (!isFolderName(name)) {
      warn('a trial of the job is skipped: its name is not a valid folder name')
      continue
    }
    const read = await readHarborTrial(join(folder, name), name, { jobAgents, jobRecord: record })
    if ('problem' in read) warn(`trial ${name} is skipped: ${read.problem}`)
    else addTrial(read, name, [])
  }
  if (trials.length === 0)
    throw new NoJobError(
      `The job has no trial with a result${warnings.map(({ sentence }) => `; ${sentence}`).join('')}`,
    )

  const startedAt = known?.started_at ?? run?.start_time ?? null
  const finishedAt = known?.finished_at ?? run?.end_time ?? null
  const expectedTrials = known?.n_total_trials ?? plannedTrials(run)
  // Terminal-Bench 1 writes results after each trial, and the end to its metadata.
  const isTerminalBenchEnded = isOfTerminalBench && (!run || trials.length >= (expectedTrials ?? 0))
  // Without times, only missing trials show that a job was still running.
  const isWhole = startedAt === null && trials.length >= (expectedTrials ?? 0)
  const hasEnded = !known || finishedAt !== null || isTerminalBenchEnded || isWhole
  const retries = known?.stats?.n_retries ?? 0
  if (retries > 0)
    warn(`${countOf(retries, 'retry was', 'retries were')} made; Harbor keeps only the last run of each trial`)
  const isMean = 'problem' in config || (config.value.metrics ?? []).every(({ type }) => type === 'mean')
  for (const sentence of meanDifferences(known?.stats?.evals ?? {}, trials, isMean)) warn(sentence)
  const accuracy = meanOf(
    trials.map(({ rewards }) => rewards),
    'reward',
  )
  if (known?.accuracy != null && Math.abs(known.accuracy - accuracy) > tolerance)
    warn(
      `Terminal-Bench printed an accuracy of ${known.accuracy}; the ${trials.length} imported trials have ${accuracy}`,
    )
  return {
    identity: known?.id ?? run?.uuid ?? digest(trials),
    name: ('value' in config ? config.value.job_name : null) ?? run?.run_id ?? givenName,
    startedMs: timeOf(startedAt) ?? earliest(trials.map((trial) => trial.startedMs)),
    endedMs: hasEnded ? (timeOf(finishedAt) ?? latest(trials.map((trial) => trial.endedMs))) : null,
    hasEnded,
    expectedTrials,
    settings: { ...sharedOf(settings), ...('raw' in config && settingsOf(config.raw as RunConfig)) },
    trials,
    agents: jobAgents,
    warnings,
  }
}

type TrialRead = Extract<Awaited<ReturnType<typeof readHarborTrial>>, { trial: unknown }>

/** Trial records inside the job's record, by trial name. `areAll`: there are no trial folders. */
const recordsOf = (known: z.output<typeof JobResult> | undefined, areAll: boolean): Map<string, unknown> =>
  new Map(
    [...(known?.trial_results ?? []), ...(known?.results ?? [])].flatMap((record, at) => {
      const { trial_name, task_id } = (record ?? {}) as { trial_name?: unknown; task_id?: unknown }
      const name = trial_name ?? (areAll && typeof task_id === 'string' ? `trial-${at}` : null)
      return typeof name === 'string' ? [[name, toHarborRecord(record)] as const] : []
    }),
  )

/** The name comes from the archive and must not lead to other files. */
const isFolderName = (name: string): boolean => /^[^/\0]{1,255}$/.test(name) && name !== '.' && name !== '..'

export const isHarborFolder = async (folder: string): Promise<boolean> => (await trialFolders(folder)).length > 0

const documentOf = async <S extends z.ZodMiniType>(path: string, schema: S) => {
  const read = await readJson(path)
  if ('problem' in read) return read
  const parsed = schema.safeParse(read.value)
  return parsed.success ? { value: parsed.data, raw: read.value } : { problem: 'is not in the format of Harbor' }
}

/** A multi-step trial has one trajectory per step. */
const withTrajectories = (record: ForeignTrial['record'], files: ForeignTrial['logs']): ForeignTrial['record'] => {
  const trajectories = files
    .map(({ path }) => path.join('/'))
    .filter((path) => /(^|\/)agent\/trajectory\.json$/.test(path))
  return record && { ...record, trajectories }
}

const meanDifferences = (
  evals: Record<string, { n_trials: number | null; metrics: z.output<typeof Metrics> }>,
  trials: readonly ForeignTrial[],
  isMean: boolean,
): string[] => {
  const byName = new Map<string, (Rewards | null)[]>()
  for (const { agent, task, rewards } of trials)
    for (const name of evalNames(agent, task.source)) {
      const those = byName.get(name)
      if (those) those.push(rewards)
      else byName.set(name, [rewards])
    }
  return Object.entries(evals).flatMap(([name, { metrics }]) => {
    const isOnly = byName.size > 0 && Object.keys(evals).length === 1 && agentsOf(trials) === 1
    const own = byName.get(name) ?? (isOnly ? trials.map(({ rewards }) => rewards) : undefined)
    if (own === undefined) return []
    return meansOf([metrics ?? []].flat(), own, isMean).flatMap(([reward, printed]) => {
      const mean = meanOf(own, reward)
      if (Math.abs(mean - printed) <= tolerance) return []
      const what = reward === null ? 'a mean' : `a mean ${reward}`
      return [`Harbor printed ${what} of ${printed} for ${name}; the ${own.length} imported trials have ${mean}`]
    })
  })
}

/** `{mean: 1}`, or for several rewards `{speed: 1}` or `{mean_speed: 1}`, depending on the version. */
const meansOf = (
  metrics: readonly Record<string, unknown>[],
  own: readonly (Rewards | null)[],
  isMean: boolean,
): (readonly [reward: string | null, mean: number])[] => {
  const whole = metrics.find(({ mean }) => typeof mean === 'number')
  if (whole) return [[null, whole.mean as number]]
  const names = new Set(own.flatMap((each) => Object.keys(each ?? {})))
  const rewardOf = (name: string) => [name, name.replace(/^mean_/, '')].find((each) => names.has(each))
  const [first] = metrics
  if (!isMean || !first || !Object.keys(first).every(rewardOf)) return []
  return Object.entries(first).flatMap(([name, mean]) =>
    typeof mean === 'number' ? [[rewardOf(name) ?? name, mean] as const] : [],
  )
}

/** Harbor counts a missing reward as 0. */
const meanOf = (all: readonly (Rewards | null)[], reward: string | null): number => {
  const counted = (own: Rewards) => (reward === null ? (own.reward ?? Object.values(own)[0]) : own[reward]) ?? 0
  return all.reduce((sum, own) => sum + (own ? counted(own) : 0), 0) / all.length
}

const agentsOf = (trials: readonly ForeignTrial[]): number =>
  new Set(trials.map(({ agent, task }) => JSON.stringify([agent.name, agent.model_name, task.source]))).size

/** The model's name follows its provider, which may be a gateway to another one. */
const evalNames = ({ name, model_name }: ForeignAgent, source: string | null): Set<string> => {
  const parts = model_name?.split('/') ?? []
  const models = [parts.join('/'), parts.slice(1).join('/'), parts.at(-1)]
  return new Set(models.map((model) => [name, model, source ?? 'adhoc'].filter(Boolean).join('__')))
}

const agentsOfEvals = (names: readonly string[]): AgentConfig[] => [
  ...new Map(names.flatMap(agentOfEval).map((agent) => [JSON.stringify(agent), agent])).values(),
]

/** `agent__model__dataset` or `agent__dataset`. */
const agentOfEval = (name: string): AgentConfig[] => {
  const [agent, model, ...source] = name.split('__')
  return agent ? [{ name: agent, type: 'job_agent', model_name: source.length > 0 ? (model ?? null) : null }] : []
}

const sharedOf = ([first = {}, ...others]: readonly Record<string, unknown>[]): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(first).filter(([key, value]) =>
      others.every((other) => Object.hasOwn(other, key) && isDeepStrictEqual(other[key], value)),
    ),
  )

/** Identifies a job without an id. Trials without times are identified by their rewards. */
const digest = (trials: readonly ForeignTrial[]): string => {
  const parts = trials.map(({ name, startedMs, rewards }) => (startedMs === null ? [name, rewards] : [name, startedMs]))
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32)
}
