import { backoffMs, pause } from '#lib/client/backoff.ts'
import type { AxonEvent } from '#lib/contract/axons.ts'
import { mergeEvents } from './event-log.ts'
import { type FollowOptions, type LiveHealth, noHealth } from './follow.ts'
import { SnapshotStore } from './snapshot-store.ts'

/** Where a tail gets its events from. */
export interface EventSource {
  /** The newest events before a sequence, or of all, newest first. */
  page(before: number | undefined, signal?: AbortSignal): Promise<{ events: AxonEvent[]; has_more: boolean }>
  /** What comes after a position, or all there is; resolves when the stream has ended, rejects when asking again cannot help. */
  follow(options: FollowOptions<'axons.subscribe'>): Promise<void>
  /** Whether a stream that has ended will tell nothing more. */
  hasEnded(signal: AbortSignal): Promise<boolean>
  /** True when asking again cannot help. */
  isLost(error: unknown): boolean
}

export interface TailSnapshot {
  /** Oldest first. */
  events: readonly AxonEvent[]
  /** Whether the log has events before those. */
  hasOlder: boolean
  /** Events that were let go again to keep the page light; the log still has them. */
  dropped: number
  /** The newest events are not there yet. */
  isLoading: boolean
  health: LiveHealth
  /** The axon is deleted, and its log complete. */
  hasEnded: boolean
  /** Why the log can no longer be followed. */
  lost: unknown
}

/** As many as anyone scrolls through, and as few as a page carries without effort. */
export const maxKept = 20_000
/** Between two calls of the service after one has failed. */
const askAgain = { firstMs: 500, maxMs: 10_000 }

/** The log of one axon from its newest events on, for as long as someone looks at it. */
export class EventTail extends SnapshotStore<TailSnapshot> {
  readonly #source: EventSource
  #events: AxonEvent[] = []
  /** Arrived and not drawn yet. */
  #arrived: AxonEvent[] = []
  #last: number | undefined
  #hasOlder = false
  #dropped = 0

  constructor(source: EventSource) {
    super({
      events: [],
      hasOlder: false,
      dropped: 0,
      isLoading: true,
      health: noHealth,
      hasEnded: false,
      lost: null,
    })
    this.#source = source
  }

  /** Resolves when the log has ended, is lost, or `signal` aborts; never rejects. */
  async follow(signal: AbortSignal): Promise<void> {
    for (let attempt = 0; !signal.aborted; ) {
      try {
        if (this.getSnapshot().isLoading) {
          const { events, has_more } = await this.#source.page(undefined, signal)
          this.#take(events.toReversed())
          this.#hasOlder = has_more
          this.publish({ isLoading: false })
        }
        await this.#source.follow({
          signal,
          position: this.#last === undefined ? undefined : String(this.#last),
          onItems: (events) => {
            attempt = 0
            this.#take(events)
          },
          onHealth: (health) => this.publish({ health }),
        })
        if (signal.aborted) return
        if (await this.#source.hasEnded(signal)) return this.publish({ hasEnded: true })
      } catch (error) {
        if (signal.aborted) return
        if (this.#source.isLost(error)) return this.publish({ isLoading: false, lost: error })
        const { health } = this.getSnapshot()
        if (health.state !== 'lost') this.publish({ health: { ...health, state: 'lost', sinceMs: Date.now() } })
      }
      await pause(backoffMs(attempt++, askAgain), signal)
    }
  }

  /** Adds the page before the oldest event. Rejects as the source does. */
  async loadOlder(): Promise<void> {
    const { events, has_more } = await this.#source.page(this.#events[0]?.sequence)
    this.#events = mergeEvents(events.toReversed(), this.#events)
    this.#hasOlder = has_more
    this.publish()
  }

  /** Asks for the events up to a sequence that are missing. Rejects as the source does. */
  async fill(to: number): Promise<void> {
    const { events } = await this.#source.page(to + 1)
    this.#events = mergeEvents(this.#events, events.toReversed())
    this.publish()
  }

  #take(events: AxonEvent[]) {
    this.#arrived.push(...events)
    this.#last = events.at(-1)?.sequence ?? this.#last
    this.publishSoon()
  }

  protected override collect() {
    this.#events = mergeEvents(this.#events, this.#arrived)
    this.#arrived = []
    // Cut in steps: dropping one for each that comes would move everything on the screen every time.
    if (this.#events.length > maxKept * 1.1) {
      this.#dropped += this.#events.length - maxKept
      this.#events = this.#events.slice(-maxKept)
      this.#hasOlder = true
    }
    return { events: this.#events, hasOlder: this.#hasOlder, dropped: this.#dropped }
  }
}
