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
import { mergeLaunchParameters, mergeProfiles, requireNeeds } from '#lib/service/domain/run-profile.ts'
import { nextRunState, type ScenarioRunEvent } from '#lib/service/domain/scenario-runs.ts'
import type { Isolation } from '#lib/service/engine/box.ts'
import type { Executions } from '#lib/service/executions/executions.ts'
import { invalid, notFound, ServiceError } from '#lib/service/kit/errors.ts'
import { newId } from '#lib/service/kit/ids.ts'
import { Slots } from '#lib/service/kit/slots.ts'
import type { ScenarioRunMove, ScenarioRunRecord } from '#lib/service/store/scenario-runs.ts'
import type { Stores } from '#lib/service/store/stores.ts'
import { runScoringFunctions } from './score.ts'
import { createScrubber } from './scrub.ts'
import { quotePath, Workbench } from './workbench.ts'

/** Public clients expect to see `scoring` at least once, however fast the scorers are. */
const minScoringMs = 150
const shutdownTimeoutMs = 5000
// More would not finish sooner and would slow down other requests.
const maxConcurrentShutdowns = 16
const saveTimeoutMs = 3000

interface Options {
  store: Pick<Stores, 'scenarioRuns' | 'benchmarkRuns' | 'benchmarks' | 'scenarios' | 'scorers' | 'secrets'>
  devboxes: Devboxes
  executions: Executions
  isolation: Isolation
  log: (entry: object) => void
}

export interface Opening {
  id?: string
  account: string
  scenario: Pick<Scenario, 'id' | 'name' | 'environment'>
  benchmarkRunId: string | null
  name: string | null
  metadata: Record<string, string>
  profile: RunProfile
  /** Set for a job's run, which does not end with its devbox. */
  attempt?: number
  retry?: number
  root?: readonly string[]
  network?: 'none'
}

type Ending = Omit<ScenarioRunMove, 'from' | 'to' | 'timeMs'>

export type EndingEvent = Extract<ScenarioRunEvent, 'complete' | 'cancel' | 'fail' | 'time_out'>

export class ScenarioRuns {
  /** Emits `state` with (id, state) after every transition. */
  readonly changes = new EventEmitter().setMaxListeners(0)
  readonly #options: Options
  readonly #scoring = new Map<Promise<void>, ScenarioRunRecord>()
  readonly #releases = new Map<string, Promise<void>>()
  readonly #working = new Map<string, Promise<unknown>>()
  readonly #shutdowns = new Slots(maxConcurrentShutdowns)
  readonly #closing = new AbortController()

  constructor(options: Options) {
    this.#options = options
    options.devboxes.changes.on('status', this.#devboxMoved)
  }

  /** Call once devboxes have recovered. Shuts down devboxes of ended runs and restarts interrupted scoring. */
  recover(): void {
    const { store, devboxes, log } = this.#options
    for (const { id, account } of store.scenarioRuns.strayDevboxes())
      void devboxes
        .shutdown(account, id, { force: true })
        .catch((error: unknown) =>
          log({ message: `Devbox ${id} has no run and could not be shut down`, error: String(error) }),
        )
    for (const run of store.scenarioRuns.unended()) {
      if (belongsToJob(run)) continue
      const { status } = devboxes.get(run.account, run.devbox_id ?? '')
      if (hasEnded(status)) this.#endWithDevbox(run, status)
      else if (run.state === 'scoring') this.#runScorersAndMove(run)
    }
  }

  async close(): Promise<void> {
    this.#options.devboxes.changes.off('status', this.#devboxMoved)
    this.#closing.abort()
    await Promise.allSettled(this.#scoring.keys())
  }

  /** Runs without a job that are being scored. */
  inScoring(): { account: string; id: string; name: string; devbox_id: string | null }[] {
    return [...this.#scoring.values()].map(({ account, id, name, scenario_name, devbox_id }) => ({
      account,
      id,
      name: name ?? scenario_name,
      devbox_id,
    }))
  }

  get(account: string, id: string): ScenarioRun {
    return this.#options.store.scenarioRuns.get(account, id) ?? notFound('scenario run', id)
  }

  async start(account: string, body: ScenarioRunStart): Promise<ScenarioRun> {
    const { store } = this.#options
    const scenario = store.scenarios.get(account, body.scenario_id) ?? notFound('scenario', body.scenario_id)
    if (scenario.status !== 'active')
      throw invalid({ field: 'scenario_id', message: `scenario ${scenario.id} is archived and cannot run` })
    const under = body.benchmark_run_id ? this.#profileOf(account, body.benchmark_run_id, scenario.id) : {}
    const profile = mergeProfiles(under, body.runProfile ?? {})
    requireNeeds(store.secrets, account, scenario, profile)
    const id = await this.open({
      account,
      scenario,
      benchmarkRunId: body.benchmark_run_id || null,
      name: body.run_name || null,
      metadata: body.metadata ?? {},
      profile,
    })
    return this.get(account, id)
  }

  #profileOf(account: string, benchmarkRunId: string, scenarioId: string): RunProfile {
    const { store } = this.#options
    const field = 'benchmark_run_id'
    const run = store.benchmarkRuns.own(account, benchmarkRunId) ?? notFound('benchmark run', benchmarkRunId)
    requireRunning(run.state)
    if (run.job_id !== null)
      throw invalid({ field, message: `run ${run.id} belongs to a job, which starts its scenarios` })
    const benchmark = run.benchmark_id === null ? undefined : store.benchmarks.get(account, run.benchmark_id)
    if (benchmark && !benchmark.scenarioIds.includes(scenarioId))
      throw invalid({
        field: 'scenario_id',
        message: `scenario ${scenarioId} is not part of benchmark ${benchmark.id}`,
      })
    return run.profile
  }

  async open(opening: Opening): Promise<string> {
    const { store, devboxes } = this.#options
    const { account, scenario, benchmarkRunId, name, metadata, profile, attempt, retry, network } = opening
    const id = opening.id ?? newId('scr')
    const environment = scenario.environment ?? {}
    const launchParameters = mergeLaunchParameters(environment.launch_parameters ?? {}, profile.launchParameters ?? {})
    const folder = environment.working_directory
    const ownFolder = folder && !environment.blueprint_id ? this.#ownFolder(folder) : undefined
    const root = opening.root ?? ownFolder
    const devbox = await devboxes.create(
      account,
      {
        name: name ?? scenario.name,
        // Unspecified: who creates the working directory. The service does.
        launch_parameters: folder
          ? mergeLaunchParameters(launchParameters, { launch_commands: [`mkdir -p -- ${quotePath(folder)}`] })
          : launchParameters,
        environment_variables: profile.envVars,
        secrets: profile.secrets,
        snapshot_id: environment.snapshot_id || null,
        blueprint_id: environment.blueprint_id || null,
        mounts: profile.mounts,
      },
      {
        initiatorType: 'scenario',
        initiatorId: id,
        ...(root && { origin: { kind: 'root', root } }),
        ...(network && { network }),
      },
    )
    try {
      // The benchmark run may have ended while the devbox was created. No await between this check and the insert.
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

  /** The folder at `/` of a working directory like /app; only isolated devboxes can have one. */
  #ownFolder(workingDirectory: string): string[] | undefined {
    const [, top] = /^\/([A-Za-z0-9][A-Za-z0-9_-]*)(\/|$)/.exec(workingDirectory) ?? []
    const isOwn = top !== undefined && !readdirSync('/').includes(top) && this.#options.isolation !== 'none'
    return isOwn ? [top] : undefined
  }

  score(account: string, id: string): ScenarioRun {
    const { devboxes } = this.#options
    const run = this.#own(account, id)
    requireAllowed('score', run)
    const { status } = devboxes.get(account, run.devbox_id ?? '')
    const reason = devboxRefusal('execute', status)
    if (reason && !starting.includes(status))
      throw new ServiceError('invalid_argument', `${reason}, so the run cannot be scored`, { shouldRetry: false })
    this.#move(run, 'score')
    this.#runScorersAndMove(run)
    return this.get(account, id)
  }

  complete(account: string, id: string): Promise<ScenarioRun> {
    return this.#endBy(account, id, 'complete', 'completed')
  }

  cancel(account: string, id: string): Promise<ScenarioRun> {
    return this.#endBy(account, id, 'cancel', 'canceled')
  }

  async #endBy(account: string, id: string, action: 'complete' | 'cancel', last: string): Promise<ScenarioRun> {
    const run = this.#own(account, id)
    if (run.state !== last) requireAllowed(action, run)
    await this.end(id, action)
    return this.get(account, id)
  }

  /** Ends a run and shuts down its devbox. Resolves when that is done, or after 5 s. */
  async end(id: string, event: EndingEvent, ending: Ending = {}): Promise<void> {
    this.endNow(id, event, ending)
    await this.released([id])
  }

  endNow(id: string, event: EndingEvent, ending: Ending = {}): void {
    this.endAll([{ id, event, ...ending }])
  }

  /** If the run ends first, its devbox stays up to 3 s longer for this work to save logs. */
  async working<T>(id: string, work: Promise<T>): Promise<T> {
    this.#working.set(id, work)
    try {
      return await work
    } finally {
      this.#working.delete(id)
    }
  }

  /** Ends runs and calls `also` in one transaction, then shuts down their devboxes. */
  endAll(
    endings: readonly (Ending & { id: string; event: EndingEvent })[],
    alsoWrite: () => void = () => undefined,
  ): void {
    const { store } = this.#options
    const ended = store.scenarioRuns.transaction(() => {
      const moved = endings.flatMap(({ id, event, ...ending }) => {
        const run = store.scenarioRuns.record(id)
        const to = run && this.#write(run, event, ending)
        return to ? [{ run, to }] : []
      })
      alsoWrite()
      return moved
    })
    for (const { run, to } of ended) {
      const release = this.#shutdowns
        .run(this.#closing.signal, () => this.#release(run))
        // The service is stopping; the next start shuts the devbox down.
        .catch(() => undefined)
        .finally(() => this.#releases.delete(run.id))
      this.#releases.set(run.id, release)
      this.changes.emit('state', run.id, to)
    }
  }

  async released(ids: readonly string[]): Promise<void> {
    await settledWithin(Promise.all(ids.map((id) => this.#releases.get(id))), shutdownTimeoutMs)
  }

  /** Scores a run in its devbox. Rejects if the devbox is not running. */
  async runScorers(run: ScenarioRunRecord, signal: AbortSignal = this.#closing.signal): Promise<ScoringResult> {
    const { store, devboxes, executions } = this.#options
    const { account, scenario_id } = run
    const devboxId = run.devbox_id ?? ''
    const workbench = new Workbench({ account, devboxId, devboxes, executions, signal })
    await workbench.settled()
    // Unspecified: a scenario that changed during the run. Its current version is scored.
    const scenario = store.scenarios.get(account, scenario_id) ?? notFound('scenario', scenario_id)
    const timeoutMs = (scenario.scorer_timeout_sec ?? defaultScorerTimeoutSeconds) * 1000
    const bench = {
      workbench,
      workingDirectory: scenario.environment?.working_directory || null,
      deadlineMs: Date.now() + timeoutMs,
    }
    const customScorer = (type: string) => store.scorers.byType(account, type)?.bash_script
    const result = await runScoringFunctions({ scenario, bench, customScorer })
    // Throws if the devbox was suspended or ended meanwhile: the results do not count.
    devboxes.running(account, devboxId, 'execute')
    const { text } = createScrubber(Object.values(store.secrets.reveal(account, run.profile.secrets ?? {})))
    const results = result.scoring_function_results.map((each) => ({ ...each, output: text(each.output) }))
    return { ...result, scoring_function_results: results }
  }

  #runScorersAndMove(run: ScenarioRunRecord) {
    const { store, log } = this.#options
    const notBeforeMs = Date.now() + minScoringMs
    const closing = this.#closing.signal
    const scoring = (async () => {
      let result: ScoringResult | undefined
      try {
        result = await this.runScorers(run)
        await delay(Math.max(0, notBeforeMs - Date.now()), undefined, { signal: closing })
      } catch (error) {
        if (closing.aborted) return
        // A canceled or failed run has ended; any other can be scored again.
        if (store.scenarioRuns.record(run.id)?.state === 'scoring')
          log({ level: 'warn', message: `Scenario run ${run.id} could not be scored`, error: String(error) })
      }
      const now = store.scenarioRuns.record(run.id)
      if (now) this.#move(now, result ? 'scored' : 'interrupt', result ? { result } : {})
    })()
      .catch((error: unknown) =>
        log({ message: `The score of run ${run.id} could not be stored`, error: String(error) }),
      )
      .finally(() => this.#scoring.delete(scoring))
    this.#scoring.set(scoring, run)
  }

  #own(account: string, id: string): ScenarioRunRecord {
    return this.#options.store.scenarioRuns.own(account, id) ?? notFound('scenario run', id)
  }

  #move(run: ScenarioRunRecord, event: ScenarioRunEvent, ending: Ending = {}) {
    const to = this.#write(run, event, ending)
    if (to) this.changes.emit('state', run.id, to)
  }

  #write(run: ScenarioRunRecord, event: ScenarioRunEvent, ending: Ending) {
    const to = nextRunState(run.state, event)
    if (to === undefined) return undefined
    const isMoved = this.#options.store.scenarioRuns.move(run.id, {
      from: run.state,
      to,
      timeMs: Date.now(),
      ...(event === 'score' && { result: null }),
      ...ending,
    })
    return isMoved ? to : undefined
  }

  async #release(run: ScenarioRunRecord): Promise<void> {
    const { devboxes, log } = this.#options
    if (run.devbox_id === null) return
    const work = this.#working.get(run.id)
    if (work) await settledWithin(work, saveTimeoutMs)
    try {
      await devboxes.shutdown(run.account, run.devbox_id, { force: true })
    } catch (error) {
      log({ message: `The devbox of scenario run ${run.id} could not be shut down`, error: String(error) })
    }
  }

  readonly #devboxMoved = (devboxId: string, status: string) => {
    if (!hasEnded(status)) return
    const run = this.#options.store.scenarioRuns.byDevbox(devboxId)
    if (run && !belongsToJob(run) && !hasScenarioRunEnded(run.state)) this.#endWithDevbox(run, status)
  }

  /** Unspecified: a run whose devbox ended on its own. It completes if it was scored, otherwise it fails. */
  #endWithDevbox(run: ScenarioRunRecord, status: string) {
    if (run.state === 'scored') this.#move(run, 'complete')
    else {
      const exception_message = `Devbox ${run.devbox_id} ended before its run: ${status}`
      this.#move(run, 'fail', { failure: { exception_type: 'DevboxEndedError', exception_message } })
    }
  }
}

const starting = ['scheduled', 'queued', 'provisioning', 'initializing', 'resuming']

const settledWithin = async (work: Promise<unknown>, ms: number): Promise<void> => {
  const waited = new AbortController()
  const timeout = delay(ms, undefined, { signal: waited.signal })
  await Promise.race([work, timeout]).catch(() => undefined)
  waited.abort()
  await timeout.catch(() => undefined)
}

const belongsToJob = ({ attempt }: ScenarioRunRecord) => attempt !== null

const requireAllowed = (action: 'score' | 'complete' | 'cancel', run: ScenarioRunRecord) => {
  // The job scores and ends its runs, but a caller may cancel one.
  const ofJob =
    belongsToJob(run) && action !== 'cancel' ? 'The scenario run belongs to a job, which scores and ends it' : null
  const reason = scenarioRunRefusal(action, run.state) ?? ofJob
  if (reason) throw new ServiceError('conflict', reason, { shouldRetry: false })
}

const requireRunning = (state: string) => {
  if (state !== 'running')
    throw new ServiceError('conflict', `The benchmark run is ${state}, not running`, {
      field: 'benchmark_run_id',
      shouldRetry: false,
    })
}
