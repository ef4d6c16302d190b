import { createHash } from 'node:crypto'
import { basename, join } from 'node:path'
import * as z from 'zod/mini'
import type { AgentConfig } from '#lib/contract/benchmark-jobs.ts'
import { countOf } from '#lib/service/kit/amounts.ts'
import { type RunConfig, settingsOf } from '../settings.ts'
import { earliest, type ForeignJob, type ForeignTrial, latest, NoJobError } from './foreign-job.ts'
import { readHarborTrial } from './harbor-trial.ts'
import { logsBelow, trialFolders } from './job-folders.ts'
import { OptionalCount, OptionalText, optional, readJson, timeOf } from './json-file.ts'
import { agentOfEval, trialsOfStatistics } from './reward-statistics.ts'
import { plannedTrials, terminalBenchRun, toHarborRecord } from './terminal-bench.ts'

const JobConfig = z.object({
  job_name: OptionalText,
  agents: optional(z.array(z.object({ name: OptionalText, model_name: OptionalText }))),
})

const JobResult = z.object({
  id: OptionalText,
  started_at: OptionalText,
  finished_at: OptionalText,
  n_total_trials: OptionalCount,
  stats: optional(z.object({ n_retries: OptionalCount, evals: optional(z.record(z.string(), z.unknown())) })),
  // Copies of the trials' records, in some versions and in Terminal-Bench 1.
  trial_results: optional(z.array(z.unknown())),
  results: optional(z.array(z.unknown())),
  accuracy: optional(z.number()),
})

export const readHarborFolder = async (
  folder: string,
  givenName: string,
  knownTrials?: readonly string[],
): Promise<ForeignJob> => {
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
  const folders = knownTrials ?? (await trialFolders(folder))
  const records = recordsOf(known, folders.length === 0)
  const isOnlyStatistics = folders.length === 0 && records.size === 0
  const jobRecords = isOnlyStatistics
    ? trialsOfStatistics(known?.stats?.evals ?? {}, known?.finished_at ?? null)
    : records
  if (jobRecords.size > 0 && isOnlyStatistics)
    warn('There are no trial folders; using the rewards in result.json, without times, tokens and logs')
  const trials: ForeignTrial[] = []
  const ids = new Map<string, string>()
  const addTrial = async (path: string, { hasFolder }: { hasFolder: boolean }) => {
    const name = basename(path)
    const jobRecord = jobRecords.get(name)
    jobRecords.delete(name)
    const read = await readHarborTrial(join(folder, path), name, { jobAgents, jobRecord })
    if ('problem' in read) return warn(`trial ${name} is skipped: ${read.problem}`)
    const { trial } = read
    jobRecords.delete(trial.name)
    const key = JSON.stringify([read.id, trial.name, trial.startedMs])
    const first = read.id === null ? undefined : ids.get(key)
    if (first !== undefined) return warn(`trial ${name} is skipped: it is a copy of ${first}`)
    ids.set(key, name)
    const { files: logs, omitted } = hasFolder ? await logsBelow(join(folder, path)) : { files: [], omitted: 0 }
    if (omitted > 0)
      trial.warnings.push(`${countOf(omitted, 'log file is', 'log files are')} skipped: links, or too many`)
    const task = { ...trial.task, source: trial.task.source ?? run?.dataset_name ?? null }
    const logFolder = hasFolder && omitted === 0 ? { logFolder: join(folder, path) } : {}
    trials.push({ ...trial, task, logs, ...logFolder, record: withTrajectories(trial.record, logs) })
  }
  for (const path of folders) await addTrial(path, { hasFolder: true })
  for (const name of jobRecords.keys())
    if (isFolderName(name)) await addTrial(name, { hasFolder: false })
    else warn('a trial of the job is skipped: its name is not a valid folder name')
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
  return {
    identity: known?.id ?? run?.uuid ?? digest(trials),
    name: ('value' in config ? config.value.job_name : null) ?? run?.run_id ?? givenName,
    startedMs: timeOf(startedAt) ?? earliest(trials.map((trial) => trial.startedMs)),
    endedMs: hasEnded ? (timeOf(finishedAt) ?? latest(trials.map((trial) => trial.endedMs))) : null,
    hasEnded,
    expectedTrials,
    settings: 'raw' in config ? settingsOf(config.raw as RunConfig) : {},
    trials,
    agents: jobAgents,
    warnings,
  }
}

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

const agentsOfEvals = (names: readonly string[]): AgentConfig[] => [
  ...new Map(names.flatMap(agentOfEval).map((agent) => [JSON.stringify(agent), agent])).values(),
]

/** Identifies a job without an id. Trials without times are identified by their rewards. */
const digest = (trials: readonly ForeignTrial[]): string => {
  const parts = trials.map(({ name, startedMs, rewards }) => (startedMs === null ? [name, rewards] : [name, startedMs]))
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32)
}
