import { EventEmitter } from 'node:events'
import { readdirSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { devboxRefusal, hasEnded } from '#lib/contract/devboxes.ts'
import {
  hasScenarioRunEnded,
  type RunProfile,
  type ScenarioRun,
  type ScenarioRunStart,
  type ScoringResult,
  scenarioRunRefusal,
} from '#lib/contract/scenario-runs.ts'
import { defaultScorerTimeoutSeconds, type Scenario } from '#lib/contract/scenarios.ts'
import type { Devboxes } from '#lib/service/devboxes/devboxes.ts'
import { mergeLaunchParameters, mergeProfiles, requireNeedsMet } from '#lib/service/domain/run-profile.ts'
import { nextRunState, type ScenarioRunEvent } from '#lib/service/domain/scenario-runs.ts'
import type { Isolation } from '#lib/service/engine/engine.ts'
import type { Executions } from '#lib/service/executions/executions.ts'
import { invalid, notFound, ServiceError } from '#lib/service/kit/errors.ts'
import { newId } from '#lib/service/kit/ids.ts'
import { Slots } from '#lib/service/kit/slots.ts'
import type { ScenarioRunMove, ScenarioRunRecord } from '#lib/service/store/scenario-runs.ts'
import type { Stores } from '#lib/service/store/stores.ts'
import { judge } from './score.ts'
import { createScrubber } from './scrub.ts'
import { quotePath, Workbench } from './workbench.ts'

/** The public clients expect to see the state `scoring` at least once, however fast the scorers are. */
const minScoringMs = 150
/** How long an answer waits for the end of a devbox; the shutdown goes on afterwards. */
const shutdownAnswerMs = 5000
// More at once would not be done sooner and would delay other answers of the service.
const shutdownsAtOnce = 16
const saveMs = 3000

interface Options {
  store: Pick<Stores, 'scenarioRuns' | 'benchmarkRuns' | 'benchmarks' | 'scenarios' | 'scorers' | 'secrets'>
  devboxes: Devboxes
  executions: Executions
  isolation: Isolation
  log: (entry: object) => void
}

export interface Opening {
  /** A new one when it is absent. */
  id?: string
  account: string
  scenario: Pick<Scenario, 'id' | 'name' | 'environment'>
  benchmarkRunId: string | null
  name: string | null
  metadata: Record<string, string>
  /** Merged with that of the benchmark run. */
  profile: RunProfile
  /** Of a job's run, which does not end with its devbox: the job decides how it ends. */
  attempt?: number
  retry?: number
  /** Of its devbox. */
  root?: readonly string[]
  network?: 'none'
}

type Ending = Omit<ScenarioRunMove, 'from' | 'to' | 'timeMs'>

export type EndingEvent = Extract<ScenarioRunEvent, 'complete' | 'cancel' | 'fail' | 'time_out'>

/** Every scenario run of the service: each has a devbox of its own from its start to its end. */
export class ScenarioRuns {
  /** Emits `state` with (id, state) after every move. */
  readonly changes = new EventEmitter().setMaxListeners(0)
  readonly #options: Options
  readonly #judging = new Set<Promise<void>>()
  readonly #releases = new Map<string, Promise<void>>()
  readonly #working = new Map<string, Promise<unknown>>()
  readonly #shutdowns = new Slots(shutdownsAtOnce)
  readonly #closing = new AbortController()

  constructor(options: Options) {
    this.#options = options
    options.devboxes.changes.on('status', this.#devboxMoved)
  }

  /**
   * Goes on with the runs of the service's last life; the devboxes must have recovered before. Devboxes of runs that have
   * ended are shut down, and runs that were being scored are scored again. Runs of jobs are left to the job.
   */
  recover(): void {
    const { store, devboxes, log } = this.#options
    for (const { id, account } of store.scenarioRuns.strayDevboxes())
      void devboxes
        .shutdown(account, id, { force: true })
        .catch((error: unknown) => log({ message: `Devbox ${id} has no run and stays`, error: String(error) }))
    for (const run of store.scenarioRuns.unended()) {
      if (isOfJob(run)) continue
      const { status } = devboxes.get(run.account, run.devbox_id ?? '')
      if (hasEnded(status)) this.#endWithDevbox(run, status)
      else if (run.state === 'scoring') this.#judge(run)
    }
  }

  /** Breaks off the scoring of runs; `recover` of the next life scores them again. */
  async close(): Promise<void> {
    this.#options.devboxes.changes.off('status', this.#devboxMoved)
    this.#closing.abort()
    await Promise.allSettled(this.#judging)
  }

  /** Throws 404. */
  get(account: string, id: string): ScenarioRun {
    return this.#options.store.scenarioRuns.get(account, id) ?? notFound('scenario run', id)
  }

  /** Its devbox is still starting when this resolves. Throws 400, 404 or 409 for what cannot run, and what devboxes throw. */
  async start(account: string, body: ScenarioRunStart): Promise<ScenarioRun> {
    return this.get(account, await this.#start(account, body))
  }

  async #start(account: string, body: ScenarioRunStart): Promise<string> {
    const { store } = this.#options
    const scenario = store.scenarios.get(account, body.scenario_id) ?? notFound('scenario', body.scenario_id)
    if (scenario.status !== 'active')
      throw invalid({ field: 'scenario_id', message: `scenario ${scenario.id} is archived and cannot be run` })
    const under = body.benchmark_run_id ? this.#profileOf(account, body.benchmark_run_id, scenario.id) : {}
    const profile = mergeProfiles(under, body.runProfile ?? {})
    requireNeedsMet(store.secrets, account, scenario, profile)
    return this.open({
      account,
      scenario,
      benchmarkRunId: body.benchmark_run_id || null,
      name: body.run_name || null,
      metadata: body.metadata ?? {},
      profile,
    })
  }

  /** Throws 400, 404 or 409 when the scenario cannot be run as part of the benchmark run. */
  #profileOf(account: string, benchmarkRunId: string, scenarioId: string): RunProfile {
    const { store } = this.#options
    const field = 'benchmark_run_id'
    const run = store.benchmarkRuns.own(account, benchmarkRunId) ?? notFound('benchmark run', benchmarkRunId)
    requireRunning(run.state)
    if (run.job_id !== null) throw invalid({ field, message: `run ${run.id} belongs to a job, which starts its runs` })
    const benchmark = run.benchmark_id === null ? undefined : store.benchmarks.get(account, run.benchmark_id)
    if (benchmark && !benchmark.scenarioIds.includes(scenarioId))
      throw invalid({
        field: 'scenario_id',
        message: `scenario ${scenarioId} is not part of benchmark ${benchmark.id}`,
      })
    return run.profile
  }

  /** Makes the devbox and the record of a run; resolves to its id. */
  async open(opening: Opening): Promise<string> {
    const { store, devboxes } = this.#options
    const { account, scenario, benchmarkRunId, name, metadata, profile, attempt, retry, network } = opening
    const id = opening.id ?? newId('scr')
    const environment = scenario.environment ?? {}
    const launchParameters = mergeLaunchParameters(environment.launch_parameters ?? {}, profile.launchParameters ?? {})
    const folder = environment.working_directory
    const root = opening.root ?? (folder ? this.#ownFolder(folder) : undefined)
    const devbox = await devboxes.create(
      account,
      {
        name: name ?? scenario.name,
        // Unspecified: who makes the working directory. The service does, unless it is there already.
        launch_parameters: folder
          ? mergeLaunchParameters(launchParameters, { launch_commands: [`mkdir -p -- ${quotePath(folder)}`] })
          : launchParameters,
        environment_variables: profile.envVars,
        secrets: profile.secrets,
        snapshot_id: environment.snapshot_id || null,
        mounts: profile.mounts,
      },
      { initiatorType: 'scenario', initiatorId: id, ...(root && { root }), ...(network && { network }) },
    )
    try {
      // The benchmark run may have ended while the devbox was made. Nothing runs between this check and the insert.
      if (benchmarkRunId !== null) requireRunning(store.benchmarkRuns.record(benchmarkRunId)?.state ?? 'gone')
      store.scenarioRuns.insert({
        id,
        account,
        scenario_id: scenario.id,
        scenario_name: scenario.name,
        benchmark_run_id: benchmarkRunId,
        devbox_id: devbox.id,
        name,
        start_time_ms: Date.now(),
        metadata,
        profile,
        ...(attempt !== undefined && { attempt }),
        ...(retry !== undefined && { retry }),
      })
    } catch (error) {
      await devboxes.shutdown(account, devbox.id, { force: true })
      throw error
    }
    const { status } = devboxes.get(account, devbox.id)
    if (hasEnded(status)) this.#devboxMoved(devbox.id, status)
    return id
  }

  /** The folder at `/` that a working directory like /app is in; only a devbox with a root of its own can have one. */
  #ownFolder(workingDirectory: string): string[] | undefined {
    const [, top] = /^\/([A-Za-z0-9][A-Za-z0-9_-]*)(\/|$)/.exec(workingDirectory) ?? []
    const isOwn = top !== undefined && !readdirSync('/').includes(top) && this.#options.isolation !== 'none'
    return isOwn ? [top] : undefined
  }

  /** The run is `scoring` when this returns, and `scored` when its scorers are done. Throws 400, 404 or 409. */
  score(account: string, id: string): ScenarioRun {
    const { devboxes } = this.#options
    const run = this.#own(account, id)
    requireAllowed('score', run)
    const { status } = devboxes.get(account, run.devbox_id ?? '')
    const refusal = devboxRefusal('execute', status)
    if (refusal && !starting.includes(status))
      throw new ServiceError('invalid_argument', `${refusal}, so the run cannot be scored`, { shouldRetry: false })
    this.#move(run, 'score')
    this.#judge(run)
    return this.get(account, id)
  }

  /** Resolves when the devbox is gone, or after five seconds. Nothing happens to a completed run. Throws 404 or 409. */
  complete(account: string, id: string): Promise<ScenarioRun> {
    return this.#endBy(account, id, 'complete', 'completed')
  }

  /** Resolves when the devbox is gone, or after five seconds. Nothing happens to a canceled run. Throws 404 or 409. */
  cancel(account: string, id: string): Promise<ScenarioRun> {
    return this.#endBy(account, id, 'cancel', 'canceled')
  }

  async #endBy(account: string, id: string, action: 'complete' | 'cancel', last: string): Promise<ScenarioRun> {
    const run = this.#own(account, id)
    if (run.state !== last) requireAllowed(action, run)
    await this.end(id, action)
    return this.get(account, id)
  }

  /**
   * Ends a run and shuts its devbox down; resolves when that is gone, or after five seconds. Nothing happens to a run that
   * has ended.
   */
  async end(id: string, event: EndingEvent, ending: Ending = {}): Promise<void> {
    this.settle(id, event, ending)
    await this.released([id])
  }

  /** As `end`, but nothing waits for the devbox. */
  settle(id: string, event: EndingEvent, ending: Ending = {}): void {
    this.endAll([{ id, event, ...ending }])
  }

  /**
   * Registers work in the devbox of a run. When the run ends first, its devbox is shut down only when the work has ended,
   * which saves its logs, or after three seconds.
   */
  async working<T>(id: string, work: Promise<T>): Promise<T> {
    this.#working.set(id, work)
    try {
      return await work
    } finally {
      this.#working.delete(id)
    }
  }

  /** Ends runs and does what `also` writes in one transaction; the devboxes are shut down afterwards. */
  endAll(endings: readonly (Ending & { id: string; event: EndingEvent })[], also: () => void = () => undefined): void {
    const { store } = this.#options
    const ended = store.scenarioRuns.together(() => {
      const moved = endings.flatMap(({ id, event, ...ending }) => {
        const run = store.scenarioRuns.record(id)
        const to = run && this.#write(run, event, ending)
        return to ? [{ run, to }] : []
      })
      also()
      return moved
    })
    for (const { run, to } of ended) {
      const release = this.#shutdowns
        .run(this.#closing.signal, () => this.#release(run))
        // Rejects when the service stops; its next life shuts the devbox down.
        .catch(() => undefined)
        .finally(() => this.#releases.delete(run.id))
      this.#releases.set(run.id, release)
      this.changes.emit('state', run.id, to)
    }
  }

  /** Resolves when the devboxes of runs that were ended here are gone, or after five seconds. */
  async released(ids: readonly string[]): Promise<void> {
    await settledWithin(Promise.all(ids.map((id) => this.#releases.get(id))), shutdownAnswerMs)
  }

  /** Runs the scorers of a run's scenario in its devbox as it is now. Rejects when the devbox does not run. */
  async judge(run: ScenarioRunRecord, signal: AbortSignal = this.#closing.signal): Promise<ScoringResult> {
    const { store, devboxes, executions } = this.#options
    const { account, scenario_id } = run
    const devboxId = run.devbox_id ?? ''
    const workbench = new Workbench({ account, devboxId, devboxes, executions, signal })
    await workbench.settled()
    // Unspecified: a scenario changed while it ran. It is scored as it is by now.
    const scenario = store.scenarios.get(account, scenario_id) ?? notFound('scenario', scenario_id)
    const timeoutMs = (scenario.scorer_timeout_sec ?? defaultScorerTimeoutSeconds) * 1000
    const bench = {
      workbench,
      workingDirectory: scenario.environment?.working_directory || null,
      deadlineMs: Date.now() + timeoutMs,
    }
    const customScorer = (type: string) => store.scorers.byType(account, type)?.bash_script
    const result = await judge({ scenario, bench, customScorer })
    // Results of scorers whose devbox was suspended or ended meanwhile do not count: this throws then.
    devboxes.running(account, devboxId, 'execute')
    const { text } = createScrubber(Object.values(store.secrets.reveal(account, run.profile.secrets ?? {})))
    const results = result.scoring_function_results.map((each) => ({ ...each, output: text(each.output) }))
    return { ...result, scoring_function_results: results }
  }

  #judge(run: ScenarioRunRecord) {
    const { store, log } = this.#options
    const untilMs = Date.now() + minScoringMs
    const over = this.#closing.signal
    const judging = (async () => {
      let result: ScoringResult | undefined
      try {
        result = await this.judge(run)
        await delay(Math.max(0, untilMs - Date.now()), undefined, { signal: over })
      } catch (error) {
        if (over.aborted) return
        // A run that was canceled or failed meanwhile has ended; any other can be scored again by its caller.
        if (store.scenarioRuns.record(run.id)?.state === 'scoring')
          log({ level: 'warn', message: `Scenario run ${run.id} could not be scored`, error: String(error) })
      }
      const now = store.scenarioRuns.record(run.id)
      if (now) this.#move(now, result ? 'scored' : 'interrupt', result ? { result } : {})
    })()
      .catch((error: unknown) =>
        log({ message: `The score of run ${run.id} could not be stored`, error: String(error) }),
      )
      .finally(() => this.#judging.delete(judging))
    this.#judging.add(judging)
  }

  #own(account: string, id: string): ScenarioRunRecord {
    return this.#options.store.scenarioRuns.own(account, id) ?? notFound('scenario run', id)
  }

  #move(run: ScenarioRunRecord, event: ScenarioRunEvent, ending: Ending = {}) {
    const to = this.#write(run, event, ending)
    if (to) this.changes.emit('state', run.id, to)
  }

  /** The new state, or undefined when the event means nothing in the one the run is in by now. */
  #write(run: ScenarioRunRecord, event: ScenarioRunEvent, ending: Ending) {
    const to = nextRunState(run.state, event)
    if (to === undefined) return undefined
    const isMoved = this.#options.store.scenarioRuns.move(run.id, {
      from: run.state,
      to,
      timeMs: Date.now(),
      // A run that is scored again has no score until then.
      ...(event === 'score' && { result: null }),
      ...ending,
    })
    return isMoved ? to : undefined
  }

  async #release(run: ScenarioRunRecord): Promise<void> {
    const { devboxes, log } = this.#options
    if (run.devbox_id === null) return
    const work = this.#working.get(run.id)
    if (work) await settledWithin(work, saveMs)
    try {
      await devboxes.shutdown(run.account, run.devbox_id, { force: true })
    } catch (error) {
      log({ message: `The devbox of scenario run ${run.id} could not be shut down`, error: String(error) })
    }
  }

  readonly #devboxMoved = (devboxId: string, status: string) => {
    if (!hasEnded(status)) return
    const run = this.#options.store.scenarioRuns.byDevbox(devboxId)
    if (run && !isOfJob(run) && !hasScenarioRunEnded(run.state)) this.#endWithDevbox(run, status)
  }

  /**
   * Unspecified: what becomes of a run whose devbox ended by itself. One that was scored is completed, because only the
   * end of its devbox was missing; any other has failed.
   */
  #endWithDevbox(run: ScenarioRunRecord, status: string) {
    if (run.state === 'scored') this.#move(run, 'complete')
    else {
      const exception_message = `Devbox ${run.devbox_id} ended before the run did: ${status}`
      this.#move(run, 'fail', { failure: { exception_type: 'DevboxEndedError', exception_message } })
    }
  }
}

const starting = ['scheduled', 'queued', 'provisioning', 'initializing', 'resuming']

/** Resolves when the work has ended, however it did, or when the time is over. */
const settledWithin = async (work: Promise<unknown>, ms: number): Promise<void> => {
  const waited = new AbortController()
  const late = delay(ms, undefined, { signal: waited.signal })
  await Promise.race([work, late]).catch(() => undefined)
  waited.abort()
  await late.catch(() => undefined)
}

const isOfJob = ({ attempt }: ScenarioRunRecord) => attempt !== null

const requireAllowed = (action: 'score' | 'complete' | 'cancel', run: ScenarioRunRecord) => {
  // The job scores and ends its runs; a caller may cancel one, as it may cancel the whole benchmark run.
  const ofJob =
    isOfJob(run) && action !== 'cancel' ? 'The scenario run belongs to a job, which scores and ends it' : null
  const refusal = scenarioRunRefusal(action, run.state) ?? ofJob
  if (refusal) throw new ServiceError('conflict', refusal, { shouldRetry: false })
}

const requireRunning = (state: string) => {
  if (state !== 'running')
    throw new ServiceError('conflict', `The benchmark run is ${state}; it needs to be running`, {
      field: 'benchmark_run_id',
      shouldRetry: false,
    })
}
