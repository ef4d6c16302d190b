import { createWriteStream } from 'node:fs'
import { mkdir, open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { maxEpochMs } from '#lib/contract/common.ts'
import type { ObjectCreate, StoredObject } from '#lib/contract/objects.ts'
import { writeObjectFile } from '#lib/service/devboxes/record-file.ts'
import { notFound, ServiceError } from '#lib/service/kit/errors.ts'
import { logFailure } from '#lib/service/kit/log.ts'
import { removeFolder } from '#lib/service/kit/remove-folder.ts'
import { at } from '#lib/service/kit/timer.ts'
import { type LostAndFound, namesIn } from '#lib/service/store/lost-and-found.ts'
import type { ObjectRecord, ObjectStore } from '#lib/service/store/objects.ts'
import type { StorageQuota } from '#lib/service/store/storage-quota.ts'
import { contentLink } from './links.ts'

/** Unspecified: validity of an upload link. */
const uploadMs = 60 * 60 * 1000
const contentName = 'content'

interface Options {
  store: ObjectStore
  folder: string
  quota: StorageQuota
  lostAndFound: LostAndFound
  /** Resolves once every change so far is on disk. */
  synced: () => Promise<void>
}

export class Objects {
  readonly #options: Options
  readonly #uploads = new Map<string, { abort: AbortController; done: Promise<void> }>()
  #cancelTimer = () => {}

  constructor(options: Options) {
    this.#options = options
  }

  recover(): void {
    const { store, folder, lostAndFound } = this.#options
    const names = new Set(namesIn(folder))
    for (const id of store.withState('READ_ONLY')) if (!names.has(id)) store.setState(id, 'ERROR')
    for (const name of names) if (!store.find(name)) lostAndFound.take('objects', name)
    void this.#cleanUp([...names]).catch(logFailure('Could not delete leftovers of objects'))
    this.#deleteExpired()
  }

  async #cleanUp(names: readonly string[]): Promise<void> {
    const { store, folder } = this.#options
    for (const name of names) {
      if (store.find(name)?.state === 'DELETED') await removeFolder(join(folder, name))
      else await rm(join(folder, name, partName), { force: true })
    }
  }

  async close(): Promise<void> {
    this.#cancelTimer()
    const stopping = new ServiceError('unavailable', 'The service is stopping', { retryAfterSeconds: 3 })
    for (const { abort } of this.#uploads.values()) abort.abort(stopping)
    await Promise.allSettled([...this.#uploads.values()].map(({ done }) => done))
  }

  create(account: string, { name, content_type, metadata, ttl_ms }: ObjectCreate, origin: string): StoredObject {
    const { store, quota } = this.#options
    quota.require(account)
    const now = Date.now()
    const object = store.create({
      account,
      name,
      content_type,
      create_time_ms: now,
      delete_after_time_ms: ttl_ms ? Math.min(now + ttl_ms, maxEpochMs) : null,
      metadata: metadata ?? {},
    })
    if (ttl_ms) this.#deleteExpired()
    return { ...this.get(account, object.id), upload_url: contentLink(origin, object, 'PUT', now + uploadMs) }
  }

  get(account: string, id: string): StoredObject {
    return this.#options.store.get(account, id) ?? notFound('object', id)
  }

  /** Stores the bytes as they arrive. Only a complete upload counts, and only one. */
  async upload(account: string, id: string, content: AsyncIterable<Uint8Array>): Promise<void> {
    const object = this.#require(account, id, 'UPLOADING')
    if (object.size_bytes !== null)
      throw new ServiceError('conflict', `Object ${id} was already uploaded`, { shouldRetry: false })
    if (this.#uploads.has(id))
      throw new ServiceError('conflict', `Object ${id} is being uploaded`, { retryAfterSeconds: 1 })
    const abort = new AbortController()
    const done = this.#receive(object, content, abort.signal).finally(() => this.#uploads.delete(id))
    this.#uploads.set(id, { abort, done })
    await done
  }

  async #receive({ id, account }: ObjectRecord, content: AsyncIterable<Uint8Array>, signal: AbortSignal) {
    const { store, folder, quota } = this.#options
    const part = join(folder, id, partName)
    let size = 0
    const counted = async function* () {
      for await (const chunk of content) {
        quota.take(account, 'objects', chunk.length)
        size += chunk.length
        yield chunk
      }
    }
    try {
      await mkdir(join(folder, id), { recursive: true, mode: 0o700 })
      await pipeline(counted, createWriteStream(part, { mode: 0o600 }), { signal })
      signal.throwIfAborted()
      await rename(part, join(folder, id, contentName))
      store.uploaded(id, size)
    } catch (error) {
      quota.add(account, 'objects', -size)
      await rm(part, { force: true }).catch(logFailure(`Could not delete ${part}; retrying at the next start`))
      throw signal.aborted ? signal.reason : error
    }
  }

  /** Unspecified: completing an object twice has no effect. */
  async complete(account: string, id: string): Promise<StoredObject> {
    const { store, folder } = this.#options
    if (this.get(account, id).state === 'READ_ONLY') return this.get(account, id)
    const object = this.#require(account, id, 'UPLOADING')
    if (this.#uploads.has(id))
      throw new ServiceError('conflict', `Object ${id} is being uploaded`, { retryAfterSeconds: 1 })
    if (object.size_bytes === null)
      throw new ServiceError('invalid_argument', `Object ${id} was not uploaded; send its content to upload_url`, {
        shouldRetry: false,
      })
    await writeObjectFile(join(folder, id), object)
    // It may have been deleted meanwhile.
    this.#require(account, id, 'UPLOADING')
    store.setState(id, 'READ_ONLY')
    return this.get(account, id)
  }

  downloadLink(account: string, id: string, origin: string, seconds: number): string {
    return contentLink(origin, this.#require(account, id, 'READ_ONLY'), 'GET', Date.now() + seconds * 1000)
  }

  async read(account: string, id: string) {
    const { name } = this.#require(account, id, 'READ_ONLY')
    const file = await open(this.pathOf(id)).catch((cause: unknown) => {
      throw new ServiceError('internal', `The content of object ${id} is missing from the data folder`, { cause })
    })
    return { name, size: (await file.stat()).size, content: file.createReadStream() }
  }

  /** Throws 400 unless the object can be mounted. */
  requireComplete(account: string, id: string, field: string): ObjectRecord {
    const object = this.#options.store.own(account, id)
    if (object?.state === 'READ_ONLY') return object
    const problem = object ? `is ${object.state}; only READ_ONLY objects can be mounted` : 'not found'
    throw new ServiceError('invalid_argument', `${field}: object ${id} ${problem}`, { field, shouldRetry: false })
  }

  pathOf(id: string): string {
    return join(this.#options.folder, id, contentName)
  }

  /** Unspecified: deleting an object twice has no effect. A deleted object can still be read by its ID. */
  async delete(account: string, id: string): Promise<StoredObject> {
    const { state } = this.get(account, id)
    if (state !== 'DELETED') await this.#delete(this.#options.store.mustFind(id))
    return this.get(account, id)
  }

  async #delete({ id, account }: ObjectRecord): Promise<void> {
    const { store, folder, quota } = this.#options
    store.setState(id, 'DELETED')
    const upload = this.#uploads.get(id)
    upload?.abort.abort(new ServiceError('conflict', `Object ${id} was deleted`, { shouldRetry: false }))
    await upload?.done.catch(() => undefined)
    quota.add(account, 'objects', -(store.mustFind(id).size_bytes ?? 0))
    await this.#options.synced()
    await removeFolder(join(folder, id)).catch(
      logFailure(`Could not delete the content of object ${id}; retrying at the next start`),
    )
  }

  #require(account: string, id: string, state: 'UPLOADING' | 'READ_ONLY'): ObjectRecord {
    const object = this.#options.store.own(account, id) ?? notFound('object', id)
    if (object.state === state) return object
    throw new ServiceError('invalid_argument', `Object ${id} is ${object.state}, not ${state}`, { shouldRetry: false })
  }

  #deleteExpired(): void {
    const { store } = this.#options
    this.#cancelTimer()
    for (const object of store.expired(Date.now()))
      void this.#delete(object).catch(logFailure(`Could not delete the expired object ${object.id}`))
    const nextMs = store.nextExpiryMs()
    if (nextMs !== undefined) this.#cancelTimer = at(Math.max(nextMs, Date.now() + 100), () => this.#deleteExpired())
  }
}

const partName = 'content.part'
