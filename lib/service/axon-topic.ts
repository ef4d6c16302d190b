import type { AxonEvent } from '#lib/contract/axons.ts'
import { EncodedEvents, type EventFeed, type EventSink } from './http/encoded.ts'
import type { AxonEventStore } from './store/axon-events.ts'

/** Memory for the newest events of an axon someone listens to; who is further behind reads the database. */
const maxRecentEvents = 1_024
const maxRecentBytes = 4 * 1024 * 1024
/** What one write to a subscriber takes at most, unless one event alone is larger. */
const chunkBytes = 256 * 1024
const chunkEvents = 500

/** An axon that someone listens to, with its newest events as they go out. */
export class Topic {
  readonly #store: AxonEventStore
  readonly #seq: number
  readonly #id: string
  readonly #subscriptions = new Set<Subscription>()
  /** Without a gap up to `#last`. */
  #recent: { sequence: number; bytes: Uint8Array }[] = []
  #recentBytes = 0
  #last: number
  #hasEnded: boolean
  /** What was read last: most readers are at the same place. */
  #chunk: Chunk | undefined

  constructor(store: AxonEventStore, seq: number, id: string, hasEnded: boolean) {
    this.#store = store
    this.#seq = seq
    this.#id = id
    this.#last = store.last(seq)
    this.#hasEnded = hasEnded
  }

  get isUnheard() {
    return this.#subscriptions.size === 0
  }

  get hasEnded() {
    return this.#hasEnded
  }

  join(subscription: Subscription) {
    this.#subscriptions.add(subscription)
  }

  leave(subscription: Subscription) {
    this.#subscriptions.delete(subscription)
  }

  add(event: AxonEvent) {
    const bytes = frame(event)
    this.#recent.push({ sequence: event.sequence, bytes })
    this.#recentBytes += bytes.length
    this.#last = event.sequence
    if (this.#recent.length <= maxRecentEvents && this.#recentBytes <= maxRecentBytes) return
    // Half at once: taking them one by one would move the rest each time.
    const kept = this.#recent.slice(Math.ceil(this.#recent.length / 2))
    this.#recent = kept
    this.#recentBytes = kept.reduce((sum, { bytes: { length } }) => sum + length, 0)
  }

  wake() {
    for (const subscription of this.#subscriptions) subscription.wake()
  }

  end() {
    this.#hasEnded = true
    this.wake()
  }

  /** The next events after a sequence as one chunk; undefined when there are none yet. */
  after(sequence: number): Chunk | undefined {
    if (sequence >= this.#last) return undefined
    if (this.#chunk?.after !== sequence) this.#chunk = { after: sequence, ...this.#read(sequence) }
    return this.#chunk
  }

  #read(sequence: number): Omit<Chunk, 'after'> {
    const first = this.#recent[0]?.sequence
    if (first === undefined || sequence + 1 < first) {
      const events = this.#store.after(this.#seq, this.#id, sequence, chunkEvents, chunkBytes)
      return {
        events: new EncodedEvents(Buffer.concat(events.map(frame))),
        last: events.at(-1)?.sequence ?? this.#last,
      }
    }
    let end = sequence + 1 - first
    const start = end
    for (let bytes = 0; end < this.#recent.length; end++) {
      bytes += this.#recent[end]?.bytes.length ?? 0
      if (end > start && bytes > chunkBytes) break
    }
    const bytes = Buffer.concat(this.#recent.slice(start, end).map(({ bytes }) => bytes))
    return { events: new EncodedEvents(bytes), last: first + end - 1 }
  }
}

interface Chunk {
  after: number
  events: EncodedEvents
  last: number
}

const frame = (event: AxonEvent) => EncodedEvents.frame(JSON.stringify(event))

/** One reader and its place in the log. It holds no events, so that a slow one costs nothing but its place. */
export class Subscription implements EventFeed {
  readonly #topic: Topic
  readonly #left: () => void
  #sequence: number
  #sink: EventSink | undefined
  #isFull = false

  constructor(topic: Topic, afterSequence: number, left: () => void) {
    this.#topic = topic
    this.#sequence = afterSequence
    this.#left = left
    topic.join(this)
  }

  start(sink: EventSink) {
    this.#sink = sink
    this.wake()
  }

  resume() {
    this.#isFull = false
    this.wake()
  }

  stop() {
    this.#sink = undefined
    this.#topic.leave(this)
    this.#left()
  }

  /** Passes on what there is, as far as the reader takes it. */
  wake() {
    const sink = this.#sink
    if (!sink) return
    try {
      while (!this.#isFull) {
        const found = this.#topic.after(this.#sequence)
        if (!found) break
        this.#sequence = found.last
        this.#isFull = !sink.write(found.events)
      }
      if (!this.#isFull && this.#topic.hasEnded) sink.end()
    } catch (error) {
      this.#sink = undefined
      sink.fail(error)
    }
  }
}
