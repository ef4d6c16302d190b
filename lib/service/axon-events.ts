import { type AxonEvent, type AxonPublish, changeRefusal } from '#lib/contract/axons.ts'
import { notFound, ServiceError } from './errors.ts'
import { EncodedEvents, type EventFeed, type EventSink } from './http/encoded.ts'
import type { AxonEventStore } from './store/axon-events.ts'
import { type Database, inTransaction } from './store/database.ts'

interface Published {
  sequence: number
  timestamp_ms: number
}

interface Publication {
  account: string
  id: string
  event: AxonPublish
  resolve: (published: Published) => void
  reject: (error: unknown) => void
}

/** Memory for the newest events of an axon someone listens to; who is further behind reads the database. */
const maxRecentEvents = 1_024
const maxRecentBytes = 4 * 1024 * 1024
/** What one write to a subscriber takes at most, unless one event alone is larger. */
const chunkBytes = 256 * 1024
const chunkEvents = 500
const maxBatch = 1_000

/** Publishing, and all who listen. */
export class AxonEvents {
  readonly #database: Database
  readonly #store: AxonEventStore
  readonly #now: () => number
  readonly #topics = new Map<string, Topic>()
  #queue: Publication[] = []

  constructor(database: Database, store: AxonEventStore, now: () => number) {
    this.#database = database
    this.#store = store
    this.#now = now
  }

  /**
   * Resolves when the event is on the disk. What is published at the same moment is written together: it is the disk's
   * acknowledgement that takes the time.
   */
  publish(account: string, id: string, event: AxonPublish): Promise<Published> {
    return new Promise((resolve, reject) => {
      if (this.#queue.push({ account, id, event, resolve, reject }) === 1) setImmediate(() => this.#flush())
    })
  }

  /** The events after a sequence, then those to come, until the axon is deleted. */
  subscribe(account: string, id: string, afterSequence: number): EventFeed {
    const { seq, isDeleted } = this.#store.find(account, id) ?? notFound('axon', id)
    let topic = this.#topics.get(id)
    if (!topic) {
      topic = new Topic(this.#store, seq, id, isDeleted)
      this.#topics.set(id, topic)
    }
    return new Subscription(topic, afterSequence, () => {
      if (topic.isUnheard && this.#topics.get(id) === topic) this.#topics.delete(id)
    })
  }

  /**
   * The axon was deleted. Unspecified: what its subscribers see of that. Their streams end cleanly, which they never do
   * while it lives; the log gets no word about it.
   */
  end(id: string): void {
    this.#topics.get(id)?.end()
  }

  #flush(): void {
    const batch = this.#queue.splice(0, maxBatch)
    if (this.#queue.length > 0) setImmediate(() => this.#flush())
    try {
      const events = inTransaction(this.#database, () => batch.map((each) => this.#append(each)))
      // Only now: what was heard must not be lost with the power.
      for (const [i, event] of events.entries()) {
        if (event instanceof ServiceError) batch[i]?.reject(event)
        else {
          this.#topics.get(event.axon_id)?.add(event)
          batch[i]?.resolve({ sequence: event.sequence, timestamp_ms: event.timestamp_ms })
        }
      }
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
    for (const id of new Set(batch.map(({ id }) => id))) this.#topics.get(id)?.wake()
  }

  #append({ account, id, event }: Publication): AxonEvent | ServiceError {
    const found = this.#store.find(account, id)
    if (!found) return new ServiceError('not_found', `There is no axon ${id}`)
    const { seq, isDeleted } = found
    const refusal = changeRefusal({ deleted_at_ms: isDeleted ? 0 : null })
    if (refusal) return new ServiceError('conflict', refusal, { shouldRetry: false })
    const { event_type, origin, payload, source } = event
    const fields = { timestamp_ms: this.#now(), origin, source, event_type, payload }
    return { axon_id: id, sequence: this.#store.append(seq, fields), ...fields }
  }
}

/** An axon that someone listens to, with its newest events as they go out. */
class Topic {
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
class Subscription implements EventFeed {
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
