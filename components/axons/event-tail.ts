import { type FollowOptions, initialHealth, type LiveHealth } from '#lib/browser/live/follow.ts'
import { SnapshotStore } from '#lib/browser/live/snapshot-store.ts'
import { backoffMs, pause } from '#lib/client/backoff.ts'
import { serviceNow } from '#lib/client/clock.ts'
import type { AxonEvent } from '#lib/contract/axons.ts'
import { mergeEvents } from './event-rows.ts'

export interface EventSource {
  /** The newest events, before a sequence if one is given; newest first. */
  page(before: number | undefined, signal?: AbortSignal): Promise<{ events: AxonEvent[]; has_more: boolean }>
  /** Resolves when the stream has ended; rejects when a retry cannot help. */
  follow(options: FollowOptions<'axons.subscribe'>): Promise<void>
  /** Whether the log is complete, rather than the stream broken. */
  hasEnded(signal: AbortSignal): Promise<boolean>
  isFinal(error: unknown): boolean
}

export interface TailSnapshot {
  events: readonly AxonEvent[]
  hasOlder: boolean
  /** Events dropped from the page to stay within the limit. */
  dropped: number
  isLoading: boolean
  health: LiveHealth
  /** The axon is deleted, so the log is complete. */
  hasEnded: boolean
  error: unknown
}

export const maxEvents = 20_000
const retryBackoff = { firstMs: 500, maxMs: 10_000 }

export class EventTail extends SnapshotStore<TailSnapshot> {
  readonly #source: EventSource
  #events: AxonEvent[] = []
  /** Arrived since the last snapshot. */
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
      health: initialHealth,
      hasEnded: false,
      error: null,
    })
    this.#source = source
  }

  /** Resolves when the log has ended or failed, or `signal` aborts; never rejects. */
  async follow(signal: AbortSignal): Promise<void> {
    for (let attempt = 0; !signal.aborted; ) {
      try {
        if (this.getSnapshot().isLoading) {
          const { events, has_more } = await this.#source.page(undefined, signal)
          this.#add(events.toReversed())
          this.#hasOlder = has_more
          this.publish({ isLoading: false })
        }
        await this.#source.follow({
          signal,
          position: this.#last === undefined ? undefined : String(this.#last),
          onItems: (events) => {
            attempt = 0
            this.#add(events)
          },
          onHealth: (health) => this.publish({ health }),
        })
        if (signal.aborted) return
        if (await this.#source.hasEnded(signal)) return this.publish({ hasEnded: true })
      } catch (error) {
        if (signal.aborted) return
        if (this.#source.isFinal(error)) return this.publish({ isLoading: false, error })
        const { health } = this.getSnapshot()
        if (health.state !== 'lost') this.publish({ health: { ...health, state: 'lost', sinceMs: serviceNow() } })
      }
      await pause(backoffMs(attempt++, retryBackoff), signal)
    }
  }

  async loadOlder(): Promise<void> {
    const { events, has_more } = await this.#source.page(this.#events[0]?.sequence)
    this.#events = mergeEvents(events.toReversed(), this.#events)
    this.#hasOlder = has_more
    this.publish()
  }

  async fill(to: number): Promise<void> {
    const { events } = await this.#source.page(to + 1)
    this.#events = mergeEvents(this.#events, events.toReversed())
    this.publish()
  }

  #add(events: AxonEvent[]) {
    this.#arrived.push(...events)
    this.#last = events.at(-1)?.sequence ?? this.#last
    this.publishSoon()
  }

  protected override collect() {
    this.#events = mergeEvents(this.#events, this.#arrived)
    this.#arrived = []
    // Trimmed in steps: dropping one per arrival would shift the page each time.
    if (this.#events.length > maxEvents * 1.1) {
      this.#dropped += this.#events.length - maxEvents
      this.#events = this.#events.slice(-maxEvents)
      this.#hasOlder = true
    }
    return { events: this.#events, hasOlder: this.#hasOlder, dropped: this.#dropped }
  }
}
