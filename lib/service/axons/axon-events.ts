import { type AxonEvent, type AxonPublish, changeRefusal } from '#lib/contract/axons.ts'
import { notFound, ServiceError } from '#lib/service/kit/errors.ts'
import type { AxonEventStore } from '#lib/service/store/axons/events.ts'
import { type Database, inTransaction } from '#lib/service/store/database.ts'

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

interface Topic {
  last: number
  isDeleted: boolean
  /** The chunk read last: most subscribers are at the same position. */
  chunk: { after: number; events: AxonEvent[] }
  listeners: Set<() => void>
}

const maxBatch = 1_000
const chunkBytes = 256 * 1024
const chunkEvents = 500

interface Options {
  database: Database
  store: AxonEventStore
  now: () => number
}

/** Publishes events and streams them to subscribers once they are on disk. */
export class AxonEvents {
  readonly #database: Database
  readonly #store: AxonEventStore
  readonly #now: () => number
  readonly #topics = new Map<string, Topic>()
  #queue: Publication[] = []

  constructor({ database, store, now }: Options) {
    this.#database = database
    this.#store = store
    this.#now = now
  }

  publish(account: string, id: string, event: AxonPublish): Promise<Published> {
    return new Promise((resolve, reject) => {
      if (this.#queue.push({ account, id, event, resolve, reject }) === 1) setImmediate(() => this.#flush())
    })
  }

  /** Events after a sequence, then new ones until the axon is deleted or the signal aborts. */
  subscribe(account: string, id: string, afterSequence: number, signal: AbortSignal): AsyncIterable<AxonEvent> {
    const { seq } = this.#store.find(account, id) ?? notFound('axon', id)
    return this.#follow(account, id, seq, afterSequence, signal)
  }

  /** Unspecified: deleting an axon ends its streams, without an event. */
  end(id: string): void {
    const topic = this.#topics.get(id)
    if (!topic) return
    topic.isDeleted = true
    for (const wake of topic.listeners) wake()
  }

  close(): void {
    while (this.#queue.length > 0) this.#flush()
  }

  #flush(): void {
    const batch = this.#queue.splice(0, maxBatch)
    if (this.#queue.length > 0) setImmediate(() => this.#flush())
    try {
      const accepted = batch.flatMap((each) => this.#accept(each))
      if (accepted.length === 0) return
      const events = inTransaction(this.#database, () =>
        accepted.map(({ publication, seq }) => this.#append(publication, seq)),
      )
      for (const [id, some] of Map.groupBy(events, ({ axon_id }) => axon_id)) this.#notify(id, some.at(-1)?.sequence)
      for (const [i, { sequence, timestamp_ms }] of events.entries())
        accepted[i]?.publication.resolve({ sequence, timestamp_ms })
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
  }

  #accept(publication: Publication): { publication: Publication; seq: number }[] {
    const { account, id, reject } = publication
    const found = this.#store.find(account, id)
    if (!found) {
      reject(new ServiceError('not_found', `Axon ${id} not found`))
      return []
    }
    const refusal = changeRefusal({ deleted_at_ms: found.isDeleted ? 0 : null })
    if (refusal) reject(new ServiceError('conflict', refusal, { shouldRetry: false }))
    return refusal ? [] : [{ publication, seq: found.seq }]
  }

  #append({ id, event: { event_type, origin, payload, source } }: Publication, seq: number): AxonEvent {
    const fields = { timestamp_ms: this.#now(), origin, source, event_type, payload }
    return { axon_id: id, sequence: this.#store.append(seq, fields), ...fields }
  }

  #notify(id: string, last = 0): void {
    const topic = this.#topics.get(id)
    if (!topic) return
    topic.last = last
    for (const wake of topic.listeners) wake()
  }

  async *#follow(account: string, id: string, seq: number, afterSequence: number, signal: AbortSignal) {
    const topic: Topic = this.#topics.get(id) ?? {
      last: this.#store.last(seq),
      isDeleted: this.#store.find(account, id)?.isDeleted ?? true,
      chunk: { after: -1, events: [] },
      listeners: new Set(),
    }
    let next = Promise.withResolvers<void>()
    const wake = () => next.resolve()
    this.#topics.set(id, topic)
    topic.listeners.add(wake)
    signal.addEventListener('abort', wake)
    let sequence = afterSequence
    try {
      while (!signal.aborted) {
        if (sequence < topic.last) {
          if (topic.chunk.after !== sequence)
            topic.chunk = { after: sequence, events: this.#store.after(seq, id, sequence, chunkEvents, chunkBytes) }
          const { events } = topic.chunk
          yield* events
          sequence = events.at(-1)?.sequence ?? topic.last
        } else if (topic.isDeleted) return
        else {
          await next.promise
          next = Promise.withResolvers()
        }
      }
    } finally {
      signal.removeEventListener('abort', wake)
      topic.listeners.delete(wake)
      if (topic.listeners.size === 0) this.#topics.delete(id)
    }
  }
}
