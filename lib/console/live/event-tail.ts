import type { AxonEvent } from '#lib/contract/axons.ts'
import { pause, retryMs } from '../api/retry.ts'
import { mergeEvents } from './event-log.ts'

/** Where a tail gets its events from. */
export interface EventSource {
  /** The newest events before a sequence, or of all, newest first. */
  page(before: number | undefined, signal?: AbortSignal): Promise<{ events: AxonEvent[]; has_more: boolean }>
  /** What comes after a sequence, or all there is; `heard` is called whenever anything arrives, a sign of life too. */
  open(after: number | undefined, signal: AbortSignal, heard: () => void): AsyncIterable<AxonEvent>
  /** Whether a stream that has ended will tell nothing more. */
  hasEnded(signal: AbortSignal): Promise<boolean>
  /** True when asking again cannot help. */
  isLost(error: unknown): boolean
  /** True for the end of a stream that only says that nothing happened for a while. */
  isIdleEnd(error: unknown): boolean
}

export interface TailSnapshot {
  /** Oldest first. */
  events: readonly AxonEvent[]
  /** Whether the log has events before those. */
  hasOlder: boolean
  /** Events that were let go again to keep the page light; the log still has them. */
  dropped: number
  state: 'loading' | 'live' | 'reconnecting' | 'ended' | 'lost'
  /** Since when `state` is what it is; this browser's clock. */
  sinceMs: number
  /** Why the log can no longer be followed. */
  lost: unknown
}

/** As many as anyone scrolls through, and as few as a page carries without effort. */
export const maxKept = 20_000
/** A flood comes in thousands of events; drawing each would take longer than they take to come. */
const drawPauseMs = 50

/** Two and a half signs of life of 15 s: after that, silence means the stream is dead, whatever the socket says. */
const silentMs = 40_000

const idlePauseMs = 250

/** The log of one axon from its newest events on, for as long as someone looks at it. Made for useSyncExternalStore. */
export class EventTail {
  readonly #source: EventSource
  readonly #now: () => number
  readonly #listeners = new Set<() => void>()
  #events: AxonEvent[] = []
  /** Arrived and not drawn yet. */
  #arrived: AxonEvent[] = []
  #last: number | undefined
  #hasOlder = false
  #dropped = 0
  #snapshot: TailSnapshot
  #drawing: ReturnType<typeof setTimeout> | undefined

  constructor(source: EventSource, now: () => number = Date.now) {
    this.#source = source
    this.#now = now
    this.#snapshot = { events: [], hasOlder: false, dropped: 0, state: 'loading', sinceMs: now(), lost: null }
  }

  getSnapshot = (): TailSnapshot => this.#snapshot

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Resolves when the log has ended, is lost, or `signal` aborts; never rejects. */
  async follow(signal: AbortSignal): Promise<void> {
    let hasPage = this.#last !== undefined
    for (let attempt = 0; !signal.aborted; ) {
      try {
        if (!hasPage) {
          const { events, has_more } = await this.#source.page(undefined, signal)
          this.#hasOlder = has_more
          this.#take(events.toReversed())
          hasPage = true
        }
        await this.#read(signal, () => {
          attempt = 0
          this.#setState('live')
        })
        if (await this.#source.hasEnded(signal)) return this.#setState('ended')
        throw new Error('The stream ended while the axon lives')
      } catch (error) {
        if (signal.aborted) return
        if (this.#source.isLost(error)) return this.#setState('lost', error)
        if (this.#source.isIdleEnd(error)) {
          await pause(idlePauseMs, signal)
          continue
        }
        this.#setState('reconnecting')
        await pause(retryMs(attempt++), signal)
      }
    }
  }

  /** Adds the page before the oldest event. Rejects as the source does. */
  async loadOlder(): Promise<void> {
    const { events, has_more } = await this.#source.page(this.#events[0]?.sequence)
    this.#hasOlder = has_more
    this.#events = mergeEvents(events.toReversed(), this.#events)
    this.#draw()
  }

  /** Asks for the events up to a sequence that are missing. Rejects as the source does. */
  async fill(to: number): Promise<void> {
    const { events } = await this.#source.page(to + 1)
    this.#events = mergeEvents(this.#events, events.toReversed())
    this.#draw()
  }

  /** One stream to its end. Rejects when it breaks and when nothing has been heard of it for too long. */
  async #read(signal: AbortSignal, onLife: () => void): Promise<void> {
    const silence = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const heard = () => {
      clearTimeout(timer)
      timer = setTimeout(() => silence.abort(), silentMs)
      onLife()
    }
    timer = setTimeout(() => silence.abort(), silentMs)
    try {
      const stream = this.#source.open(this.#last, AbortSignal.any([signal, silence.signal]), heard)
      for await (const event of stream) {
        // A stream that begins again may tell once more what was the last.
        if (this.#last === undefined || event.sequence > this.#last) this.#take([event])
      }
    } finally {
      clearTimeout(timer)
    }
  }

  #take(events: AxonEvent[]) {
    this.#arrived.push(...events)
    this.#last = events.at(-1)?.sequence ?? this.#last
    this.#drawing ??= setTimeout(() => this.#draw(), drawPauseMs)
  }

  #setState(state: TailSnapshot['state'], lost: unknown = null) {
    if (state === this.#snapshot.state) return
    this.#snapshot = { ...this.#snapshot, state, lost, sinceMs: this.#now() }
    this.#draw()
  }

  #draw() {
    clearTimeout(this.#drawing)
    this.#drawing = undefined
    this.#events = mergeEvents(this.#events, this.#arrived)
    this.#arrived = []
    // Cut in steps: dropping one for each that comes would move everything on the screen every time.
    if (this.#events.length > maxKept * 1.1) {
      this.#dropped += this.#events.length - maxKept
      this.#events = this.#events.slice(-maxKept)
      this.#hasOlder = true
    }
    const { state, sinceMs, lost } = this.#snapshot
    this.#snapshot = { events: this.#events, hasOlder: this.#hasOlder, dropped: this.#dropped, state, sinceMs, lost }
    for (const listener of this.#listeners) listener()
  }
}
