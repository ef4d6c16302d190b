import { setTimeout as delay } from 'node:timers/promises'
import { type AgentConfig, type BenchmarkJob, hasJobEnded } from '#lib/contract/benchmark-jobs.ts'
import { hasScenarioRunEnded } from '#lib/contract/scenario-runs.ts'
import {
  type JobEvent,
  jobEnd,
  nextJobState,
  nodeLost,
  type RunFailure,
  runFailure,
  scenarioRunStateOf,
  type TrialPlace,
  trialPlaces,
} from '#lib/service/domain/benchmark-jobs.ts'
import { runScore } from '#lib/service/domain/benchmark-runs.ts'
import { countOf } from '#lib/service/kit/amounts.ts'
import { ServiceError } from '#lib/service/kit/errors.ts'
import { newId } from '#lib/service/kit/ids.ts'
import type { JobRecord } from '#lib/service/store/benchmark-jobs.ts'
import type { BenchmarkRunRecord } from '#lib/service/store/benchmark-runs.ts'
import type { Stores } from '#lib/service/store/stores.ts'
import type { BenchmarkRuns } from './benchmark-runs.ts'
import type { Needs } from './cluster-room.ts'
import {
  asException,
  defaultMetric,
  missingMetric,
  outcomeOf,
  type Rewards,
  rewardResult,
  TrialError,
} from './outcome.ts'
import { isRetried, type JobPlan, profileOf, retryDelaySeconds } from './plan.ts'
import type { EndingEvent, ScenarioRuns } from './scenario-runs.ts'
import type { SlotOwner, TrialSlots } from './trial-slots.ts'
import { endedBy, insertScenarioRun, isOutOfCapacity, type RunTrial, type Trial, type TrialEnd } from './trials.ts'

export interface JobDeps {
  store: Pick<Stores, 'benchmarkJobs' | 'benchmarkRuns' | 'scenarioRuns'>
  benchmarkRuns: BenchmarkRuns
  scenarioRuns: ScenarioRuns
  slots: TrialSlots
  runTrial: RunTrial
  /** Resources that the trial's devboxes need in a cluster; none outside of one. */
  needsOf: (trial: Trial) => Promise<readonly Needs[]>
  log: (entry: object) => void
}

interface PendingTrial extends TrialPlace {
  retry: number
}

interface RunningRun {
  record: BenchmarkRunRecord
  canceled: AbortController
  remaining: number
  running: number
  concurrency: number
}

/** After a trial ran; `repeat` doesn't count as a retry. */
type Next = 'end' | 'retry' | 'repeat'

/** How often a trial is repeated when its node is lost. */
const maxRepeats = 3

const interrupted = {
  exception_type: 'ServiceRestartError',
  exception_message: 'The service restarted during this trial, so it runs again',
}

// Wait before retrying for a devbox or disk space.
const minWaitMs = 200
const maxWaitMs = 5000

/** An ended job may have been deleted. */
export const hasEnded = ({ store }: Pick<JobDeps, 'store'>, id: string): boolean => {
  const job = store.benchmarkJobs.find(id)
  return !job || hasJobEnded(job.state)
}

export class RunningJob {
  readonly #deps: JobDeps
  readonly #job: JobRecord<JobPlan>
  readonly #stop: AbortSignal
  readonly #finished = Promise.withResolvers<void>()
  #runs: RunningRun[] = []
  #pending: PendingTrial[] = []
  #running = 0
  #concurrentTrials: number
  #metrics: string[]
  /** True once the pending trials are known; until then, having none is not the end. */
  #isResumed = false
  /** Why trials that hold no slot wait. */
  readonly #blocked = new Map<SlotOwner, string>()

  constructor(deps: JobDeps, job: JobRecord<JobPlan>, stop: AbortSignal) {
    this.#deps = deps
    this.#job = job
    this.#concurrentTrials = job.plan.concurrentTrials
    this.#metrics = job.metrics
    this.#stop = stop
  }

  /** Resolves when the job has ended, or soon after `stop` is aborted; a restarted service resumes it. */
  async work(): Promise<void> {
    try {
      this.#move('initialize')
      await this.#resumeWithCapacity()
      if (this.#hasEnded()) return
      this.#move('run')
      this.#isResumed = true
      this.#stop.addEventListener('abort', this.#fill, { once: true })
      this.#fill()
      await this.#finished.promise
      this.#stop.removeEventListener('abort', this.#fill)
      if (!this.#stop.aborted) this.#end()
    } catch (error) {
      if (!this.#stop.aborted) this.#fail(error)
    }
  }

  runEnded(runId: string): void {
    const run = this.#runs.find(({ record }) => record.id === runId)
    if (!run || run.canceled.signal.aborted) return
    run.canceled.abort()
    this.#pending = this.#pending.filter(({ agent }) => this.#runs[agent] !== run)
    this.#fill()
  }

  /** Trials that have not started leave no outcome. */
  cancel(): void {
    this.#abort('cancel', null)
  }

  setConcurrency(trials: number): void {
    this.#concurrentTrials = trials
    this.#fill()
  }

  /** Trials that the job's concurrency allows, but that have to wait. */
  get waiting(): BenchmarkJob['waiting'] {
    const inLine = this.#deps.slots.waiting(this.#job.id)
    const [blocked] = this.#blocked.values()
    const count = (inLine?.count ?? 0) + this.#blocked.size
    if (count === 0) return null
    const trials = countOf(count, 'trial waits', 'trials wait')
    return { n_trials: count, message: `${trials}${inLine?.reason ?? `: ${blocked}`}` }
  }

  timeOut(seconds: number): void {
    this.#abort('time_out', `The job did not end within ${seconds} seconds`)
  }

  async #resumeWithCapacity(): Promise<void> {
    for (;;) {
      try {
        return await this.#resume()
      } catch (error) {
        if (!isOutOfCapacity(error)) throw error
        await delay(maxWaitMs, undefined, { signal: this.#stop })
      }
    }
  }

  #hasEnded() {
    return hasEnded(this.#deps, this.#job.id)
  }

  async #resume(): Promise<void> {
    const { store } = this.#deps
    const { id, plan, spec } = this.#job
    this.#pending = []
    if (this.#hasEnded()) return
    const known = new Map(store.benchmarkRuns.ofJob(id).map((run) => [run.agent_index, run]))
    this.#runs = spec.agent_configs.map((_, index) => ({
      record: known.get(index) ?? this.#startRun(index),
      canceled: new AbortController(),
      remaining: 0,
      running: 0,
      concurrency: plan.harbor?.agents[index]?.nConcurrent ?? Number.POSITIVE_INFINITY,
    }))
    const replaced: Promise<void>[] = []
    const done = new Set<string>()
    const retries = new Map<string, number>()
    for (const [index, { record, canceled }] of this.#runs.entries()) {
      if (record.state !== 'running') canceled.abort()
      for (const each of store.scenarioRuns.ofBenchmarkRun(record.id)) {
        const key = keyOf({ agent: index, attempt: each.attempt ?? 0 }, each.scenario_id)
        // Unspecified: a trial that a restart interrupted. It runs again, and that is not a retry.
        if (!hasScenarioRunEnded(each.state)) replaced.push(this.#replace(each.id, interrupted))
        else if (!each.replaced) done.add(key)
        else if (each.outcome !== null) retries.set(key, (each.retry ?? 0) + 1)
      }
    }
    await Promise.all(replaced)
    for (const trial of trialPlaces(plan.attempts, plan.scenarios.length, this.#runs.length)) {
      const run = this.#runs[trial.agent]
      const scenario = plan.scenarios[trial.scenario]
      if (!run || !scenario || run.canceled.signal.aborted) continue
      const key = keyOf(trial, scenario.id)
      if (done.has(key)) continue
      this.#pending.push({ ...trial, retry: retries.get(key) ?? 0 })
      run.remaining++
    }
    for (const run of this.#runs) if (run.remaining === 0) this.#finishRun(run)
  }

  #startRun(index: number): BenchmarkRunRecord {
    const { benchmarkRuns } = this.#deps.store
    const { id: job_id, account, name, metadata, spec, plan } = this.#job
    const agent = spec.agent_configs[index] as AgentConfig
    return benchmarkRuns.insert({
      id: newId('bmr'),
      account,
      benchmark_id: plan.benchmarkId,
      name: `${name}: ${agent.name}${agent.model_name ? ` (${agent.model_name})` : ''}`,
      start_time_ms: Date.now(),
      // Unspecified: the metadata of a job. It is stored with its runs, which can be filtered by it.
      metadata,
      profile: profileOf(agent),
      job_id,
      agent_index: index,
      agent,
      planned_trials: plan.scenarios.length * plan.attempts,
    })
  }

  readonly #fill = () => {
    if (!this.#isResumed) return
    while (!this.#stop.aborted && this.#running < this.#concurrentTrials) {
      const at = this.#pending.findIndex(({ agent }) => hasRoom(this.#runs[agent]))
      const [trial] = at === -1 ? [] : this.#pending.splice(at, 1)
      const run = trial && this.#runs[trial.agent]
      if (!trial || !run) break
      void this.#start(run, trial)
    }
    if (this.#running === 0 && (this.#pending.length === 0 || this.#stop.aborted)) this.#finished.resolve()
  }

  async #start(run: RunningRun, trial: PendingTrial): Promise<void> {
    this.#running++
    run.running++
    try {
      await this.#runWithRetries(run, trial)
      run.remaining--
      if (run.remaining === 0 && !this.#stop.aborted) this.#finishRun(run)
    } catch (error) {
      if (!this.#stop.aborted && !run.canceled.signal.aborted) this.#fail(error)
    } finally {
      this.#running--
      run.running--
      this.#fill()
    }
  }

  async #runWithRetries(run: RunningRun, trial: PendingTrial): Promise<void> {
    const { plan, spec, account } = this.#job
    const signal = AbortSignal.any([run.canceled.signal, this.#stop])
    for (let retry = trial.retry; !signal.aborted; ) {
      const next = await this.#runWithCapacity(
        {
          account,
          run: run.record,
          agent: spec.agent_configs[trial.agent] as AgentConfig,
          scenario: plan.scenarios[trial.scenario] as JobPlan['scenarios'][number],
          plan,
          place: trial,
          retry,
        },
        signal,
      )
      if (next === 'end') return
      if (next === 'retry') await delay(retryDelaySeconds(plan.retry, retry++) * 1000, undefined, { signal })
    }
  }

  /** Waits for a slot and for a devbox of the account. A trial waiting for a devbox holds no slot. */
  async #runWithCapacity(trial: Trial, signal: AbortSignal): Promise<Next> {
    const needs = await this.#deps.needsOf(trial)
    for (let waitMs = minWaitMs; ; waitMs = Math.min(2 * waitMs, maxWaitMs)) {
      const owner = { account: this.#job.account, job: this.#job.id, needs, devboxIds: [] }
      try {
        return await this.#deps.slots.run(signal, owner, () => this.#runOnce(trial, signal, owner))
      } catch (error) {
        if (signal.aborted || !isOutOfCapacity(error)) throw error
        this.#blocked.set(owner, (error as Error).message)
      }
      await delay(waitMs, undefined, { signal }).finally(() => this.#blocked.delete(owner))
    }
  }

  async #runOnce(trial: Trial, signal: AbortSignal, { needs, devboxIds }: SlotOwner): Promise<Next> {
    const { store, scenarioRuns, runTrial, slots, log } = this.#deps
    const id = newId('scr')
    let end: TrialEnd
    const ended = new AbortController()
    const onState = (changed: string, state: string) => {
      if (changed === id && hasScenarioRunEnded(state)) ended.abort()
    }
    scenarioRuns.changes.on('state', onState)
    try {
      const problem = slots.sizeProblem(needs)
      if (problem !== undefined) throw new TrialError('SandboxBuildFailedError', problem)
      end = await runTrial(trial, id, {
        signal: AbortSignal.any([signal, ended.signal]),
        onDevbox: (devboxId) => devboxIds.push(devboxId),
      })
    } catch (error) {
      if (signal.aborted || ended.signal.aborted) return 'end'
      if (isOutOfCapacity(error)) {
        if (store.scenarioRuns.record(id)) await this.#replace(id, asException(error))
        throw error
      }
      if (!store.scenarioRuns.record(id)) insertScenarioRun(store.scenarioRuns, trial, id, null)
      end = endedBy(setUpFailure(error))
      log({ message: `Scenario run ${id} of job ${this.#job.id} failed`, error: String(error) })
    } finally {
      scenarioRuns.changes.off('state', onState)
    }
    if (signal.aborted || ended.signal.aborted) return 'end'
    const { retry } = this.#job.plan
    if (end.failure_reason?.exception_type === nodeLost && this.#isRepeated(trial)) {
      await this.#replace(id, end.failure_reason)
      return 'repeat'
    }
    const isRetry = end.failure_reason !== null && isRetried(retry, end.failure_reason.exception_type, trial.retry)
    // Before it ends, so that a scenario run with a retry is never an outcome.
    if (isRetry) store.scenarioRuns.replace(id)
    await this.#finish(id, isRetry || !end.rewards ? end : this.#scoreByMetric(end, end.rewards))
    return isRetry ? 'retry' : 'end'
  }

  /** Unspecified: a trial whose node was lost. It runs again, a few times, and that is not a retry. */
  #isRepeated({ run, scenario, place, plan }: Trial): boolean {
    if (plan.retry.exclude.includes(nodeLost)) return false
    const lost = this.#deps.store.scenarioRuns
      .ofBenchmarkRun(run.id)
      .filter(
        ({ scenario_id, attempt, failure, replaced }) =>
          scenario_id === scenario.id && attempt === place.attempt && replaced && failure?.exception_type === nodeLost,
      )
    return lost.length < maxRepeats
  }

  /** Resolves when the devbox is shut down, or after 5 s; the trial keeps its slot until then. */
  async #finish(
    id: string,
    { state, failure_reason, result, rewards, warnings, environment_differs, engine, agent_record }: TrialEnd,
  ): Promise<void> {
    const ending = {
      outcome: state,
      ...(result && { result }),
      ...(rewards && { rewards }),
      ...(failure_reason && { failure: failure_reason }),
      ...(warnings && { warnings }),
      ...(environment_differs && { environment_differs }),
      ...(engine && { engine }),
      ...(agent_record && { agent_record }),
    }
    await this.#deps.scenarioRuns.end(id, eventOf[state] ?? 'fail', ending)
  }

  /** Scores a trial by the job's metric, which may differ from its own default. */
  #scoreByMetric(end: TrialEnd, rewards: Rewards): TrialEnd {
    const metrics = [...new Set([...this.#metrics, ...Object.keys(rewards)])]
    const metric = defaultMetric(metrics)
    if (metrics.length > this.#metrics.length) {
      const isRescored = this.#metrics.length > 0 && defaultMetric(this.#metrics) !== metric
      this.#deps.store.scenarioRuns.transaction(() => {
        this.#deps.store.benchmarkJobs.setMetrics(this.#job.id, metrics, metric)
        if (isRescored) this.#rescore(metric, defaultMetric(this.#metrics))
      })
      this.#metrics = metrics
    }
    const outcome = outcomeOf(rewards, end.failure_reason, metric)
    const warnings = [...(end.warnings ?? []), ...missingMetric(rewards, metric)]
    return { ...end, ...outcome, result: rewardResult(rewards, outcome), warnings }
  }

  /** Scores earlier trials again: `reward` appeared late, and they were scored by another key. */
  #rescore(metric: string | null, before: string | null) {
    const { benchmarkRuns, scenarioRuns } = this.#deps.store
    for (const run of benchmarkRuns.ofJob(this.#job.id)) {
      for (const { id, rewards, failure, warnings, replaced } of scenarioRuns.ofBenchmarkRun(run.id)) {
        if (rewards === null || replaced) continue
        const outcome = outcomeOf(rewards, failure, metric)
        scenarioRuns.rescore(id, {
          state: scenarioRunStateOf[outcome.state],
          score: outcome.score,
          outcome: outcome.state,
          scoring_contract_result: rewardResult(rewards, outcome),
          warnings: [
            ...(warnings ?? []).filter((each) => !missingMetric(rewards, before).includes(each)),
            ...missingMetric(rewards, metric),
          ],
        })
      }
      if (run.end_time_ms !== null)
        benchmarkRuns.end(run.id, { ...run, score: runScore(scenarioRuns.ofBenchmarkRun(run.id)) })
    }
  }

  async #replace(id: string, failure: RunFailure): Promise<void> {
    const { store, scenarioRuns } = this.#deps
    store.scenarioRuns.replace(id)
    await scenarioRuns.end(id, 'fail', { failure })
  }

  #finishRun(run: RunningRun) {
    if (run.canceled.signal.aborted) return
    const { store, benchmarkRuns } = this.#deps
    const failure = runFailure(store.benchmarkJobs.endedTrials(run.record.id))
    benchmarkRuns.finish(run.record.id, failure === null ? 'completed' : 'failed')
  }

  #end() {
    const { benchmarkJobs, benchmarkRuns } = this.#deps.store
    const runs = benchmarkRuns.ofJob(this.#job.id)
    const end = jobEnd(runs)
    const failures = runs.map(({ id }) => runFailure(benchmarkJobs.endedTrials(id))).filter((each) => each !== null)
    this.#move(end, end === 'fail' ? (failures[0] ?? null) : null)
  }

  #fail(error: unknown) {
    this.#deps.log({ message: `Job ${this.#job.id} could not be run`, error: String(error) })
    this.#abort('fail', `The job failed: ${error instanceof Error ? error.message : error}`)
  }

  #abort(event: 'fail' | 'time_out' | 'cancel', reason: string | null) {
    const { store, scenarioRuns, benchmarkRuns } = this.#deps
    for (const run of store.benchmarkRuns.ofJob(this.#job.id)) {
      if (run.state !== 'running') continue
      for (const { id, state } of store.scenarioRuns.ofBenchmarkRun(run.id))
        if (!hasScenarioRunEnded(state)) scenarioRuns.endNow(id, event)
      benchmarkRuns.finish(run.id, event === 'cancel' ? 'canceled' : 'failed')
    }
    this.#move(event, reason)
  }

  #move(event: JobEvent, failureReason: string | null = null) {
    const { benchmarkJobs } = this.#deps.store
    const job = benchmarkJobs.find(this.#job.id)
    // Deleted after it was canceled.
    if (!job) return
    const to = nextJobState(job.state, event)
    if (to && to !== job.state) benchmarkJobs.move(this.#job.id, to, Date.now(), failureReason)
  }
}

const hasRoom = (run: RunningRun | undefined) => run !== undefined && run.running < run.concurrency

const keyOf = ({ agent, attempt }: Pick<TrialPlace, 'agent' | 'attempt'>, scenarioId: string) =>
  `${agent} ${attempt} ${scenarioId}`

const eventOf: Record<string, EndingEvent> = {
  COMPLETED: 'complete',
  FAILED: 'fail',
  TIMEOUT: 'time_out',
  CANCELED: 'cancel',
}

const setUpFailure = (error: unknown): RunFailure =>
  error instanceof ServiceError
    ? { exception_type: 'SandboxBuildFailedError', exception_message: error.message }
    : asException(error)
