import { hasEnded, isOfTrial } from '#lib/contract/devboxes.ts'
import { maxListed, type RunningWork, type StopState } from '#lib/contract/drain.ts'
import { contract } from '#lib/contract/index.ts'
import type { Devboxes } from '#lib/service/devboxes/devboxes.ts'
import { countOf } from '#lib/service/kit/amounts.ts'
import { ServiceError } from '#lib/service/kit/errors.ts'
import { logError } from '#lib/service/kit/log.ts'
import type { DevboxStore } from '#lib/service/store/devboxes.ts'
import type { OpenShell } from '#lib/service/terminals/terminals.ts'

type OwnedWork = RunningWork & { account: string }
type Found = Omit<OwnedWork, 'kind'>

interface Options {
  store: Pick<DevboxStore, 'find' | 'unended' | 'mustFind'>
  devboxes: Pick<Devboxes, 'outlivesService'>
  executions: { endingWithService(): Found[] }
  terminals: { endingWithService(): OpenShell[] }
  jobs: { pause(): void; resume(): void; runningTrials(): (Found & { devboxIds: readonly string[] })[] }
  scenarioRuns: { inScoring(): Found[] }
  snapshots: { inProgress(): Found[] }
  blueprints: { inProgress(): Found[] }
  now: () => number
}

const pollMs = 200
const retryAfterSeconds = 15
/** Someone who typed in a shell within this time is likely to continue. */
const recentUseMs = 5 * 60 * 1000
const maxNameLength = 200

/** Operations that start work which a stop would interrupt. */
const rejected = new Set<string>(
  [
    ...[contract.devboxes.create, contract.devboxes.createAndAwaitRunning, contract.devboxes.resume],
    ...[contract.executions.execute, contract.executions.executeAsync, contract.executions.executeSync],
    ...[contract.benchmarkJobs.create, contract.benchmarks.startRun, contract.scenarioRuns.start],
    ...[contract.blueprints.create, contract.snapshots.create, contract.snapshots.createAsync],
  ].map(({ id }) => id),
)

/** Accepts no new work, and stops the service once what is running has finished, or at a deadline. */
export class PlannedStop {
  readonly #options: Options
  readonly #due = Promise.withResolvers<void>()
  #sinceMs: number | undefined
  #isDue = false
  #deadlineMs = 0
  #timer: NodeJS.Timeout | undefined

  constructor(options: Options) {
    this.#options = options
  }

  /** Resolves when the service may stop. */
  get due(): Promise<void> {
    return this.#due.promise
  }

  close(): void {
    clearInterval(this.#timer)
  }

  /** A later call changes the deadline. */
  start(waitSeconds: number): RunningWork[] {
    const { jobs, now } = this.#options
    this.#deadlineMs = now() + waitSeconds * 1000
    if (this.#sinceMs === undefined) {
      this.#sinceMs = now()
      jobs.pause()
      this.#timer = setInterval(() => this.#check(), pollMs)
    }
    return this.running()
  }

  /** Accepts work again. False if no stop is planned; throws 409 if it has begun. */
  cancel(): boolean {
    if (this.#isDue)
      throw new ServiceError('conflict', 'The service is already stopping; start it again', { shouldRetry: false })
    if (this.#sinceMs === undefined) return false
    clearInterval(this.#timer)
    this.#sinceMs = undefined
    this.#options.jobs.resume()
    logError({ level: 'info', message: 'The planned stop is canceled; accepting work again' })
    return true
  }

  /** The work a planned stop waits for; null if none is planned. */
  pending(): RunningWork[] | null {
    return this.#sinceMs === undefined ? null : this.running()
  }

  #check() {
    const left = this.running()
    if (left.length > 0 && this.#options.now() < this.#deadlineMs) return
    clearInterval(this.#timer)
    this.#isDue = true
    const message =
      left.length === 0
        ? 'All work has finished; stopping'
        : `Stopping at the deadline with ${countOf(left.length, 'task')} running: ${left.map(({ id }) => id).join(', ')}`
    logError({ level: left.length === 0 ? 'info' : 'warn', message })
    this.#due.resolve()
  }

  /** The work a stop would interrupt now. */
  running(account?: string): RunningWork[] {
    const { store, executions, terminals, jobs, scenarioRuns, snapshots, blueprints, now } = this.#options
    const trials = jobs.runningTrials()
    const scorings = scenarioRuns.inScoring()
    // Commands in devboxes of trials and scorings count as part of these.
    const covered = new Set([
      ...trials.flatMap(({ devboxIds }) => devboxIds),
      ...scorings.flatMap(({ devbox_id }) => devbox_id ?? []),
    ])
    const all: OwnedWork[] = [
      ...trials.map(({ devboxIds, ...each }) => ({ kind: 'trial', ...each, devbox_id: devboxIds.at(-1) })),
      ...scorings.map((each) => ({ kind: 'scoring', ...each })),
      ...executions
        .endingWithService()
        .filter(({ devbox_id }) => !covered.has(devbox_id ?? ''))
        .map((each) => ({ kind: 'command', ...each })),
      ...terminals
        .endingWithService()
        .filter((each) => isInUse(each, now()))
        .map(({ lastInputMs: _, ...each }) => ({ kind: 'shell', ...each })),
      ...snapshots.inProgress().map((each) => ({ kind: 'snapshot', ...each })),
      ...blueprints.inProgress().map((each) => ({ kind: 'build', ...each })),
    ]
    return all
      .filter((each) => account === undefined || each.account === account)
      .map(({ account: _, name, devbox_id, ...rest }) => ({
        ...rest,
        ...(name && { name: name.slice(0, maxNameLength) }),
        ...(devbox_id && { devbox_id, devbox_name: store.find(devbox_id)?.name }),
      }))
  }

  state(account: string): StopState {
    if (this.#sinceMs === undefined) return { stop: null }
    const { store, devboxes } = this.#options
    const running = this.running(account)
    const count = (kind: string) => running.filter((each) => each.kind === kind).length
    const own = store
      .unended()
      .map((id) => store.mustFind(id))
      .filter((devbox) => devbox.account === account && devbox.status !== 'suspended' && !hasEnded(devbox.status))
      .filter((devbox) => !isOfTrial(devbox))
    const restarting = own.filter(({ id }) => !devboxes.outlivesService(id))
    return {
      stop: {
        since_ms: this.#sinceMs,
        deadline_ms: this.#deadlineMs,
        commands: count('command'),
        trials: count('trial'),
        snapshots: count('snapshot'),
        builds: count('build'),
        shells: count('shell'),
        scorings: count('scoring'),
        running: running.slice(0, maxListed),
        devboxes_restarting: restarting.length,
        restarting: restarting.slice(0, maxListed).map(({ id, name }) => ({ id, name })),
        devboxes_staying: own.length - restarting.length,
      },
    }
  }

  /** Throws 503 for operations that would start new work. */
  require(endpointId: string): void {
    if (this.#sinceMs === undefined || !rejected.has(endpointId)) return
    throw new ServiceError(
      'unavailable',
      'The service is about to restart and accepts no new devboxes, commands, jobs, snapshots or builds; try again once it is back',
      { retryAfterSeconds },
    )
  }
}

/** Whether a shell is in use: a program runs in it, or it was used recently. */
export const isInUse = ({ program, lastInputMs }: Pick<OpenShell, 'program' | 'lastInputMs'>, nowMs: number): boolean =>
  program !== undefined || (lastInputMs !== undefined && nowMs - lastInputMs < recentUseMs)
