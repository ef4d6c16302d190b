import { hasEnded, isOfTrial } from '#lib/contract/devboxes.ts'
import type { RunningWork, StopState } from '#lib/contract/drain.ts'
import { contract } from '#lib/contract/index.ts'
import type { Devboxes } from '#lib/service/devboxes/devboxes.ts'
import { countOf } from '#lib/service/kit/amounts.ts'
import { ServiceError } from '#lib/service/kit/errors.ts'
import { logError } from '#lib/service/kit/log.ts'
import type { DevboxStore } from '#lib/service/store/devboxes.ts'

type OwnedWork = RunningWork & { account: string }

interface Options {
  store: Pick<DevboxStore, 'find' | 'unended' | 'mustFind'>
  devboxes: Pick<Devboxes, 'outlivesService'>
  executions: { endingWithService(): Omit<OwnedWork, 'kind'>[] }
  jobs: { pause(): void; runningTrials(): Omit<OwnedWork, 'kind'>[] }
  snapshots: { inProgress(): Omit<OwnedWork, 'kind'>[] }
  blueprints: { inProgress(): Omit<OwnedWork, 'kind'>[] }
  now: () => number
}

const pollMs = 200
const retryAfterSeconds = 15

/** What starts work that a stop would interrupt. */
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

  #check() {
    const left = this.running()
    if (left.length > 0 && this.#options.now() < this.#deadlineMs) return
    clearInterval(this.#timer)
    const message =
      left.length === 0
        ? 'All work has finished; stopping'
        : `Stopping at the deadline with ${countOf(left.length, 'task')} running: ${left.map(({ id }) => id).join(', ')}`
    logError({ level: left.length === 0 ? 'info' : 'warn', message })
    this.#due.resolve()
  }

  /** What a stop would interrupt now. */
  running(account?: string): RunningWork[] {
    const { store, executions, jobs, snapshots, blueprints } = this.#options
    const isOfTrialDevbox = ({ devbox_id }: { devbox_id?: string | null | undefined }) => {
      const devbox = devbox_id ? store.find(devbox_id) : undefined
      return devbox !== undefined && isOfTrial(devbox)
    }
    const all: OwnedWork[] = [
      ...jobs.runningTrials().map((each) => ({ kind: 'trial', ...each })),
      ...executions.endingWithService().flatMap((each) => (isOfTrialDevbox(each) ? [] : { kind: 'command', ...each })),
      ...snapshots.inProgress().map((each) => ({ kind: 'snapshot', ...each })),
      ...blueprints.inProgress().map((each) => ({ kind: 'build', ...each })),
    ]
    return all
      .filter((each) => account === undefined || each.account === account)
      .map(({ account: _, ...rest }) => rest)
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
    const staying = own.filter(({ id }) => devboxes.outlivesService(id)).length
    return {
      stop: {
        since_ms: this.#sinceMs,
        deadline_ms: this.#deadlineMs,
        commands: count('command'),
        trials: count('trial'),
        snapshots: count('snapshot'),
        builds: count('build'),
        devboxes_restarting: own.length - staying,
        devboxes_staying: staying,
      },
    }
  }

  /** Throws 503 for what would start new work. */
  require(endpointId: string): void {
    if (this.#sinceMs === undefined || !rejected.has(endpointId)) return
    throw new ServiceError(
      'unavailable',
      'The service is about to restart and accepts no new devboxes, commands, jobs, snapshots or builds; try again once it is back',
      { retryAfterSeconds },
    )
  }
}
