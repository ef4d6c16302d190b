import { closeSync, mkdtempSync, openSync, rmSync, write } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { HttpError } from '../http/handle-request.ts'
import { ArchiveFiles, type ArchiveLimits } from './archive-files.ts'

interface CacheLimits extends ArchiveLimits {
  archiveBytes: number
  cacheBytes: number
  archives: number
  /** Unused archives are dropped after this time. */
  idleMs: number
  readMs: number
  /** Minimum age before a reread, and at least four times the last read time. */
  minAgeMs: number
}

const writeTo = promisify(write)

const MiB = 1024 * 1024

/** Unspecified: resource limits for logs. */
export const cacheLimits: CacheLimits = {
  archiveBytes: 512 * MiB,
  fileBytes: 256 * MiB,
  entries: 20_000,
  cacheBytes: 1024 * MiB,
  archives: 16,
  idleMs: 5 * 60_000,
  readMs: 5 * 60_000,
  minAgeMs: 4_000,
}

export type DownloadArchive = (signal: AbortSignal) => Promise<Response>

interface Held {
  opened?: { files: ArchiveFiles; readAtMs: number; tookMs: number; isFinal: boolean }
  reading?: Reading
  askedAtMs: number
}

interface Reading {
  receivedBytes: number
  totalBytes: number | null
  /** Never rejects; a failure is in `problem`. */
  done: Promise<void>
  problem?: unknown
}

/** Caches log archives: each is read once for all pages and dropped soon after. */
export class ArchiveCache {
  readonly #limits: CacheLimits
  readonly #held = new Map<string, Held>()
  #sweep: NodeJS.Timeout | undefined

  constructor(limits = cacheLimits) {
    this.#limits = limits
  }

  /** Waits up to `waitMs`. Rereads an archive older than `newerThanMs` or read before the run ended. */
  async look(
    key: string,
    download: DownloadArchive,
    { newerThanMs = 0, hasEnded = false, waitMs }: { newerThanMs?: number; hasEnded?: boolean; waitMs: number },
  ): Promise<Pick<Held, 'opened' | 'reading'>> {
    const held = this.#held.get(key) ?? { askedAtMs: 0 }
    this.#held.set(key, held)
    held.askedAtMs = Date.now()
    this.#forgetIdle()
    if (!held.reading && this.#isDue(held, newerThanMs, hasEnded))
      held.reading = this.#read(key, held, download, hasEnded)
    const { reading } = held
    if (reading) {
      await Promise.race([reading.done, delay(waitMs, undefined, { ref: false })])
      if (reading.problem !== undefined) throw reading.problem
    }
    return held
  }

  #isDue({ opened }: Held, newerThanMs: number, hasEnded: boolean): boolean {
    if (!opened || (hasEnded && !opened.isFinal)) return true
    if (opened.readAtMs > newerThanMs) return false
    return Date.now() - opened.readAtMs - opened.tookMs >= Math.max(this.#limits.minAgeMs, 4 * opened.tookMs)
  }

  #read(key: string, held: Held, download: DownloadArchive, isFinal: boolean): Reading {
    const reading: Reading = { receivedBytes: 0, totalBytes: null, done: Promise.resolve() }
    const readAtMs = Date.now()
    reading.done = this.#copy(reading, download).then(
      (files) => {
        held.opened?.files.close()
        held.opened = { files, readAtMs, tookMs: Date.now() - readAtMs, isFinal }
        held.reading = undefined
        while (this.#held.size > this.#limits.archives && this.#forgetOldest(key));
      },
      (error: unknown) => {
        reading.problem = error
        held.reading = undefined
        if (!held.opened) this.#held.delete(key)
      },
    )
    return reading
  }

  /** Copies the archive to a file without a name, which the system frees when the console ends. */
  async #copy(reading: Reading, download: DownloadArchive): Promise<ArchiveFiles> {
    const folder = mkdtempSync(join(tmpdir(), 'devdeck-logs-'))
    const file = openSync(join(folder, 'archive'), 'wx+', 0o600)
    rmSync(folder, { recursive: true })
    const signal = AbortSignal.timeout(this.#limits.readMs)
    try {
      const response = await download(signal)
      reading.totalBytes = Number(response.headers.get('content-length')) || null
      for await (const chunk of response.body ?? []) {
        this.#takeRoom(reading, chunk.length)
        await writeTo(file, chunk)
      }
      return await ArchiveFiles.open(file, reading.receivedBytes, this.#limits)
    } catch (error) {
      closeSync(file)
      if (error instanceof HttpError) throw error
      throw signal.aborted
        ? new HttpError('timeout', `Reading the archive timed out after ${reading.receivedBytes} bytes`)
        : new HttpError(
            'bad_upstream',
            `The archive was cut off after ${reading.receivedBytes} bytes: ${(error as Error).message}`,
          )
    }
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
      sum += (opened?.files.sizeBytes ?? 0) + (reading?.receivedBytes ?? 0)
    return sum
  }

  #forgetOldest(but?: string): boolean {
    const [oldest] = [...this.#held]
      .filter(([key, { reading }]) => key !== but && !reading)
      .sort(([, a], [, b]) => a.askedAtMs - b.askedAtMs)
    if (oldest) this.#forget(...oldest)
    return oldest !== undefined
  }

  #forgetIdle(): void {
    const { idleMs } = this.#limits
    for (const [key, held] of this.#held)
      if (!held.reading && Date.now() - held.askedAtMs > idleMs) this.#forget(key, held)
    clearTimeout(this.#sweep)
    if (this.#held.size > 0) this.#sweep = setTimeout(() => this.#forgetIdle(), idleMs + 1_000).unref()
  }

  #forget(key: string, held: Held): void {
    this.#held.delete(key)
    held.opened?.files.close()
  }

  close(): void {
    clearTimeout(this.#sweep)
    for (const [key, held] of this.#held) this.#forget(key, held)
  }
}
