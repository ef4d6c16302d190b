import { createHash, randomBytes } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type {
  AgentConfig,
  BenchmarkJobImport,
  BenchmarkJobImported,
  ImportedJob,
} from '#lib/contract/benchmark-jobs.ts'
import type { ScoringResult } from '#lib/contract/scenario-runs.ts'
import { reservedAgentNames } from '#lib/service/domain/agent-names.ts'
import { jobEnd, runFailure, scenarioRunStateOf } from '#lib/service/domain/benchmark-jobs.ts'
import { runScore } from '#lib/service/domain/benchmark-runs.ts'
import { countOf } from '#lib/service/kit/amounts.ts'
import { invalid, ServiceError } from '#lib/service/kit/errors.ts'
import { newId } from '#lib/service/kit/ids.ts'
import type { EndedScenarioRun } from '#lib/service/store/scenario-runs.ts'
import type { StorageQuota } from '#lib/service/store/storage-quota.ts'
import type { Stores } from '#lib/service/store/stores.ts'
import { defaultMetric, missingMetric, type Outcome, rewardResult } from '../outcome.ts'
import type { JobPlan } from '../plan.ts'
import { earliest, type ForeignJob, type ForeignTask, type ForeignTrial, latest, NoJobError } from './foreign-job.ts'
import { findJobs } from './found-jobs.ts'
import { requireRoom, type Unpacked, unpack } from './unpack.ts'

interface Options {
  store: Pick<Stores, 'benchmarkJobs' | 'benchmarkRuns' | 'scenarioRuns' | 'scenarios'>
  workFolder: string
  logFolderOf: (scenarioRunId: string) => string
  quota: StorageQuota
}

/** Trials of a job that isn't complete yet. */
interface Stored {
  ids: string[]
  /** Sizes by path of an unpacked file. */
  sizes: ReadonlyMap<string, number>
  bytes: number
}

const layoutErrors = ['EEXIST', 'EISDIR', 'ELOOP', 'ENAMETOOLONG', 'ENOTDIR', 'ENOTEMPTY', 'ERR_INVALID_ARG_VALUE']

/** Trials written per chunk; other requests are served in between. */
const chunkSize = 100

export class Imports {
  readonly #options: Options

  constructor(options: Options) {
    this.#options = options
  }

  async recover(): Promise<void> {
    const { store, workFolder, logFolderOf } = this.#options
    await rm(workFolder, { recursive: true, force: true })
    for (const id of store.scenarioRuns.dropUnfinishedImports())
      await rm(logFolderOf(id), { recursive: true, force: true })
  }

  async add(
    account: string,
    archive: AsyncIterable<Uint8Array>,
    choices: BenchmarkJobImport,
  ): Promise<BenchmarkJobImported> {
    const folder = join(this.#options.workFolder, randomBytes(8).toString('hex'))
    const file = join(folder, 'archive.zip')
    const unpacked = join(folder, 'files')
    const room = this.#options.quota.available(account)
    this.#options.quota.require(account)
    try {
      await mkdir(unpacked, { recursive: true, mode: 0o700 })
      await save(archive, file)
      const { bytes, ...files } = await unpack(file, unpacked, room)
      this.#options.quota.require(account, bytes)
      return await this.#addAll(account, await findJobs(unpacked, choices.name ?? 'Imported job'), choices, files)
    } catch (error) {
      if (error instanceof NoJobError) throw invalid({ field: 'file', message: error.message })
      throw error
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }

  /** Throws the first job's error if none could be imported. */
  async #addAll(
    account: string,
    found: Awaited<ReturnType<typeof findJobs>>,
    choices: BenchmarkJobImport,
    files: Omit<Unpacked, 'bytes'>,
  ): Promise<BenchmarkJobImported> {
    const jobs: ImportedJob[] = []
    const skipped: BenchmarkJobImported['skipped'] = []
    const errors: Error[] = []
    const name = found.length === 1 ? choices.name : undefined
    for (const { path, read } of found) {
      const stored: Stored = { ids: [], sizes: files.sizes, bytes: 0 }
      try {
        const job = chosen(await read(), choices)
        if (files.skipped > 0 && found.length === 1) job.warnings.unshift({ sentence: sentenceOf(files), tasks: [] })
        const imported = await this.#store(account, job, name, stored)
        jobs.push({ ...imported, path: path || '.', missing_names: job.missingNames })
      } catch (error) {
        await this.#drop(account, stored)
        const known = jobErrorOf(error)
        if (!known) throw error
        errors.push(known)
        skipped.push({ path: path || '.', reason: known.message })
      }
    }
    if (files.skipped > 0 && found.length > 1) skipped.push({ path: '.', reason: sentenceOf(files) })
    const [first] = jobs
    // A wrong choice is more useful to the caller than one broken job among the others.
    if (!first) throw errors.find((error) => error instanceof ServiceError) ?? errors[0] ?? new NoJobError(noJob)
    const { path: _, missing_names: __, ...fields } = first
    return { ...fields, jobs, skipped }
  }

  async #store(
    account: string,
    given: ChosenJob,
    name: string | undefined,
    stored: Stored,
  ): Promise<Omit<ImportedJob, 'path' | 'missing_names'>> {
    const { store } = this.#options
    const job = this.#distinguishContinued(account, given)
    const warnings = warningsOf(job).map(
      ({ sentence, tasks }) => `${tasks.length > 0 ? `${tasks.join(', ')}: ` : ''}${sentence}`,
    )
    const known = store.benchmarkJobs.imported(account, job.identity)
    if (known)
      return { job_id: known.id, name: known.name, already_imported: true, n_trials: job.trials.length, warnings }
    const tasks = new Map(job.trials.map(({ task }) => [scenarioIdOf(account, task, store), task]))
    for (const part of chunksOf([...tasks]))
      store.scenarios.insertMissing(
        part.map(([id, task]) => scenarioOf(account, id, task, job.startedMs ?? Date.now())),
      )
    const agents = [
      ...Map.groupBy(job.trials, ({ agent: { name, model_name, kwargs, timeout_seconds } }) =>
        JSON.stringify([name, model_name, kwargs, timeout_seconds]),
      ).values(),
    ]
    const runs = agents
      .map((trials) => ({ agent: (trials[0] as ChosenTrial).agent, trials: numbered(trials) }))
      .sort((a, b) => configIndexOf(a.agent, job) - configIndexOf(b.agent, job))
      .map((run) => ({ id: newId('bmr'), ...run }))
    const ids = new Map<string, string[]>()
    for (const { id, trials } of runs) ids.set(id, await this.#storeTrials(account, trials, job.metric, stored))
    const planned = planOf(
      job,
      [...tasks].map(([id, task]) => ({ id, name: task.name })),
      runs,
    )
    const jobId = newId('bmj')
    const freeName = this.#freeName(account, name?.trim() || job.name)
    store.scenarioRuns.transaction(() => {
      store.benchmarkJobs.insert({
        id: jobId,
        account,
        name: freeName,
        create_time_ms: job.startedMs ?? 0,
        metadata: {},
        metrics: job.metrics,
        judged_metric: job.metric,
        settings: job.settings,
        ...planned,
      })
      for (const [index, { id, agent, trials }] of runs.entries()) {
        store.benchmarkRuns.insert({
          id,
          account,
          benchmark_id: null,
          name: `${freeName}: ${agent.name}${agent.model_name ? ` (${agent.model_name})` : ''}`,
          start_time_ms: earliest(trials.map(({ startedMs }) => startedMs)) ?? 0,
          metadata: {},
          profile: {},
          job_id: jobId,
          agent_index: index,
          agent,
          planned_trials: plannedTrials(job, runs, trials.length),
        })
        store.scenarioRuns.adopt(id, ids.get(id) ?? [])
        store.benchmarkRuns.end(id, {
          state: runFailure(store.benchmarkJobs.endedTrials(id)) === null ? 'completed' : 'failed',
          end_time_ms: latest(trials.map(({ endedMs }) => endedMs)) ?? 0,
          score: runScore(store.scenarioRuns.ofBenchmarkRun(id)),
        })
      }
      const end = ends[jobEnd(store.benchmarkRuns.ofJob(jobId))]
      store.benchmarkJobs.move(jobId, job.hasEnded ? end : 'incomplete', endOf(job), null)
    })
    return { job_id: jobId, name: freeName, already_imported: false, n_trials: job.trials.length, warnings }
  }

  /** A job that continued after its last import is a new job. */
  #distinguishContinued(account: string, job: ChosenJob): ChosenJob {
    const { benchmarkJobs, benchmarkRuns } = this.#options.store
    const found = benchmarkJobs.imported(account, job.identity)
    if (!found) return job
    const trials = benchmarkRuns.ofJob(found.id).reduce((sum, { id }) => sum + benchmarkJobs.endedTrials(id).length, 0)
    if (trials === job.trials.length && found.end_time_ms === endOf(job)) return job
    const sentence = `An earlier state of this job was imported before: ${found.name} (${found.id}), with ${countOf(trials, 'trial')}`
    return {
      ...job,
      identity: `${job.identity} with ${job.trials.length} trials until ${job.endedMs ?? 'now'}`,
      warnings: [...job.warnings, { sentence, tasks: [] }],
    }
  }

  async #storeTrials(
    account: string,
    trials: readonly NumberedTrial[],
    metric: string | null,
    stored: Stored,
  ): Promise<string[]> {
    const { store, logFolderOf, quota } = this.#options
    const ids: string[] = []
    for (const part of chunksOf(trials)) {
      const rows = part.map((trial) => rowOf(account, scenarioIdOf(account, trial.task, store), trial, metric))
      store.scenarioRuns.transaction(() => {
        for (const row of rows) store.scenarioRuns.insertEnded(row)
      })
      ids.push(...rows.map(({ id }) => id))
      stored.ids.push(...rows.map(({ id }) => id))
      for (const [at, { logs, logFolder }] of part.entries()) {
        const folder = logFolderOf((rows[at] as EndedScenarioRun).id)
        const bytes = logs.reduce((sum, { from }) => sum + (stored.sizes.get(from) ?? 0), 0)
        await (logFolder === undefined ? moveFiles(logs, folder) : moveFolder(logFolder, folder))
        quota.add(account, 'run logs', bytes)
        stored.bytes += bytes
      }
      await nextTurn()
    }
    return ids
  }

  async #drop(account: string, { ids, bytes }: Stored): Promise<void> {
    const { store, logFolderOf, quota } = this.#options
    store.scenarioRuns.drop(ids)
    for (const id of ids) await rm(logFolderOf(id), { recursive: true, force: true })
    quota.add(account, 'run logs', -bytes)
  }

  #freeName(account: string, name: string): string {
    const isTaken = this.#options.store.benchmarkJobs.isNameTaken(account, name)
    return isTaken ? `${name}-${randomBytes(4).toString('hex')}` : name
  }
}

const moveFiles = async (logs: ForeignTrial['logs'], folder: string): Promise<void> => {
  for (const { from, path } of logs) {
    const to = join(folder, ...path)
    await mkdir(dirname(to), { recursive: true, mode: 0o700 })
    await rename(from, to)
  }
}

const moveFolder = async (from: string, to: string): Promise<void> => {
  await mkdir(dirname(to), { recursive: true, mode: 0o700 })
  await rename(from, to)
}

const save = (archive: AsyncIterable<Uint8Array>, file: string): Promise<void> =>
  pipeline(
    archive,
    async function* (chunks: AsyncIterable<Uint8Array>) {
      for await (const chunk of chunks) {
        requireRoom(dirname(file), chunk.length)
        yield chunk
      }
    },
    createWriteStream(file, { mode: 0o600 }),
  )

const noJob = 'The archive contains neither a Harbor job with a folder per trial nor the logs of a benchmark run'

const sentenceOf = ({ skipped, firstSkipped }: Pick<Unpacked, 'skipped' | 'firstSkipped'>): string =>
  `${countOf(skipped, 'file of the archive was', 'files of the archive were')} skipped: ${firstSkipped.join('; ')}`

/** What is wrong with one job of an archive, whose others can be imported. */
const jobErrorOf = (error: unknown): Error | undefined => {
  const { code } = error as NodeJS.ErrnoException
  if (layoutErrors.includes(code ?? ''))
    return new NoJobError(
      'The archive has a file in place of a folder, a folder in place of a file, or an invalid name',
    )
  return error instanceof NoJobError || (error instanceof ServiceError && error.code === 'invalid_argument')
    ? error
    : undefined
}

type ChosenTrial = ForeignTrial & { agent: AgentConfig }

interface ChosenJob extends ForeignJob {
  trials: ChosenTrial[]
  /** Reward keys in order of appearance, and the one that scores the job. */
  metrics: string[]
  metric: string | null
  missingNames: ImportedJob['missing_names']
}

const unknownAgent = 'unknown agent'

/** Throws 400 for a metric that no trial has. Different choices create different jobs from the same files. */
const chosen = (
  job: ForeignJob,
  { agent_name, model_name, judged_metric }: Omit<BenchmarkJobImport, 'name'>,
): ChosenJob => {
  const metrics = [...new Set(job.trials.flatMap(({ rewards }) => Object.keys(rewards ?? {})))]
  const chosenMetric = judged_metric?.trim() || null
  if (chosenMetric !== null && !metrics.includes(chosenMetric)) {
    const message = `No trial has the reward ${chosenMetric}. Rewards in this job: ${metrics.join(', ') || 'none'}`
    throw new ServiceError('invalid_argument', message, { field: 'judged_metric', shouldRetry: false })
  }
  const ownMetric = metrics.find((each) => each === job.judgedMetric) ?? defaultMetric(metrics)
  const metric = chosenMetric ?? ownMetric
  const agentName = agent_name?.trim() || null
  const modelName = model_name?.trim() || null
  const unnamed = job.trials.filter(({ agent }) => agent.name === null).length
  const lacksModel = job.trials.some(
    ({ agent }) => agent.model_name == null && !reservedAgentNames.includes(agent.name ?? ''),
  )
  const trials = job.trials.map((trial) => {
    const name = trial.agent.name ?? agentName ?? unknownAgent
    const model = trial.agent.model_name ?? (reservedAgentNames.includes(name) ? null : modelName)
    return { ...trial, agent: { ...trial.agent, name, model_name: model } }
  })
  const warnings = [...job.warnings]
  if (unnamed > 0 && agentName === null)
    warnings.push({ sentence: `No file names the agent of ${countOf(unnamed, 'trial')}`, tasks: [] })
  return {
    ...job,
    identity: [
      job.identity,
      ...(unnamed > 0 && agentName !== null ? [`of ${agentName}`] : []),
      ...(lacksModel && modelName !== null ? [`with ${modelName}`] : []),
      ...(metric !== ownMetric ? [`by ${metric}`] : []),
    ].join(' '),
    trials,
    metrics,
    metric,
    missingNames: [
      ...(unnamed > 0 && agentName === null ? ['agent_name' as const] : []),
      ...(lacksModel && modelName === null ? ['model_name' as const] : []),
    ],
    warnings,
  }
}

const ends = { complete: 'completed', fail: 'failed', cancel: 'cancelled' } as const

const endOf = ({ endedMs, startedMs }: ForeignJob): number => endedMs ?? startedMs ?? 0

/** Planned trials per agent: the files have the total, and all agents have the same tasks. */
const plannedTrials = (
  { expectedTrials, hasEnded, trials, agents = [] }: ForeignJob,
  runs: readonly { trials: readonly unknown[] }[],
  own: number,
): number | null => {
  if (expectedTrials === null) return hasEnded ? own : null
  if (expectedTrials <= trials.length) return own
  const share = expectedTrials / Math.max(agents.length, runs.length)
  return Number.isInteger(share) && runs.every((run) => run.trials.length <= share) ? share : null
}

const agentsWithoutTrials = (
  { expectedTrials, trials, agents = [] }: ForeignJob,
  runs: readonly { agent: AgentConfig }[],
): AgentConfig[] => {
  if (expectedTrials === null || expectedTrials <= trials.length) return []
  const missing = agents.filter((configured) => !runs.some(({ agent }) => isConfigured(agent, configured)))
  return missing.length + runs.length === agents.length ? missing : []
}

/** A job may configure an agent without its model. */
const isConfigured = ({ name, model_name }: AgentConfig, configured: AgentConfig): boolean =>
  configured.name === name && (configured.model_name == null || configured.model_name === model_name)

const configIndexOf = (agent: AgentConfig, { agents = [] }: ForeignJob): number => {
  const place = agents.findIndex((configured) => isConfigured(agent, configured))
  return place === -1 ? agents.length : place
}

type NumberedTrial = ChosenTrial & { attempt: number }

/** Harbor does not number attempts; the start times do. */
const numbered = (trials: readonly ChosenTrial[]): NumberedTrial[] => {
  const byStartTime = trials.toSorted((a, b) => (a.startedMs ?? 0) - (b.startedMs ?? 0) || (a.name < b.name ? -1 : 1))
  const counts = new Map<string, number>()
  return byStartTime.map((trial) => {
    const key = JSON.stringify([trial.task.source, trial.task.name, trial.task.checksum])
    const count = counts.get(key) ?? 0
    counts.set(key, count + 1)
    return { ...trial, attempt: trial.attempt ?? count }
  })
}

/** The same for the same task of the same dataset, so that jobs can be compared. */
const scenarioIdOf = (
  account: string,
  { name, source, checksum, scenarioId }: ForeignTask,
  store: Options['store'],
): string => {
  if (scenarioId !== undefined && store.scenarios.missing(account, [scenarioId]).length === 0) return scenarioId
  const parts = JSON.stringify([account, 'imported', source, name, checksum])
  return `scn_${createHash('sha256').update(parts).digest('hex').slice(0, 26)}`
}

const scenarioOf = (account: string, id: string, { name, source, checksum }: ForeignTask, create_time_ms: number) => ({
  id,
  account,
  name,
  create_time_ms,
  hidden: true,
  input_context: { problem_statement: 'The imported files do not contain the instruction.' },
  metadata: { ...(checksum && { harbor_checksum: checksum }), ...(source && { harbor_dataset: source }) },
  scoring_contract: {
    scoring_function_parameters: [
      { name: 'verifier', weight: 1, scorer: { type: 'command_scorer' as const, command: '/tests/test.sh' } },
    ],
  },
})

const rowOf = (account: string, scenario_id: string, trial: NumberedTrial, metric: string | null): EndedScenarioRun => {
  const outcome = trial.judge(metric)
  const warnings = [...trial.warnings, ...missingMetric(trial.rewards, metric)]
  return {
    id: newId('scr'),
    account,
    scenario_id,
    scenario_name: trial.task.name,
    // The run adopts it once all trials are stored.
    benchmark_run_id: null,
    devbox_id: null,
    name: trial.task.name,
    start_time_ms: trial.startedMs ?? 0,
    end_time_ms: trial.endedMs ?? 0,
    metadata: {},
    profile: {},
    state: scenarioRunStateOf[outcome.state],
    score: outcome.score,
    scoring_contract_result: resultOf(trial, outcome),
    rewards: trial.rewards,
    outcome: outcome.state,
    failure: outcome.failure_reason,
    warnings: warnings.length > 0 ? warnings : null,
    environment_differs: trial.environmentDiffers,
    engine: trial.engine,
    agent_record: trial.record,
    attempt: trial.attempt,
    retry: 0,
    replaced: true,
  }
}

const resultOf = ({ rewards, scorers }: ForeignTrial, outcome: Outcome): ScoringResult | null =>
  scorers && outcome.score !== null
    ? { score: outcome.score, scoring_function_results: scorers }
    : rewardResult(rewards, outcome)

const warningsOf = ({ expectedTrials, hasEnded, trials, warnings }: ForeignJob): ForeignJob['warnings'] => {
  const missing = expectedTrials === null ? 0 : expectedTrials - trials.length
  const unfinished = !hasEnded ? 'The job was still running when its files were copied' : 'Trials are missing'
  return [
    ...(missing > 0 || !hasEnded
      ? [
          {
            sentence: `${unfinished}: ${trials.length} of ${expectedTrials ?? 'an unknown number of'} trials were imported`,
            tasks: [],
          },
        ]
      : []),
    ...warnings,
  ]
}

const planOf = (
  job: ChosenJob,
  scenarios: JobPlan['scenarios'],
  runs: readonly { agent: AgentConfig; trials: readonly NumberedTrial[] }[],
) => {
  const attempts = Math.max(
    ...runs.map((run) => run.trials.reduce((most, { attempt }) => Math.max(most, attempt + 1), 1)),
  )
  const multiplier = job.settings?.timeout_multiplier
  const plan: JobPlan = {
    scenarios,
    attempts,
    concurrentTrials: 1,
    retry: { maxRetries: 0, include: null, exclude: [], waitMultiplier: 1, minWaitSeconds: 1, maxWaitSeconds: 60 },
    timeoutMultiplier: 1,
    benchmarkId: null,
    harbor: null,
  }
  return {
    source: { type: 'imported', import_id: job.identity },
    spec: {
      scenario_ids: scenarios.map(({ id }) => id),
      agent_configs: [...runs.map(({ agent }) => agent), ...agentsWithoutTrials(job, runs)],
      // The largest number of attempts at any task: intervals and pass@k depend on it.
      orchestrator_config: {
        n_attempts: attempts,
        ...(typeof multiplier === 'number' && { timeout_multiplier: multiplier }),
      },
    },
    plan,
    warnings: warningsOf(job),
  }
}

function* chunksOf<T>(all: readonly T[]): Generator<readonly T[]> {
  for (let at = 0; at < all.length; at += chunkSize) yield all.slice(at, at + chunkSize)
}
