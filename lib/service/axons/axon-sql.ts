import { type ChildProcess, fork } from 'node:child_process'
import { statSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { SqlStatement } from '#lib/contract/axons.ts'
import { invalid, ServiceError } from '#lib/service/kit/errors.ts'
import type { AxonListRequest } from '#lib/service/store/axons/lists.ts'
import type { StorageQuota } from '#lib/service/store/storage-quota.ts'
import {
  maxCopyMs,
  maxListMs,
  maxRunMs,
  outOfMemorySignal,
  type ProcessRequest,
  type SqlRequest,
  type SqlResponse,
  type SqlValue,
} from './axon-sql/protocol.ts'

const maxQueued = 256

interface Job {
  account: string
  request: ProcessRequest
  signal: AbortSignal | undefined
  resolve: (response: SqlResponse) => void
  reject: (error: unknown) => void
}

interface Options {
  database: string
  folder: string
  serviceId: string
  quota: StorageQuota
}

interface Target {
  account: string
  id: string
  seq: number
  isDeleted: boolean
}

/** Runs SQL of users, and lists axons, in processes that are killed if they take too much time or memory. */
export class AxonSql {
  readonly #options: Options
  readonly #queries: SqlProcesses
  readonly #lists: SqlProcesses

  constructor(options: Options) {
    this.#options = options
    this.#queries = new SqlProcesses(options, { max: Math.max(2, Math.min(4, availableParallelism())), idleMs: 30_000 })
    // Keeps an idle process, because starting one is noticeable.
    this.#lists = new SqlProcesses(options, { max: 2, idleMs: 600_000 })
  }

  async query(target: Target, statement: SqlStatement): Promise<Uint8Array> {
    return this.#run(target, 'query', [toStatement(statement, '')])
  }

  async batch(target: Target, statements: readonly SqlStatement[]): Promise<Uint8Array> {
    this.#options.quota.require(target.account)
    const all = statements.map((statement, i) => toStatement(statement, `statements.${i}.`))
    return this.#run(target, 'batch', all)
  }

  async list(request: AxonListRequest, signal: AbortSignal): Promise<Uint8Array> {
    const response = await this.#lists.run(request.account, { kind: 'list', ...request }, signal)
    if ('json' in response) return response.json
    throw new Error(`Listing axons failed: ${'failure' in response ? response.failure : response.error}`)
  }

  async close(): Promise<void> {
    await Promise.all([this.#queries.close(), this.#lists.close()])
  }

  async #run({ account, id, seq, isDeleted }: Target, kind: SqlRequest['kind'], statements: SqlRequest['statements']) {
    const { folder, quota } = this.#options
    const file = join(folder, `${id}.db`)
    const isFull = quota.available(account) === 0
    const request = { seq, file, statements, kind, isReadOnly: isDeleted || isFull }
    const response = await this.#queries.run(account, request)
    if ('json' in response) return response.json
    if (isFull && !isDeleted && 'error' in response && (response.errcode & 0xff) === sqlite.readOnly)
      quota.require(account)
    throw 'error' in response ? toError(response, request) : new Error(`SQL of ${id} failed: ${response.failure}`)
  }
}

class SqlProcesses {
  readonly #options: Options
  readonly #limits: { max: number; idleMs: number }
  readonly #processes = new Set<SqlProcess>()
  readonly #running = new Map<SqlProcess, Job>()
  readonly #waiting: Job[] = []
  #isClosed = false

  constructor(options: Options, limits: { max: number; idleMs: number }) {
    this.#options = options
    this.#limits = limits
  }

  run(account: string, request: ProcessRequest, signal?: AbortSignal): Promise<SqlResponse> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) throw stopping()
      if (this.#waiting.length >= maxQueued)
        throw new ServiceError('rate_limited', 'Too many SQL statements are queued', { retryAfterSeconds: 1 })
      this.#waiting.push({ account, request, signal, resolve, reject })
      this.#next()
    })
  }

  async close(): Promise<void> {
    this.#isClosed = true
    for (const { reject } of this.#waiting.splice(0)) reject(stopping())
    await Promise.all([...this.#processes].map((each) => each.kill()))
  }

  /** Runs one request per axon, and leaves a process for other accounts. */
  #next(): void {
    const running = [...this.#running.values()]
    const index = this.#waiting.findIndex(
      ({ account, request }) =>
        running.every((each) => request.kind === 'list' || fileOf(each.request) !== request.file) &&
        running.filter((each) => each.account === account).length < this.#limits.max - 1,
    )
    const free = [...this.#processes].find((each) => !this.#running.has(each))
    if (index === -1 || (!free && this.#processes.size >= this.#limits.max)) return
    const [job] = this.#waiting.splice(index, 1)
    if (job?.signal?.aborted) job.reject(new ServiceError('unavailable', 'Client disconnected'))
    else if (job) void this.#start(free ?? this.#spawn(), job)
    this.#next()
  }

  async #start(runner: SqlProcess, job: Job): Promise<void> {
    this.#running.set(runner, job)
    const { account, request } = job
    const file = fileOf(request)
    const before = file === undefined ? 0 : bytesOf(file)
    try {
      job.resolve(await runner.run(request))
    } catch (error) {
      job.reject(this.#isClosed ? stopping() : error)
    }
    if (file !== undefined) this.#options.quota.add(account, 'axons', bytesOf(file) - before)
    this.#running.delete(runner)
    this.#next()
  }

  #spawn(): SqlProcess {
    const runner = new SqlProcess(this.#options, this.#limits.idleMs, () => this.#processes.delete(runner))
    this.#processes.add(runner)
    return runner
  }
}

const fileOf = (request: ProcessRequest) => (request.kind === 'list' ? undefined : request.file)

const bytesOf = (file: string): number =>
  [file, `${file}-wal`].reduce((sum, path) => sum + (statSync(path, { throwIfNoEntry: false })?.size ?? 0), 0)

const stopping = () => new ServiceError('unavailable', 'The service is stopping')

class SqlProcess {
  readonly #child: ChildProcess
  readonly #exited: Promise<NodeJS.Signals | null>
  readonly #idleMs: number
  #idle: NodeJS.Timeout | undefined
  #onResponse: (response: SqlResponse) => void = () => undefined
  #onFailure: (signal: NodeJS.Signals | null) => void = () => undefined

  constructor({ database, serviceId }: Options, idleMs: number, onExit: () => void) {
    this.#idleMs = idleMs
    const file = fileURLToPath(new URL('./axon-sql/process.ts', import.meta.url))
    // No environment, which may hold keys: the process runs SQL of users.
    const env = { NODE_ENV: 'production', NODE_NO_WARNINGS: '1', DEVDECK_SERVICE_ID: serviceId } as const
    this.#child = fork(file, [database], {
      env,
      execArgv: [],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    this.#child.on('message', (response) => this.#onResponse(response as SqlResponse))
    this.#exited = new Promise((resolve) =>
      this.#child.once('exit', (_, signal) => resolve(signal)).once('error', () => resolve(null)),
    )
    void this.#exited.then((signal) => {
      onExit()
      this.#onFailure(signal)
    })
    this.#endWhenIdle()
  }

  async run(request: ProcessRequest): Promise<SqlResponse> {
    clearTimeout(this.#idle)
    // The process exits at the timeout; this kills one that fails to.
    const killTimer = setTimeout(() => this.#child.kill('SIGKILL'), maxCopyMs + maxRunMs)
    try {
      return await new Promise((resolve, reject) => {
        this.#onResponse = resolve
        this.#onFailure = (signal) =>
          reject(
            signal === outOfMemorySignal
              ? needsMemory(request.kind)
              : tookTooLong(request.kind === 'list' ? maxListMs : maxRunMs),
          )
        this.#child.send(request)
      })
    } finally {
      clearTimeout(killTimer)
      this.#endWhenIdle()
    }
  }

  #endWhenIdle(): void {
    this.#idle = setTimeout(() => this.#child.kill('SIGKILL'), this.#idleMs)
  }

  async kill(): Promise<void> {
    clearTimeout(this.#idle)
    this.#child.kill('SIGKILL')
    await this.#exited
  }
}

const tookTooLong = (maxMs: number) =>
  new ServiceError('timeout', `The SQL was canceled: it took longer than ${maxMs / 1000} s`, { shouldRetry: false })
const needsMemory = (kind: ProcessRequest['kind']) =>
  invalid({ field: kind === 'list' ? 'limit' : 'sql', message: 'exceeds the memory limit' })

const sqlite = { full: 13, readOnly: 8 }
const databaseErrors = [2, 10, 11, 14, 26]

const toError = ({ error, errcode }: { error: string; errcode: number }, { isReadOnly }: SqlRequest): Error => {
  const code = errcode & 0xff
  if (code === sqlite.full)
    return new ServiceError('insufficient_storage', "The axon's database is full", { shouldRetry: false })
  if (code === sqlite.readOnly && isReadOnly)
    return new ServiceError('conflict', 'The axon is deleted. Its database is read-only', { shouldRetry: false })
  if (databaseErrors.includes(code)) return new Error(`SQLite reports ${error} (${errcode})`)
  return invalid({ field: 'sql', message: error })
}

const toStatement = ({ sql, params }: SqlStatement, path: string) => ({
  sql,
  params: (params ?? []).map((param, i) => toValue(param, `${path}params.${i}`)),
})

const toValue = (param: unknown, field: string): SqlValue => {
  if (param === null || typeof param === 'string') return param
  if (typeof param === 'boolean') return param ? 1n : 0n
  // SQLite distinguishes 1 from 1.0.
  if (typeof param === 'number') return Number.isSafeInteger(param) ? BigInt(param) : param
  const base64 = (param as { base64?: unknown }).base64
  if (typeof base64 === 'string' && Object.keys(param as object).length === 1 && isBase64.test(base64))
    return Buffer.from(base64, 'base64')
  throw invalid({ field, message: 'must be null, true, false, a number, text or {"base64": "…"}' })
}

const isBase64 = /^[A-Za-z0-9+/]*={0,2}$/
