import { createHash, randomBytes } from 'node:crypto'
import { createReadStream, type WriteStream } from 'node:fs'
import { mkdir, open, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import * as z from 'zod/mini'
import { maxRecordingBytes, maxRecordings, type Recording, type RecordingList } from '#lib/protocol/recordings.ts'
import { requireCaller } from '../accounts/session-cookie.ts'
import { actorOf, withActivityRecord } from '../activity/activity.ts'
import { HttpError, handleRequest, json } from '../http/handle-request.ts'
import { registry } from '../registry/registry.ts'
import { storedAccount } from '../upstream/client.ts'
import { serviceNow } from '../upstream/clock.ts'
import { liveRecordings } from './registry.ts'

/** The recording ends if more than this is waiting for the disk. */
const maxWaitingBytes = 16 * 1024 * 1024
const tailBytes = 64 * 1024
const suffix = '.cast'

interface Start {
  account_id: string
  devbox_id: string
  devbox_name?: string | undefined
  terminal: string
  cols: number
  rows: number
  title: string
}

/** Asciicast v2 file of a terminal's output. Input is not recorded, so unechoed passwords don't appear. */
export class TerminalRecording {
  readonly id: string
  readonly sinceMs = serviceNow()
  readonly #startedAt = performance.now()
  readonly #file: WriteStream
  readonly #text = new TextDecoder()
  readonly #closed = Promise.withResolvers<void>()
  #bytes = 0
  #ended = false
  #failed: (message: string) => void = () => undefined

  static async start({ account_id, cols, rows, title, ...devdeck }: Start): Promise<TerminalRecording> {
    const folder = folderOf(account_id)
    // Ids sort by time, even within one millisecond.
    latestIdMs = Math.max(Date.now(), latestIdMs + 1)
    const id = `rec_${latestIdMs.toString(36).padStart(9, '0')}${randomBytes(8).toString('hex')}`
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      if ((await idsIn(folder)).length >= maxRecordings)
        throw new HttpError('rate_limited', `The limit of ${maxRecordings} recordings is reached. Delete some first.`)
      const handle = await open(join(folder, id + suffix), 'wx', 0o600)
      return new TerminalRecording(id, handle.createWriteStream(), {
        version: 2,
        width: cols,
        height: rows,
        timestamp: Math.floor(Date.now() / 1000),
        title,
        env: { TERM: 'xterm-256color' },
        devdeck: { ...devdeck, start_time_ms: serviceNow() },
      })
    } catch (error) {
      if (error instanceof HttpError) throw error
      throw new HttpError('unavailable', `The recording could not be written: ${(error as Error).message}`)
    }
  }

  private constructor(id: string, file: WriteStream, header: Header) {
    this.id = id
    this.#file = file
    liveRecordings().add(id)
    file.once('close', () => {
      liveRecordings().delete(id)
      this.#closed.resolve()
    })
    file.on('error', (error) => this.#stop(`The recording stopped: ${error.message}`))
    this.#line(header)
  }

  onFailure(failed: (message: string) => void): void {
    this.#failed = failed
  }

  output(bytes: Uint8Array): void {
    const text = this.#text.decode(bytes, { stream: true })
    if (text !== '') this.#event('o', text)
  }

  resize(cols: number, rows: number): void {
    this.#event('r', `${cols}x${rows}`)
  }

  mark(label: string): void {
    this.#event('m', label)
  }

  async end(): Promise<void> {
    this.#stop()
    await this.#closed.promise
  }

  #event(kind: 'o' | 'r' | 'm', data: string): void {
    if (this.#ended) return
    const seconds = Math.round((performance.now() - this.#startedAt) * 1000) / 1e6
    this.#line([seconds, kind, data])
    if (this.#bytes >= maxRecordingBytes)
      this.#stop(`The recording ended at the limit of ${maxRecordingBytes / 1024 / 1024} MiB`)
    else if (this.#file.writableLength > maxWaitingBytes)
      this.#stop('The recording stopped because the disk is too slow')
  }

  #line(value: unknown): void {
    const line = Buffer.from(`${JSON.stringify(value)}\n`)
    this.#bytes += line.length
    this.#file.write(line)
  }

  #stop(problem?: string): void {
    if (this.#ended) return
    this.#ended = true
    this.#file.end()
    if (problem !== undefined) this.#failed(problem)
  }
}

const Header = z.object({
  version: z.literal(2),
  width: z.int(),
  height: z.int(),
  timestamp: z.number(),
  title: z.string(),
  env: z.optional(z.record(z.string(), z.string())),
  devdeck: z.object({
    devbox_id: z.string(),
    devbox_name: z.optional(z.string()),
    terminal: z.string(),
    start_time_ms: z.number(),
  }),
})
type Header = z.infer<typeof Header>

let latestIdMs = 0
const idPattern = /^rec_[0-9a-z]{9,12}[0-9a-f]{16}$/

/** Accounts of different services may share an id. */
const folderOf = (accountId: string): string =>
  join(
    registry().config.dataDir,
    'recordings',
    createHash('sha256').update(storedAccount(accountId)).digest('hex').slice(0, 32),
  )

const idsIn = async (folder: string): Promise<string[]> => {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return []
    throw error
  })
  return names
    .filter((name) => name.endsWith(suffix))
    .map((name) => name.slice(0, -suffix.length))
    .filter((id) => idPattern.test(id))
}

export const recordingFile = (accountId: string, id: string): string => {
  if (!idPattern.test(id)) throw new HttpError('not_found', 'Recording not found')
  return join(folderOf(accountId), id + suffix)
}

/** Newest first. Unreadable files are skipped. */
const recordingsOf = async (accountId: string): Promise<Recording[]> => {
  const folder = folderOf(accountId)
  const ids = (await idsIn(folder)).sort().reverse()
  const read = await Promise.all(ids.map((id) => readRecording(join(folder, id + suffix), id)))
  return read.filter((each) => each !== undefined)
}

const readRecording = async (file: string, id: string): Promise<Recording | undefined> => {
  try {
    const { size } = await stat(file)
    const handle = await open(file)
    try {
      const head = Buffer.alloc(Math.min(size, tailBytes))
      await handle.read(head, 0, head.length, 0)
      const tail = Buffer.alloc(Math.min(size, tailBytes))
      await handle.read(tail, 0, tail.length, size - tail.length)
      const header = Header.parse(JSON.parse(head.toString().split('\n', 1)[0] ?? ''))
      return {
        id,
        ...header.devdeck,
        title: header.title,
        duration_ms: lastTimeMs(tail.toString(), size <= tailBytes),
        size_bytes: size,
        cols: header.width,
        rows: header.height,
        live: liveRecordings().has(id),
      }
    } finally {
      await handle.close()
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    // Deleted since it was listed, or not a recording.
    if (code === 'ENOENT' || error instanceof SyntaxError || error instanceof z.core.$ZodError) return undefined
    throw error
  }
}

/** Time of the last complete event; undefined if that event is longer than the tail. */
const lastTimeMs = (tail: string, isWhole: boolean): number | null => {
  const lines = tail.split('\n').slice(0, -1).reverse()
  for (const line of lines) {
    const seconds = /^\[(\d+(?:\.\d+)?), ?"[a-z]"/.exec(line)?.[1]
    if (seconds !== undefined) return Math.round(Number(seconds) * 1000)
  }
  return isWhole ? 0 : null
}

/** `GET /api/recordings` */
export const listRecordings = (request: Request): Promise<Response> =>
  handleRequest(request, async () => {
    const { account } = await requireCaller(request, 'read')
    return json({ recordings: await recordingsOf(account.id) } satisfies RecordingList)
  })

/** `GET /api/recordings/{id}`: the file, or its list entry with `?view=summary`. */
export const getRecording = (request: Request, id: string): Promise<Response> =>
  handleRequest(request, async () => {
    const { account } = await requireCaller(request, 'read')
    const file = recordingFile(account.id, id)
    const found = await readRecording(file, id)
    if (!found) throw new HttpError('not_found', `Recording ${id} not found`)
    if (new URL(request.url).searchParams.get('view') === 'summary') return json(found)
    // The file may still grow; send only the length read above.
    const stream = found.size_bytes === 0 ? Readable.from([]) : createReadStream(file, { end: found.size_bytes - 1 })
    return new Response(Readable.toWeb(stream) as ReadableStream<Uint8Array>, {
      headers: {
        'content-type': 'application/x-asciicast',
        'content-length': String(found.size_bytes),
        'content-disposition': `attachment; filename="${id}.cast"`,
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
      },
    })
  })

/** `DELETE /api/recordings/{id}` */
export const deleteRecording = (request: Request, id: string): Promise<Response> =>
  handleRequest(request, async () => {
    const session = await requireCaller(request, 'write')
    const actor = actorOf(session, (name) => request.headers.get(name))
    return withActivityRecord(actor, { operation: 'recordings.delete', subject: id }, async () => {
      const file = recordingFile(session.account.id, id)
      if (!(await readRecording(file, id))) throw new HttpError('not_found', `Recording ${id} not found`)
      if (liveRecordings().has(id))
        throw new HttpError('conflict', 'The recording is still running. Stop it in its terminal first.')
      await rm(file, { force: true })
      return json({})
    })
  })
