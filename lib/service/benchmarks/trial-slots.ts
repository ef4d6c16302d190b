import type { Cluster } from '#lib/service/engine/box.ts'
import { countOf } from '#lib/service/kit/amounts.ts'
import { Slots } from '#lib/service/kit/slots.ts'
import { type Needs, roomProblem, sizeProblem } from './cluster-room.ts'

export interface SlotOwner {
  account: string
  job: string
  /** Resources of its current and future devboxes in a cluster. */
  needs: readonly Needs[]
  devboxIds: string[]
}

/** Queue of trials. The next slot goes to the account, then the job, with the fewest running trials. */
export class TrialSlots {
  readonly #count: number
  readonly #cluster: Cluster | undefined
  readonly #slots: Slots<SlotOwner>
  #isPaused = false

  constructor(count: number, cluster?: Cluster) {
    this.#count = count
    this.#cluster = cluster
    this.#slots = new Slots<SlotOwner>(count, {
      load: ({ account, job }, running) => {
        const ofAccount = running.filter((each) => each.account === account)
        return ofAccount.length * count + ofAccount.filter((each) => each.job === job).length
      },
      hasRoom: (owner) => !this.#isPaused && this.#problem(owner) === undefined,
    })
    cluster?.changes.on('nodes', this.#startNext)
  }

  /** Starts no more trials. */
  pause(): void {
    this.#isPaused = true
  }

  resume(): void {
    this.#isPaused = false
    this.#startNext()
  }

  get running(): readonly SlotOwner[] {
    return this.#slots.running
  }

  close(): void {
    this.#cluster?.changes.off('nodes', this.#startNext)
  }

  run<T>(signal: AbortSignal, owner: SlotOwner, work: () => Promise<T>): Promise<T> {
    return this.#slots.run(signal, work, owner)
  }

  /** The trials of a job that wait for a slot, and why. */
  waiting(job: string): { count: number; reason: string } | undefined {
    const waiting = this.#slots.waiting.filter((each) => each.job === job)
    const [first] = waiting
    if (!first) return undefined
    const problem = this.#problem(first)
    const reason = this.#isPaused
      ? ': the service is about to restart and continues the job afterwards'
      : problem === undefined
        ? `: the service runs at most ${countOf(this.#count, 'trial')} at once`
        : ` for the cluster: ${problem}`
    return { count: waiting.length, reason }
  }

  /** Why a trial can never run. */
  sizeProblem(needs: readonly Needs[]): string | undefined {
    return this.#cluster && sizeProblem(this.#cluster, needs)
  }

  readonly #startNext = () => this.#slots.startNext()

  #problem({ needs }: SlotOwner): string | undefined {
    const cluster = this.#cluster
    if (!cluster || this.sizeProblem(needs) !== undefined) return undefined
    const { running } = this.#slots
    const pending = running.flatMap((each) =>
      each.needs.slice(each.devboxIds.filter((id) => cluster.counts(id)).length),
    )
    const ownIds = new Set(running.flatMap(({ devboxIds }) => devboxIds))
    const waiting = cluster.waiting().filter(({ devboxId, isForRoom }) => isForRoom && !ownIds.has(devboxId))
    return roomProblem(cluster, needs, { pending, waiting })
  }
}
