import { setTimeout as delay } from 'node:timers/promises'
import { HttpError } from '../http/handle-request.ts'
import { CopiedArchive, namelessFile, RemoteArchive } from './archive-bytes.ts'
import { ArchiveFiles, type ArchiveLimits } from './archive-files.ts'

interface CacheLimits extends ArchiveLimits {
  /** Total size of all copies. */
  cacheBytes: number
  archives: number
  /** Unused archives are dropped after this time, unfinished reads after `givenUpMs`. */
  idleMs: number
  givenUpMs: number
  /** Read timeout. */
  readMs: number
  /** Minimum age before a reread, and at least four times the last read time. */
  anewMs: number
}

const MiB = 1024 * 1024

/** Unspecified: resource limits for logs. */
export const cacheLimits: CacheLimits = {
  archiveBytes: 512 * MiB,
  fileBytes: 256 * MiB,
  entries: 20_000,
  cacheBytes: 1024 * MiB,
  archives: 16,
  idleMs: 5 * 60_000,
  givenUpMs: 15_000,
  readMs: 5 * 60_000,
  anewMs: 4_000,
}

/** Requests an archive from a byte on, or a range; `version` must match. */
export type AskForArchive = (range: string, signal: AbortSignal, version?: string) => Promise<Response>

interface Held {
  opened: { files: ArchiveFiles; readAtMs: number; tookMs: number; isFinal: boolean } | undefined
  reading: Reading | undefined
  askedAtMs: number
}

interface Reading {
  receivedBytes: number
  totalBytes: number | null
  /** Resolves when there is nothing left to wait for; never rejects. */
  done: Promise<void>
  problem: unknown
  hasCopy: boolean
}

/** Caches log archives: each is read once for all pages and dropped soon after. */
export class ArchiveCache {
  readonly #limits: CacheLimits
  readonly #held = new Map<string, Held>()

  constructor(limits = cacheLimits) {
    this.#limits = limits
  }

  /**
   * Returns the archive after waiting up to `waitMs`. Rereads it if it is older than `newerThanMs` or was read before
   * the run ended. A failed read throws once and is retried by the next call.
   */
  async look(
    key: string,
    ask: AskForArchive,
    { newerThanMs = 0, hasEnded = false, waitMs }: { newerThanMs?: number; hasEnded?: boolean; waitMs: number },
  ): Promise<Pick<Held, 'opened'> & { reading: Pick<Reading, 'receivedBytes' | 'totalBytes'> | undefined }> {
    this.#forgetIdle()
    const held = this.#held.get(key) ?? { opened: undefined, reading: undefined, askedAtMs: 0 }
    this.#held.set(key, held)
    held.askedAtMs = Date.now()
    if (!held.reading && this.#isDue(held, newerThanMs, hasEnded)) held.reading = this.#read(key, held, ask, hasEnded)
    const reading = held.reading
    if (reading && (await isDoneWithin(reading.done, waitMs)) && reading.problem !== undefined) throw reading.problem
    return { opened: held.opened, reading: held.reading }
  }

  #isDue({ opened }: Held, newerThanMs: number, hasEnded: boolean): boolean {
    if (!opened || (hasEnded && !opened.isFinal)) return true
    if (opened.readAtMs > newerThanMs) return false
    return Date.now() - opened.readAtMs - opened.tookMs >= Math.max(this.#limits.anewMs, 4 * opened.tookMs)
  }

  #read(key: string, held: Held, ask: AskForArchive, isFinal: boolean): Reading {
    const reading: Reading = {
      receivedBytes: 0,
      totalBytes: null,
      done: Promise.resolve(),
      problem: undefined,
      hasCopy: false,
    }
    const readAtMs = Date.now()
    reading.done = this.#open(held, reading, ask).then(
      (files) => {
        held.opened?.files.close()
        held.opened = { files, readAtMs, tookMs: Date.now() - readAtMs, isFinal }
        held.reading = undefined
        this.#forgetBeyond(key)
      },
      (error: unknown) => {
        reading.problem = error
        held.reading = undefined
        if (!held.opened) this.#held.delete(key)
      },
    )
    return reading
  }

  async #open(held: Held, reading: Reading, ask: AskForArchive): Promise<ArchiveFiles> {
    const givingUp = new AbortController()
    const watch = setInterval(() => {
      if (Date.now() - held.askedAtMs > this.#limits.givenUpMs) givingUp.abort()
    }, 1_000).unref()
    const signal = AbortSignal.any([givingUp.signal, AbortSignal.timeout(this.#limits.readMs)])
    try {
      const answer = await ask('bytes=0-', signal)
      const remote = remoteArchive(answer, ask)
      if (remote) {
        void answer.body?.cancel()
        return await ArchiveFiles.open(remote, this.#limits)
      }
      const length = Number(answer.headers.get('content-length') ?? Number.NaN)
      reading.totalBytes = Number.isFinite(length) ? length : null
      return await this.#copy(answer, reading)
    } catch (error) {
      if (error instanceof HttpError) throw error
      const { receivedBytes } = reading
      throw signal.aborted
        ? new HttpError('timeout', `Reading the archive timed out or was canceled after ${receivedBytes} bytes`)
        : new HttpError(
            'bad_upstream',
            `The archive was cut off after ${receivedBytes} bytes: ${(error as Error).message}`,
          )
    } finally {
      clearInterval(watch)
    }
  }

  async #copy(answer: Response, reading: Reading): Promise<ArchiveFiles> {
    const file = await namelessFile()
    reading.hasCopy = true
    try {
      for await (const bytes of answer.body ?? []) {
        this.#takeRoom(reading, bytes.length)
        await file.write(bytes)
      }
    } catch (error) {
      await file.close()
      throw error
    }
    return ArchiveFiles.open(new CopiedArchive(file, reading.receivedBytes), this.#limits)
  }

  /** Drops unused archives, least recently used first, until the copies fit. */
  #takeRoom(reading: Reading, bytes: number): void {
    const { archiveBytes, cacheBytes } = this.#limits
    reading.receivedBytes += bytes
    if (reading.receivedBytes > archiveBytes)
      throw new HttpError(
        'payload_too_large',
        `The archive is larger than ${archiveBytes} bytes, the limit for opening it here. Download it instead`,
      )
    while (this.#copiedBytes() > cacheBytes && this.#forgetOldest());
    if (this.#copiedBytes() > cacheBytes)
      throw new HttpError('rate_limited', 'Too many log archives are being read; try again later', {
        retryAfterSeconds: 10,
      })
  }

  #copiedBytes(): number {
    let sum = 0
    for (const { opened, reading } of this.#held.values())
      sum += (opened?.files.sizeBytes ?? 0) + (reading?.hasCopy ? reading.receivedBytes : 0)
    return sum
  }

  #forgetBeyond(key: string): void {
    while (this.#held.size > this.#limits.archives && this.#forgetOldest(key));
  }

  #forgetOldest(but?: string): boolean {
    let oldest: [string, Held] | undefined
    for (const each of this.#held)
      if (each[0] !== but && !each[1].reading && (!oldest || each[1].askedAtMs < oldest[1].askedAtMs)) oldest = each
    if (!oldest) return false
    this.#forget(...oldest)
    return true
  }

  #forgetIdle(): void {
    for (const [key, held] of this.#held)
      if (!held.reading && Date.now() - held.askedAtMs > this.#limits.idleMs) this.#forget(key, held)
    if (this.#held.size > 0) this.#sweepLater()
  }

  #sweep: NodeJS.Timeout | undefined
  #sweepLater(): void {
    clearTimeout(this.#sweep)
    this.#sweep = setTimeout(() => this.#forgetIdle(), this.#limits.idleMs + 1_000).unref()
  }

  #forget(key: string, held: Held): void {
    this.#held.delete(key)
    held.opened?.files.close()
  }

  /** Forces a reread. */
  drop(key: string): void {
    const held = this.#held.get(key)
    if (held && !held.reading) this.#forget(key, held)
  }

  close(): void {
    clearTimeout(this.#sweep)
    for (const [key, held] of this.#held) this.#forget(key, held)
  }
}

const isDoneWithin = async (done: Promise<void>, ms: number): Promise<boolean> => {
  const giveUp = new AbortController()
  const late = delay(ms, false, { signal: giveUp.signal, ref: false }).catch(() => false)
  const isDone = await Promise.race([done.then(() => true), late])
  giveUp.abort()
  return isDone
}

/** Undefined if the service does not support ranges with a stable version. */
const remoteArchive = ({ status, headers }: Response, ask: AskForArchive): RemoteArchive | undefined => {
  const version = headers.get('etag') ?? ''
  const size = /^bytes 0-\d+\/(\d+)$/.exec(headers.get('content-range') ?? '')?.[1]
  if (status !== 206 || size === undefined || !version.startsWith('"')) return undefined
  return new RemoteArchive(Number(size), async (start, end) => {
    const answer = await ask(`bytes=${start}-${end - 1}`, AbortSignal.timeout(60_000), version)
    const isIt = answer.status === 206 && answer.headers.get('content-range')?.startsWith(`bytes ${start}-${end - 1}/`)
    if (!isIt || !answer.body) {
      void answer.body?.cancel()
      throw new HttpError('conflict', 'The archive has changed since it was read; refresh it')
    }
    return answer.body
  })
}
