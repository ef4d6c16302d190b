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
  type ProcessRequest,
  type SqlAnswer,
  type SqlRequest,
  type SqlValue,
  tookTooMuchMemory,
} from './axon-sql/protocol.ts'

const maxWaiting = 256

interface Job {
  account: string
  request: ProcessRequest
  /** Aborted when nobody waits for the answer any more. */
  signal: AbortSignal | undefined
  resolve: (answer: SqlAnswer) => void
  reject: (error: unknown) => void
}

interface Options {
  /** The database of the service, which holds the events. */
  database: string
  /** Where the databases of axons are. */
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

/**
 * The SQL of axons, each with a database of its own, and the lists of axons. It runs in processes apart: a statement may
 * take all the time and memory it likes without anyone else waiting for it, and is ended with its process when it takes
 * too much.
 */
export class AxonSql {
  readonly #folder: string
  readonly #quota: StorageQuota
  readonly #users: SqlProcesses
  /** These are kept for longer, because a person notices how long starting one takes. */
  readonly #lists: SqlProcesses

  constructor(options: Options) {
    this.#folder = options.folder
    this.#quota = options.quota
    this.#users = new SqlProcesses(options, { most: Math.max(2, Math.min(4, availableParallelism())), idleMs: 30_000 })
    this.#lists = new SqlProcesses(options, { most: 2, idleMs: 600_000 })
  }

  /** The JSON of a SqlResult. */
  async query(target: Target, statement: SqlStatement): Promise<Uint8Array> {
    return this.#run(target, 'query', [toStatement(statement, '')])
  }

  /** The JSON of a SqlBatchResult. */
  async batch(target: Target, statements: readonly SqlStatement[]): Promise<Uint8Array> {
    this.#quota.require(target.account)
    const all = statements.map((statement, i) => toStatement(statement, `statements.${i}.`))
    return this.#run(target, 'batch', all)
  }

  /** Starts the process of the lists, which the first list would wait for. */
  prepare(): void {
    this.#lists.prepare()
  }

  /** The JSON of an AxonList. */
  async list(request: AxonListRequest, signal: AbortSignal): Promise<Uint8Array> {
    const answer = await this.#lists.run(request.account, { kind: 'list', ...request }, signal)
    if ('json' in answer) return answer.json
    throw new Error(`The list of axons failed: ${'failure' in answer ? answer.failure : answer.refusal}`)
  }

  async close(): Promise<void> {
    await Promise.all([this.#users.close(), this.#lists.close()])
  }

  async #run({ account, id, seq, isDeleted }: Target, kind: SqlRequest['kind'], statements: SqlRequest['statements']) {
    const file = join(this.#folder, `${id}.db`)
    const isFull = this.#quota.available(account) === 0
    const request = { seq, file, statements, kind, isReadOnly: isDeleted || isFull }
    const answer = await this.#users.run(account, request)
    if ('json' in answer) return answer.json
    if (isFull && !isDeleted && 'refusal' in answer && (answer.errcode & 0xff) === sqlite.readOnly)
      this.#quota.require(account)
    throw 'refusal' in answer ? toError(answer, request) : new Error(`The SQL of ${id} failed: ${answer.failure}`)
  }
}

class SqlProcesses {
  readonly #options: Options
  readonly #limits: { most: number; idleMs: number }
  readonly #processes = new Set<SqlProcess>()
  readonly #running = new Map<SqlProcess, Job>()
  readonly #waiting: Job[] = []
  /** The size of each database as the quota counts it. */
  readonly #counted = new Map<string, number>()
  #isClosed = false

  constructor(options: Options, limits: { most: number; idleMs: number }) {
    this.#options = options
    this.#limits = limits
  }

  run(account: string, request: ProcessRequest, signal?: AbortSignal): Promise<SqlAnswer> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) throw stopping()
      if (this.#waiting.length >= maxWaiting)
        throw new ServiceError('rate_limited', 'Too many SQL statements are waiting', { retryAfterSeconds: 1 })
      this.#waiting.push({ account, request, signal, resolve, reject })
      this.#next()
    })
  }

  prepare(): void {
    if (!this.#isClosed && this.#processes.size === 0) this.#spawn()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    for (const { reject } of this.#waiting.splice(0)) reject(stopping())
    await Promise.all([...this.#processes].map((each) => each.kill()))
  }

  /** Starts what can be: one call per axon, and never all processes for one account. */
  #next(): void {
    const running = [...this.#running.values()]
    const index = this.#waiting.findIndex(
      ({ account, request }) =>
        running.every(
          (each) => request.kind === 'list' || each.request.kind === 'list' || each.request.file !== request.file,
        ) && running.filter((each) => each.account === account).length < this.#limits.most - 1,
    )
    const free = [...this.#processes].find((each) => !this.#running.has(each))
    if (index === -1 || (!free && this.#processes.size >= this.#limits.most)) return
    const [job] = this.#waiting.splice(index, 1)
    if (job?.signal?.aborted) job.reject(new ServiceError('unavailable', 'Nobody waits for the answer'))
    else if (job) void this.#start(free ?? this.#spawn(), job)
    this.#next()
  }

  async #start(runner: SqlProcess, job: Job): Promise<void> {
    this.#running.set(runner, job)
    const { account, request } = job
    const file = request.kind === 'list' ? undefined : request.file
    if (file !== undefined && !this.#counted.has(file)) this.#counted.set(file, bytesOf(file))
    try {
      job.resolve(await runner.run(request))
    } catch (error) {
      job.reject(this.#isClosed ? stopping() : error)
    }
    if (file !== undefined) {
      const bytes = bytesOf(file)
      this.#options.quota.add(account, 'axons', bytes - (this.#counted.get(file) ?? bytes))
      this.#counted.set(file, bytes)
    }
    this.#running.delete(runner)
    this.#next()
  }

  #spawn(): SqlProcess {
    const runner = new SqlProcess(this.#options, this.#limits.idleMs, () => this.#processes.delete(runner))
    this.#processes.add(runner)
    return runner
  }
}

/** Of a database with its log, which holds what was written last. */
const bytesOf = (file: string): number =>
  [file, `${file}-wal`].reduce((sum, path) => sum + (statSync(path, { throwIfNoEntry: false })?.size ?? 0), 0)

const stopping = () => new ServiceError('unavailable', 'The service is stopping')

class SqlProcess {
  readonly #child: ChildProcess
  readonly #exited: Promise<NodeJS.Signals | null>
  readonly #idleMs: number
  #idle: NodeJS.Timeout | undefined
  #answered: (answer: SqlAnswer) => void = () => undefined
  #failed: (signal: NodeJS.Signals | null) => void = () => undefined

  constructor({ database, serviceId }: Options, idleMs: number, onExit: () => void) {
    this.#idleMs = idleMs
    const file = fileURLToPath(new URL('./axon-sql/process.ts', import.meta.url))
    // Nothing of the environment: it may hold keys, and this process runs what users write.
    const env = { NODE_ENV: 'production', NODE_NO_WARNINGS: '1', DEVDECK_SERVICE_ID: serviceId } as const
    this.#child = fork(file, [database], {
      env,
      execArgv: [],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    this.#child.on('message', (answer) => this.#answered(answer as SqlAnswer))
    this.#exited = new Promise((resolve) =>
      this.#child.once('exit', (_, signal) => resolve(signal)).once('error', () => resolve(null)),
    )
    void this.#exited.then((signal) => {
      onExit()
      this.#failed(signal)
    })
    this.#endWhenIdle()
  }

  async run(request: ProcessRequest): Promise<SqlAnswer> {
    clearTimeout(this.#idle)
    // It ends itself when the time is over; this is for one that cannot even do that.
    const tooLate = setTimeout(() => this.#child.kill('SIGKILL'), maxCopyMs + maxRunMs)
    try {
      return await new Promise((resolve, reject) => {
        this.#answered = resolve
        this.#failed = (signal) =>
          reject(
            signal === tookTooMuchMemory
              ? needsMemory(request.kind)
              : tookTooLong(request.kind === 'list' ? maxListMs : maxRunMs),
          )
        this.#child.send(request)
      })
    } finally {
      clearTimeout(tooLate)
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

const tookTooLong = (mostMs: number) =>
  new ServiceError('timeout', `The SQL was ended: it took longer than ${mostMs / 1000} s`, { shouldRetry: false })
const needsMemory = (kind: ProcessRequest['kind']) =>
  invalid({ field: kind === 'list' ? 'limit' : 'sql', message: 'needs more memory than it may' })

const sqlite = { full: 13, readOnly: 8 }
const unhealthy = [2, 10, 11, 14, 26]

const toError = ({ refusal, errcode }: { refusal: string; errcode: number }, { isReadOnly }: SqlRequest): Error => {
  const code = errcode & 0xff
  if (code === sqlite.full)
    return new ServiceError('insufficient_storage', 'The database of the axon is full', { shouldRetry: false })
  if (code === sqlite.readOnly && isReadOnly)
    return new ServiceError('conflict', 'The axon is deleted: its database can only be read', { shouldRetry: false })
  if (unhealthy.includes(code)) return new Error(`SQLite reports ${refusal} (${errcode})`)
  return invalid({ field: 'sql', message: refusal })
}

const toStatement = ({ sql, params }: SqlStatement, path: string) => ({
  sql,
  params: (params ?? []).map((param, i) => toValue(param, `${path}params.${i}`)),
})

const toValue = (param: unknown, field: string): SqlValue => {
  if (param === null || typeof param === 'string') return param
  if (typeof param === 'boolean') return param ? 1n : 0n
  // As an integer where it is one: SQLite tells 1 from 1.0.
  if (typeof param === 'number') return Number.isSafeInteger(param) ? BigInt(param) : param
  const base64 = (param as { base64?: unknown }).base64
  if (typeof base64 === 'string' && Object.keys(param as object).length === 1 && isBase64.test(base64))
    return Buffer.from(base64, 'base64')
  throw invalid({ field, message: 'must be null, true, false, a number, text or {"base64": "…"}' })
}

const isBase64 = /^[A-Za-z0-9+/]*={0,2}$/
