import { type AxonEvent, type AxonPublish, changeRefusal } from '#lib/contract/axons.ts'
import { Condition } from '#lib/service/kit/condition.ts'
import { notFound, ServiceError } from '#lib/service/kit/errors.ts'
import type { AxonEventStore } from '#lib/service/store/axons/events.ts'
import { type Database, inTransaction } from '#lib/service/store/database.ts'

type Published = Pick<AxonEvent, 'sequence' | 'timestamp_ms'>

interface Publication {
  account: string
  id: string
  event: AxonPublish
  resolve: (published: Published) => void
  reject: (error: unknown) => void
}

interface Topic {
  last: number
  isDeleted: boolean
  /** The chunk read last: most subscribers are at the same position. */
  chunk: { after: number; events: AxonEvent[] }
  condition: Condition
  subscribers: number
}

const maxBatch = 1_000
const chunkBytes = 256 * 1024
const chunkEvents = 500

interface Options {
  database: Database
  store: AxonEventStore
  now: () => number
}

export class AxonEvents {
  readonly #options: Options
  readonly #topics = new Map<string, Topic>()
  #queue: Publication[] = []

  constructor(options: Options) {
    this.#options = options
  }

  publish(account: string, id: string, event: AxonPublish): Promise<Published> {
    return new Promise((resolve, reject) => {
      if (this.#queue.push({ account, id, event, resolve, reject }) === 1) setImmediate(() => this.#flush())
    })
  }

  subscribe(account: string, id: string, afterSequence: number, signal: AbortSignal): AsyncIterable<AxonEvent> {
    const { seq } = this.#options.store.find(account, id) ?? notFound('axon', id)
    return this.#follow(account, id, seq, afterSequence, signal)
  }

  /** Unspecified: deleting an axon ends its streams, without an event. */
  end(id: string): void {
    this.#notify(id, { isDeleted: true })
  }

  async close(): Promise<void> {
    while (this.#queue.length > 0) this.#flush()
    await this.#options.database.synced()
  }

  #flush(): void {
    const batch = this.#queue.splice(0, maxBatch)
    if (this.#queue.length > 0) setImmediate(() => this.#flush())
    try {
      const accepted = batch.flatMap((each) => this.#accept(each))
      if (accepted.length === 0) return
      const events = inTransaction(this.#options.database, () =>
        accepted.map(({ publication, seq }) => this.#append(publication, seq)),
      )
      void this.#announce(events)
      // The publisher's response waits for the disk by itself.
      for (const [i, { sequence, timestamp_ms }] of events.entries())
        accepted[i]?.publication.resolve({ sequence, timestamp_ms })
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
  }

  async #announce(events: readonly AxonEvent[]): Promise<void> {
    try {
      await this.#options.database.synced()
    } catch {
      // The service stops.
      return
    }
    for (const { axon_id, sequence } of events) this.#notify(axon_id, { last: sequence })
  }

  #accept(publication: Publication): { publication: Publication; seq: number }[] {
    const { account, id, reject } = publication
    const found = this.#options.store.find(account, id)
    const refusal = found && changeRefusal({ deleted_at_ms: found.isDeleted ? 0 : null })
    if (found && !refusal) return [{ publication, seq: found.seq }]
    reject(
      refusal
        ? new ServiceError('conflict', refusal, { shouldRetry: false })
        : new ServiceError('not_found', `Axon ${id} not found`),
    )
    return []
  }

  #append({ id, event: { event_type, origin, payload, source } }: Publication, seq: number): AxonEvent {
    const fields = { timestamp_ms: this.#options.now(), origin, source, event_type, payload }
    return { axon_id: id, sequence: this.#options.store.append(seq, fields), ...fields }
  }

  #notify(id: string, change: Partial<Topic>): void {
    const topic = this.#topics.get(id)
    if (topic) Object.assign(topic, change).condition.notify()
  }

  async *#follow(account: string, id: string, seq: number, afterSequence: number, signal: AbortSignal) {
    const { database, store } = this.#options
    const topic: Topic = this.#topics.get(id) ?? {
      last: store.last(seq),
      isDeleted: store.find(account, id)?.isDeleted ?? true,
      chunk: { after: -1, events: [] },
      condition: new Condition(),
      subscribers: 0,
    }
    this.#topics.set(id, topic)
    topic.subscribers++
    signal.addEventListener('abort', topic.condition.notify)
    let sequence = afterSequence
    try {
      await database.synced()
      while (!signal.aborted) {
        const { changed } = topic.condition
        if (sequence < topic.last) {
          if (topic.chunk.after !== sequence) {
            const stored = store.after(seq, id, sequence, chunkEvents, chunkBytes)
            // Later events may not be on disk yet.
            topic.chunk = { after: sequence, events: stored.filter((event) => event.sequence <= topic.last) }
          }
          const { events } = topic.chunk
          yield* events
          sequence = events.at(-1)?.sequence ?? topic.last
        } else if (topic.isDeleted) return
        else await changed
      }
    } finally {
      signal.removeEventListener('abort', topic.condition.notify)
      if (--topic.subscribers === 0) this.#topics.delete(id)
    }
  }
}
