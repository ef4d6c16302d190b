import { createHash } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import * as z from 'zod/mini'
import type { AgentConfig } from '#lib/contract/benchmark-jobs.ts'
import type { Rewards } from '../outcome.ts'
import { type ForeignJob, type ForeignTrial, NoJobError } from './foreign-job.ts'
import { readHarborTrial } from './harbor-trial.ts'
import { optional, readJson, timeOf } from './json-file.ts'
import { logsBelow } from './log-list.ts'

const Words = optional(z.string())
const Count = optional(z.int().check(z.minimum(0)))

const JobConfig = z.object({
  job_name: Words,
  agents: optional(z.array(z.object({ name: Words, model_name: Words }))),
})

const Metrics = optional(z.union([z.array(z.record(z.string(), z.unknown())), z.record(z.string(), z.unknown())]))
const JobResult = z.object({
  id: Words,
  started_at: Words,
  finished_at: Words,
  n_total_trials: Count,
  stats: optional(
    z.object({
      n_retries: Count,
      evals: optional(z.record(z.string(), z.object({ n_trials: Count, metrics: Metrics }))),
    }),
  ),
})

/** Harbor compares floats that it has summed in another order. */
const tolerance = 1e-9

/** A job as Harbor leaves it: config.json, result.json and a folder for each trial. Throws a NoJobError. */
export const readHarborFolder = async (folder: string, givenName: string): Promise<ForeignJob> => {
  const config = await documentOf(join(folder, 'config.json'), JobConfig)
  // Some versions say results.json.
  const [result, older] = [
    await documentOf(join(folder, 'result.json'), JobResult),
    await documentOf(join(folder, 'results.json'), JobResult),
  ]
  const known = 'value' in result ? result.value : 'value' in older ? older.value : undefined
  const warnings: ForeignJob['warnings'] = []
  const say = (sentence: string, tasks: string[] = []) => void warnings.push({ sentence, tasks })
  if (!known)
    say(`result.json of the job ${'problem' in result ? result.problem : ''}: its trials alone tell its numbers`)
  if ('problem' in config) say(`config.json of the job ${config.problem}`)

  const configured = ('value' in config ? (config.value.agents ?? []) : []).flatMap(
    ({ name, model_name }): AgentConfig[] => (name ? [{ name, type: 'job_agent', model_name }] : []),
  )
  const jobAgents = configured.length > 0 ? configured : Object.keys(known?.stats?.evals ?? {}).flatMap(agentOfEval)
  const trials: ForeignTrial[] = []
  const rewards = new Map<ForeignTrial, Rewards | null>()
  for (const name of await trialFolders(folder)) {
    const read = await readHarborTrial(join(folder, name), name, { jobAgents })
    if ('problem' in read) {
      say(`trial ${name} is left out: ${read.problem}`)
      continue
    }
    const logs = await logsBelow(join(folder, name))
    if (logs.omitted > 0) read.trial.warnings.push(`${logs.omitted} of its log files are left out: links, or too many`)
    const trial = { ...read.trial, logs: logs.files, record: withTrajectories(read.trial.record, logs.files) }
    trials.push(trial)
    rewards.set(trial, read.rewards)
  }
  if (trials.length === 0)
    throw new NoJobError(
      `There is no trial with a result in it${warnings.map(({ sentence }) => `; ${sentence}`).join('')}`,
    )

  const startedMs = timeOf(known?.started_at ?? null) ?? Math.min(...spread(trials.map((trial) => trial.startedMs)))
  const lastMs = trials.reduce((last, trial) => Math.max(last, trial.endedMs), startedMs)
  const endedMs = known && known.finished_at === null ? null : (timeOf(known?.finished_at ?? null) ?? lastMs)
  const retries = known?.stats?.n_retries ?? 0
  if (retries > 0) say(`${retries} retries were made; Harbor keeps the last of each trial alone`)
  for (const sentence of againstPrinted(known?.stats?.evals ?? {}, rewards)) say(sentence)
  return {
    identity: known?.id ?? digest(trials.map(({ name, startedMs }) => [name, startedMs])),
    name: ('value' in config ? config.value.job_name : null) ?? givenName ?? basename(folder),
    startedMs,
    endedMs,
    expectedTrials: known?.n_total_trials ?? null,
    trials,
    warnings,
  }
}

/** Whether a folder may be that of a job of Harbor. */
export const isHarborFolder = async (folder: string): Promise<boolean> => (await trialFolders(folder)).length > 0

/** The folders that have what a trial leaves, by name. */
const trialFolders = async (folder: string): Promise<string[]> => {
  const names: string[] = []
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (!entry.isDirectory()) continue
    const inside = await readdir(join(folder, entry.name))
    if (trialFiles.some((name) => inside.includes(name))) names.push(entry.name)
  }
  return names.sort()
}

const trialFiles = ['result.json', 'config.json', 'trial.log', 'exception.txt']

const documentOf = async <S extends z.ZodMiniType>(path: string, schema: S) => {
  const read = await readJson(path)
  if ('problem' in read) return read
  const parsed = schema.safeParse(read.value)
  return parsed.success ? { value: parsed.data } : { problem: 'is not what Harbor writes' }
}

/** Where an agent leaves what it did step by step; a trial of several steps has one for each. */
const withTrajectories = (record: ForeignTrial['record'], files: ForeignTrial['logs']): ForeignTrial['record'] => {
  const trajectories = files
    .map(({ path }) => path.join('/'))
    .filter((path) => /(^|\/)agent\/trajectory\.json$/.test(path))
  return record && { ...record, trajectories }
}

/** What the means that Harbor printed and those of the trials here do not agree on. */
const againstPrinted = (
  evals: Record<string, { n_trials: number | null; metrics: z.output<typeof Metrics> }>,
  rewards: ReadonlyMap<ForeignTrial, Rewards | null>,
): string[] => {
  const byAgent = Map.groupBy(rewards, ([{ agent, task }]) => evalName(agent, task.source))
  return Object.entries(evals).flatMap(([name, { metrics }]) => {
    const printed = [metrics ?? []].flat().flatMap(({ mean }) => (typeof mean === 'number' ? [mean] : []))[0]
    const own = byAgent.get(name) ?? (byAgent.size === 1 && Object.keys(evals).length === 1 ? [...rewards] : undefined)
    if (printed === undefined || own === undefined) return []
    // A reward that is missing counts 0 in every metric of Harbor.
    const mean =
      own.reduce((sum, [, each]) => sum + (each?.reward ?? Object.values(each ?? {})[0] ?? 0), 0) / own.length
    if (Math.abs(mean - printed) <= tolerance) return []
    return [`Harbor printed a mean of ${printed} for ${name}; the ${own.length} trials here have ${mean}`]
  })
}

const evalName = ({ name, model_name }: AgentConfig, source: string | null): string =>
  [name, model_name?.split('/').at(-1), source ?? 'adhoc'].filter(Boolean).join('__')

/** `agent__model__dataset`, or `agent__dataset`. */
const agentOfEval = (name: string): AgentConfig[] => {
  const [agent, model, ...source] = name.split('__')
  return agent ? [{ name: agent, type: 'job_agent', model_name: source.length > 0 ? (model ?? null) : null }] : []
}

/** Without the zeros that stand for times nobody knows; never empty. */
const spread = (times: readonly number[]): number[] => {
  const known = times.filter((ms) => ms > 0)
  return known.length > 0 ? known : [0]
}

const digest = (value: unknown): string => createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 32)
