import { randomBytes } from 'node:crypto'
import { EventEmitter } from 'node:events'
import { appendFile, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Execution, ExecutionStatus, OutputChunk, StdinSignal } from '#lib/contract/executions.ts'
import type { RunningDevbox } from '#lib/service/engine/box.ts'
import type { Stream } from '#lib/service/engine/run-script.ts'
import { notFound, ServiceError } from '#lib/service/kit/errors.ts'
import { logFailure } from '#lib/service/kit/log.ts'
import { untilStored } from '#lib/service/kit/until-stored.ts'
import { waitForChange } from '#lib/service/kit/wait-for-change.ts'
import type { ExecutionRecord, ExecutionStore } from '#lib/service/store/executions.ts'
import type { DevboxLogs } from '#lib/service/store/logs/logs.ts'
import type { StorageQuota } from '#lib/service/store/storage-quota.ts'
import { holdOf, killedStatus, LiveExecution, lostMessage } from './live-execution.ts'
import { decodeChunks, OutputAllowance, readFinished, readTail } from './output-buffer.ts'

/** Unspecified: how much of each stream's end a response includes; the streams have all of it. */
const maxResponseBytes = 1024 * 1024
// Unspecified: how long public clients may repeat a command with the same `x-request-id` without running it twice.
const retryWindowMs = 10 * 60 * 1000
const killWaitMs = 2000

export interface Launch {
  account: string
  command: string
  shellName?: string | null | undefined
  id?: string | null | undefined
  requestId?: string
  attachStdin?: boolean | null | undefined
  cwd?: string
  /** As for `docker exec --user`. */
  user?: string
}

/** A devbox that an earlier service left running. */
export interface TakenOver {
  account: string
  /** Undefined if it can't be continued. */
  running: Promise<RunningDevbox | undefined>
}

interface Options {
  store: ExecutionStore
  folderOf: (devboxId: string) => string
  logs: DevboxLogs
  maxPerAccount: number
  quota: StorageQuota
}

export class Executions {
  readonly #options: Options
  readonly #live = new Map<string, LiveExecution>()
  readonly #shells = new Map<string, Promise<unknown>>()
  readonly #allowances = new Map<string, OutputAllowance>()
  readonly #changes = new EventEmitter().setMaxListeners(0)

  constructor(options: Options) {
    this.#options = options
  }

  /**
   * Completes executions that a service restart has interrupted, and continues those in devboxes that are taken over.
   */
  async recover(takenOver: (devboxId: string) => TakenOver | undefined = () => undefined): Promise<void> {
    for (const record of this.#options.store.unfinished()) {
      const found = takenOver(record.devbox_id)
      if (found) this.#continue(record, found)
      else await this.#endInterrupted(record)
    }
  }

  async #endInterrupted({ devbox_id, id, shell_name, stdout_cut, stderr_cut }: ExecutionRecord) {
    const folder = this.#folder(devbox_id, id)
    const message = `devdeck: ${lostMessage}`
    await mkdir(folder, { recursive: true, mode: 0o700 })
      .then(() => appendFile(join(folder, 'stderr'), `\n${message}\n`, { mode: 0o600 }))
      .catch(logFailure(`Could not store the end of execution ${id}`))
    const about = { source: 'exec', cmd_id: id, ...(shell_name && { shell_name }) } as const
    this.#options.logs.append(devbox_id, { ...about, level: 'error', message })
    this.#options.logs.append(devbox_id, { ...about, level: 'error', exit_code: killedStatus })
    const end = {
      exitStatus: killedStatus,
      endTimeMs: Date.now(),
      stdoutCut: stdout_cut === 1,
      stderrCut: stderr_cut === 1,
    }
    void untilStored(
      () => this.#options.store.complete(devbox_id, id, end),
      `Could not store the result of execution ${id}`,
    )
  }

  #continue(record: ExecutionRecord, { account, running }: TakenOver) {
    const isContinued = record.status !== 'queued'
    this.#run(record, { account, devbox: running, isContinued })
  }

  endingWithService(): { account: string; id: string; devbox_id: string; name: string }[] {
    return [...this.#live.values()]
      .filter(({ outlivesService }) => !outlivesService)
      .map(({ account, record: { id, devbox_id, command } }) => ({ account, id, devbox_id, name: command }))
  }

  /** Names by which the commands of a devbox are found by the next service. */
  holds(devboxId: string): string[] {
    return this.#options.store
      .unfinished()
      .filter(({ devbox_id }) => devbox_id === devboxId)
      .map(({ id }) => holdOf(id))
  }

  /** `devbox` throws if the devbox isn't running; not called for a repeated launch. */
  launch(devboxId: string, devbox: () => RunningDevbox, launch: Launch): string {
    const { account, command, shellName, id, requestId, attachStdin, cwd, user } = launch
    if (command.includes('\0'))
      throw new ServiceError('invalid_argument', 'command must not contain a NUL character', { field: 'command' })
    const record: ExecutionRecord = {
      id: id || newUuid7(),
      devbox_id: devboxId,
      command,
      shell_name: shellName || null,
      status: 'running',
      exit_status: null,
      create_time_ms: Date.now(),
      end_time_ms: null,
      request_id: requestId ?? null,
      stdout_cut: 0,
      stderr_cut: 0,
      attach_stdin: attachStdin ? 1 : 0,
    }
    const existing = this.#existing(record, id)
    if (existing !== undefined) return existing
    const running = devbox()
    if (record.shell_name !== null && running.box.bashrc === undefined)
      throw new ServiceError(
        'invalid_argument',
        "shell_name: named shells require bash, which this devbox doesn't have",
        {
          field: 'shell_name',
          shouldRetry: false,
        },
      )
    this.#requireCapacity(account)
    this.#options.quota.require(account)
    const shellKey = shellKeyOf(record)
    if (shellKey !== undefined && this.#shells.has(shellKey)) record.status = 'queued'
    this.#options.store.insert(record)
    this.#run(record, {
      account,
      devbox: running,
      ...(cwd !== undefined && { cwd }),
      ...(user !== undefined && { user }),
    })
    return record.id
  }

  #run(
    record: ExecutionRecord,
    how: { account: string; devbox: LiveDevbox; isContinued?: boolean; cwd?: string; user?: string },
  ) {
    const { id, devbox_id, command, shell_name } = record
    const { account, devbox, isContinued = false } = how
    const live = new LiveExecution({
      ...how,
      record,
      folder: this.#folder(devbox_id, id),
      allowance: this.#allowance(account, devbox_id),
      log: this.#options.logs.command(devbox_id, { source: 'exec', cmd: command, cmd_id: id, shell_name, isContinued }),
    })
    const key = keyOf(devbox_id, id)
    this.#live.set(key, live)
    const shellKey = shellKeyOf(record)
    const before = shellKey === undefined ? undefined : this.#shells.get(shellKey)
    if (shellKey !== undefined) this.#queue(shellKey, [before, live.ended])
    const release = Promise.resolve(devbox).then((running) => running?.busy())
    const wasQueued = record.status === 'queued'
    void live.run(isContinued ? undefined : before, () => {
      if (wasQueued) this.#begin(record)
      this.#changes.emit(key)
    })
    void live.ended.then(async (exitStatus) => {
      const done = await release
      done?.()
      void this.#complete(live, exitStatus)
    })
  }

  /** Otherwise the next service would run it again. */
  #begin({ devbox_id, id }: ExecutionRecord) {
    try {
      this.#options.store.begin(devbox_id, id)
    } catch (error) {
      logFailure(`Could not store the start of execution ${id}`)(error)
    }
  }

  #existing(record: ExecutionRecord, id: string | null | undefined): string | undefined {
    if (id) return this.#options.store.get(record.devbox_id, id)?.id
    return record.request_id ? this.#options.store.byRequest(record, record.create_time_ms - retryWindowMs) : undefined
  }

  #requireCapacity(account: string) {
    let unfinished = 0
    for (const live of this.#live.values()) if (live.account === account) unfinished++
    if (unfinished >= this.#options.maxPerAccount)
      throw new ServiceError(
        'rate_limited',
        `This account has reached its limit of ${unfinished} queued and running commands`,
        { retryAfterSeconds: 5 },
      )
  }

  /** Retries on a full disk. After a restart, `recover` completes the execution. */
  async #complete(live: LiveExecution, exitStatus: number) {
    const { devbox_id, id } = live.record
    const { stdout, stderr } = live.output
    const end = { exitStatus, endTimeMs: Date.now(), stdoutCut: stdout.isCut, stderrCut: stderr.isCut }
    const store = () => {
      this.#options.store.complete(devbox_id, id, end)
      return true
    }
    if (!(await untilStored(store, `Could not store the result of execution ${id}`))) return
    live.release()
    this.#live.delete(keyOf(devbox_id, id))
    this.#changes.emit(keyOf(devbox_id, id))
  }

  status(devboxId: string, id: string): ExecutionStatus {
    return this.#live.get(keyOf(devboxId, id))?.record.status ?? this.#record(devboxId, id).status
  }

  async get(devboxId: string, id: string, lastLines?: number): Promise<Execution> {
    const { shell_name, exit_status, stdout_cut, stderr_cut } = this.#record(devboxId, id)
    const status = this.status(devboxId, id)
    const head = { devbox_id: devboxId, execution_id: id, status, shell_name }
    if (status !== 'completed')
      return { ...head, stdout: null, stderr: null, exit_status: null, stdout_truncated: null, stderr_truncated: null }
    const tail = (stream: Stream) => readTail(join(this.#folder(devboxId, id), stream), maxResponseBytes, lastLines)
    const [stdout, stderr] = await Promise.all([tail('stdout'), tail('stderr')])
    return {
      ...head,
      stdout: stdout.text,
      stderr: stderr.text,
      exit_status,
      stdout_truncated: stdout_cut === 1 || stdout.truncated,
      stderr_truncated: stderr_cut === 1 || stderr.truncated,
    }
  }

  /** Resolves to true once the execution has one of `statuses`; false on timeout or disconnect. Throws 404. */
  async reaches(
    devboxId: string,
    id: string,
    statuses: readonly string[],
    timeoutMs: number,
    signal?: AbortSignal,
  ): Promise<boolean> {
    const check = () => statuses.includes(this.status(devboxId, id)) || undefined
    return (
      (await waitForChange({ changes: this.#changes, name: keyOf(devboxId, id), check, timeoutMs, signal })) ?? false
    )
  }

  follow(
    devboxId: string,
    id: string,
    stream: Stream,
    offset: number,
    signal: AbortSignal,
  ): AsyncIterable<OutputChunk> {
    this.#record(devboxId, id)
    const buffer = this.#live.get(keyOf(devboxId, id))?.output[stream]
    const bytes = buffer
      ? buffer.follow(offset, signal)
      : readFinished(join(this.#folder(devboxId, id), stream), offset, signal)
    return decodeChunks(bytes, offset)
  }

  // Unspecified: SIGKILL, which can't be ignored; the response waits up to 2 s for the end.
  async kill(devboxId: string, id: string, wholeGroup: boolean): Promise<void> {
    this.#record(devboxId, id)
    await this.#live.get(keyOf(devboxId, id))?.signal('SIGKILL', wholeGroup)
    await this.reaches(devboxId, id, ['completed'], killWaitMs)
  }

  async send(
    devboxId: string,
    id: string,
    text: string | null | undefined,
    signal: StdinSignal | null | undefined,
  ): Promise<boolean> {
    this.#record(devboxId, id)
    const live = this.#live.get(keyOf(devboxId, id))
    if (!live) return false
    const { stdin } = live
    if (!stdin)
      throw new ServiceError('invalid_argument', `Execution ${id} was not started with attach_stdin`, {
        shouldRetry: false,
      })
    if (text && !(await stdin.write(text))) return false
    if (signal === 'EOF') return stdin.end()
    // The whole group, as in a terminal: bash alone would wait for its child.
    if (signal === 'INTERRUPT') return live.signal('SIGINT', true)
    return true
  }

  async end(devboxId: string, stopProcesses: () => Promise<void>): Promise<void> {
    const all = this.#of(devboxId)
    for (const live of all) live.stopWithDevbox()
    await stopProcesses()
    await Promise.all(all.map(({ ended }) => ended))
    this.#allowances.delete(devboxId)
  }

  /** Leaves the commands of a devbox running for the next service. */
  async detach(devboxId: string): Promise<void> {
    await Promise.all(this.#of(devboxId).map((live) => live.detach()))
  }

  #allowance(account: string, devboxId: string): OutputAllowance {
    const existing = this.#allowances.get(devboxId)
    if (existing) return existing
    const allowance = new OutputAllowance({ account, quota: this.#options.quota })
    this.#allowances.set(devboxId, allowance)
    const folder = join(this.#options.folderOf(devboxId), 'executions')
    allowance.takeFolder(folder).catch(logFailure(`Could not measure the command output of devbox ${devboxId}`))
    return allowance
  }

  /** A killed queued command ends before those ahead of it; the shell is free once all have ended. */
  #queue(shellKey: string, commands: (Promise<unknown> | undefined)[]) {
    const free = Promise.all(commands).then(() => {
      if (this.#shells.get(shellKey) === free) this.#shells.delete(shellKey)
    })
    this.#shells.set(shellKey, free)
  }

  #of(devboxId: string) {
    return [...this.#live.values()].filter(({ record }) => record.devbox_id === devboxId)
  }

  #folder(devboxId: string, id: string) {
    return join(this.#options.folderOf(devboxId), 'executions', id)
  }

  #record(devboxId: string, id: string): ExecutionRecord {
    return this.#options.store.get(devboxId, id) ?? notFound('execution', id)
  }
}

type LiveDevbox = ConstructorParameters<typeof LiveExecution>[0]['devbox']

const shellKeyOf = ({ devbox_id, shell_name }: ExecutionRecord) =>
  shell_name === null ? undefined : `${devbox_id} ${shell_name}`

const keyOf = (devboxId: string, id: string) => `${devboxId} ${id}`

const newUuid7 = (): string => {
  const bytes = randomBytes(16)
  bytes.writeUIntBE(Date.now(), 0, 6)
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x70
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}
