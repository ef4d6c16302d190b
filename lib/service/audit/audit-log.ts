import { closeSync, createReadStream, mkdirSync, openSync, rmSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Endpoint } from '#lib/contract/endpoint.ts'
import { storage } from '#lib/contract/storage.ts'
import { isReadByPost } from '#lib/service/domain/key-scopes.ts'
import { logError } from '#lib/service/kit/log.ts'
import { namesIn } from '#lib/service/store/lost-and-found.ts'

/** One change through the API. Holds no bodies, so no secrets, environment values or commands. */
export interface AuditEntry {
  time: string
  account: string
  /** Null for keys of the environment or a file, and for the operator token. */
  key_id: string | null
  key_name: string | null
  /** Endpoint of the contract. */
  operation: string
  /** IDs in the path, then the ID of the created object. */
  subject: string
  /** Null if the client disconnected before the response. */
  status: number | null
  address: string
  request_id: string
}

const folderName = 'audit'
const fileName = /^\d{4}-\d\d-\d\d\.jsonl$/
/** Unspecified: how long changes can be looked up. */
const keepDays = 90
const maxBytes = 2 ** 30
const dayMs = 24 * 60 * 60 * 1000
const failureIntervalMs = 60_000

/** A file of JSON lines per day, written before the response. */
export class AuditLog {
  readonly #folder: string
  readonly #now: () => number
  #open: { name: string; handle: number } | undefined
  #failedAtMs = Number.NEGATIVE_INFINITY

  constructor(dataDir: string, now: () => number = Date.now) {
    this.#folder = join(dataDir, folderName)
    this.#now = now
  }

  record(entry: Omit<AuditEntry, 'time'>): void {
    const time = new Date(this.#now()).toISOString()
    try {
      writeSync(this.#handleOf(`${time.slice(0, 10)}.jsonl`), `${JSON.stringify({ time, ...entry })}\n`)
    } catch (error) {
      // The change is made; refusing it would not undo it. A full disk would repeat this for every request.
      if (this.#now() - this.#failedAtMs < failureIntervalMs) return
      this.#failedAtMs = this.#now()
      logError({ message: 'Could not write the audit log', error: String(error), ...entry })
    }
  }

  close(): void {
    if (this.#open) closeSync(this.#open.handle)
    this.#open = undefined
  }

  #handleOf(name: string): number {
    if (this.#open?.name === name) return this.#open.handle
    this.close()
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 })
    this.#removeOld()
    this.#open = { name, handle: openSync(join(this.#folder, name), 'a', 0o600) }
    return this.#open.handle
  }

  #removeOld(): void {
    const first = new Date(this.#now() - keepDays * dayMs).toISOString().slice(0, 10)
    let bytes = 0
    for (const name of filesIn(this.#folder).reverse()) {
      bytes += statSync(join(this.#folder, name)).size
      if (name < first || bytes > maxBytes) rmSync(join(this.#folder, name))
    }
  }
}

const filesIn = (folder: string) =>
  namesIn(folder)
    .filter((name) => fileName.test(name))
    .sort()

/** Position up to which a reader has read. */
export interface AuditPosition {
  name: string
  bytes: number
}

/** Whole lines after `position` and since `sinceMs`. */
export async function* readAudit(dataDir: string, sinceMs: number, position: AuditPosition): AsyncGenerator<string> {
  const folder = join(dataDir, folderName)
  const firstDay = Number.isFinite(sinceMs) ? new Date(sinceMs).toISOString().slice(0, 10) : ''
  for (const name of filesIn(folder)) {
    if (name < position.name || name.slice(0, 10) < firstDay) continue
    const start = name === position.name ? position.bytes : 0
    const { size } = statSync(join(folder, name))
    Object.assign(position, { name, bytes: start })
    if (size <= start) continue
    const input = createReadStream(join(folder, name), { encoding: 'utf8', start, end: size - 1 })
    for await (const line of createInterface({ input })) {
      const bytes = Buffer.byteLength(line) + 1
      // The rest of the line is still being written.
      if (position.bytes + bytes > size) break
      position.bytes += bytes
      const entry = parseLine(line)
      if (entry && Date.parse(entry.time) >= sinceMs) yield line
    }
  }
}

/** Undefined for a line left incomplete by a crash of the machine. */
const parseLine = (line: string): AuditEntry | undefined => {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

/** A GET opens a terminal, in which everything can be changed. */
export const isAudited = ({ id, method, path }: Pick<Endpoint, 'id' | 'method' | 'path'>, body: unknown): boolean =>
  /^terminals\./.test(id) || (method !== 'GET' && !isReadByPost(path) && !isDryRun(id, body))

const isDryRun = (id: string, body: unknown) =>
  id === storage.prune.id && (body as { dry_run?: boolean }).dry_run === true

const maxParsedBytes = 256 * 1024

export const subjectOf = (params: object, json?: string | Uint8Array): string => {
  const ids = Object.values(params).map(String)
  const body = json && json.length <= maxParsedBytes ? (JSON.parse(json.toString()) as object | null) : null
  const { id, execution_id } = (body ?? {}) as { id?: unknown; execution_id?: unknown }
  const created = execution_id ?? id
  return [...ids, ...(typeof created === 'string' && !ids.includes(created) ? [created] : [])].join('/')
}
