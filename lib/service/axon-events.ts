import { type AxonEvent, type AxonPublish, changeRefusal } from '#lib/contract/axons.ts'
import { Subscription, Topic } from './axon-topic.ts'
import { isDiskFull, notFound, ServiceError } from './errors.ts'
import type { EventFeed } from './http/encoded.ts'
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

interface Accepted extends Publication {
  seq: number
}

const maxBatch = 1_000

interface Options {
  database: Database
  store: AxonEventStore
  now: () => number
  log: (entry: { message: string }) => void
}

/** Publishing, and all who listen. */
export class AxonEvents {
  readonly #database: Database
  readonly #store: AxonEventStore
  readonly #now: () => number
  readonly #log: Options['log']
  readonly #topics = new Map<string, Topic>()
  #queue: Publication[] = []

  constructor({ database, store, now, log }: Options) {
    this.#database = database
    this.#store = store
    this.#now = now
    this.#log = log
  }

  /**
   * Resolves when the event is on the disk; its subscribers hear it before that, as soon as it outlives this process. What
   * is published at the same moment is written together.
   * Unspecified: what they heard of an event that the power took away before it was acknowledged. It is gone from the log,
   * and no other event ever gets its sequence.
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
      if (!isDeleted) this.#reserve(seq)
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

  /** Answers all publishers, so that what was heard is on the disk. */
  async close(): Promise<void> {
    while (this.#queue.length > 0) this.#flush()
    try {
      await this.#database.synced()
      this.#database.essential(() => this.#store.sequences.settle())
    } catch (error) {
      // As after a kill: only a power cut before the next clean end would leave a gap.
      this.#log({ message: `The log of events was left as it was: ${(error as Error).message}` })
    }
  }

  /** So that with someone to hear it not even the first event waits for the disk. */
  #reserve(seq: number): void {
    const { sequences } = this.#store
    const one = new Map([[seq, 1]])
    try {
      if (!sequences.areReserved(one)) inTransaction(this.#database, () => sequences.reserve(one))
    } catch {
      // Reading is no reason to fail for want of room: the first event waits then, or fails.
    }
  }

  #flush(): void {
    const batch = this.#queue.splice(0, maxBatch)
    if (this.#queue.length > 0) setImmediate(() => this.#flush())
    try {
      const accepted = batch.flatMap((each) => this.#accept(each))
      if (accepted.length === 0) return
      const { events, onDisk } = this.#write(accepted)
      for (const event of events) this.#topics.get(event.axon_id)?.add(event)
      for (const id of new Set(events.map(({ axon_id }) => axon_id))) this.#topics.get(id)?.wake()
      void this.#acknowledge(accepted, events, onDisk)
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
  }

  #accept(publication: Publication): Accepted[] {
    const { account, id, reject } = publication
    const found = this.#store.find(account, id)
    if (!found) {
      reject(new ServiceError('not_found', `There is no axon ${id}`))
      return []
    }
    const refusal = changeRefusal({ deleted_at_ms: found.isDeleted ? 0 : null })
    if (refusal) reject(new ServiceError('conflict', refusal, { shouldRetry: false }))
    return refusal ? [] : [{ ...publication, seq: found.seq }]
  }

  #write(accepted: Accepted[]): { events: AxonEvent[]; onDisk: Promise<void> } {
    const wanted = new Map<number, number>()
    for (const { seq } of accepted) wanted.set(seq, (wanted.get(seq) ?? 0) + 1)
    const append = () => accepted.map((each) => this.#append(each))
    const { sequences } = this.#store
    if (sequences.areReserved(wanted))
      return { events: this.#database.inTransactionAhead(append), onDisk: this.#database.synced() }
    // The first event of an axon nobody listened to, and then about one in a thousand.
    const events = inTransaction(this.#database, () => {
      sequences.reserve(wanted)
      return append()
    })
    return { events, onDisk: Promise.resolve() }
  }

  #append({ id, seq, event: { event_type, origin, payload, source } }: Accepted): AxonEvent {
    const fields = { timestamp_ms: this.#now(), origin, source, event_type, payload }
    return { axon_id: id, sequence: this.#store.append(seq, fields), ...fields }
  }

  async #acknowledge(accepted: Accepted[], events: AxonEvent[], onDisk: Promise<void>): Promise<void> {
    try {
      await onDisk
      for (const [i, { sequence, timestamp_ms }] of events.entries()) accepted[i]?.resolve({ sequence, timestamp_ms })
    } catch (error) {
      this.#log({ message: `Events could not be brought onto the disk: ${(error as Error).message}` })
      // Not to be tried again: the event is in the log, and was heard.
      const details = { shouldRetry: false, cause: error }
      const failure = new ServiceError('internal', 'The event may be lost: the disk did not take it', details)
      for (const { reject } of accepted) reject(isDiskFull(error) ? error : failure)
    }
  }
}
