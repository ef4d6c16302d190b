import { type ChildProcess, execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { EventEmitter, once } from 'node:events'
import { closeSync, constants, mkdirSync, openSync } from 'node:fs'
import { appendFile, mkdir, rm, writeFile } from 'node:fs/promises'
import { Socket } from 'node:net'
import { constants as os } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Execution, ExecutionStatus, OutputChunk } from '#lib/contract/executions.ts'
import { notFound, ServiceError } from '#lib/service/errors.ts'
import type { ExecutionRecord, ExecutionStore } from '#lib/service/store/executions.ts'
import { hold } from './hold.ts'
import type { DevboxLogs } from './logs.ts'
import { decodeChunks, OutputBuffer, readFinished, readTail } from './output-buffer.ts'
import { signal, waitUntil } from './processes.ts'
import { type Box, type Command, spawnIn } from './sandbox/sandbox.ts'
import { shellFileName, shellScript } from './shell.ts'

/** Unspecified: how much of each stream an answer carries, counted from its end; the streams carry all of it. */
const maxAnswerBytes = 1024 * 1024
/** Unspecified: how many commands of one devbox may wait or run at once. */
const maxUnfinished = 256
// One argument of a process takes 128 KiB; longer scripts go through a file.
const maxArgumentBytes = 100_000
// A background process may hold the pipes for ever. Output that comes this long after the command's end is not its own.
const quietMs = 150
const maxDrainMs = 2000
// What the command left in its two pipes comes first, and a pipe holds at most 1 MiB.
const maxDrainBytes = 4 * 1024 * 1024
const killAnswerMs = 2000
const killedStatus = 128 + os.signals.SIGKILL

/** What an execution needs of the devbox it runs in. */
export interface RunningDevbox {
  box: Box
  env: Record<string, string>
  /** The host's side of `box.run`. */
  runFolder: string
  /** Keeps the devbox from counting as idle until the returned function is called. */
  busy(): () => void
}

export interface Launch {
  command: string
  shellName?: string | null | undefined
  /** The caller's own id; launching it twice is one execution. */
  id?: string | null | undefined
}

export type Stream = 'stdout' | 'stderr'

interface Options {
  store: ExecutionStore
  folderOf: (devboxId: string) => string
  logs: DevboxLogs
  /** Commands that wait or run. */
  maxPerAccount: number
}

/** Runs commands in devboxes and keeps what they wrote under `folderOf(devbox)/executions/<id>/`. */
export class Executions {
  readonly #store: ExecutionStore
  readonly #folderOf: (devboxId: string) => string
  readonly #logs: DevboxLogs
  readonly #maxPerAccount: number
  readonly #live = new Map<string, Live>()
  /** When each named shell is free for its next command. */
  readonly #shells = new Map<string, Promise<unknown>>()
  readonly #changes = new EventEmitter().setMaxListeners(0)

  constructor({ store, folderOf, logs, maxPerAccount }: Options) {
    this.#store = store
    this.#folderOf = folderOf
    this.#logs = logs
    this.#maxPerAccount = maxPerAccount
  }

  /** Completes what the service's last life left unfinished; its processes must have been ended. */
  async recover(): Promise<void> {
    for (const { devbox_id, id } of this.#store.unfinished()) {
      const folder = this.#folder(devbox_id, id)
      await mkdir(folder, { recursive: true })
      await appendFile(
        join(folder, 'stderr'),
        '\ndevdeck: the service was restarted while this command ran; the command was ended\n',
      )
      this.#store.complete(devbox_id, id, killedStatus, Date.now())
    }
  }

  async launch(devboxId: string, devbox: RunningDevbox, { command, shellName, id }: Launch): Promise<string> {
    if (command.includes('\0'))
      throw new ServiceError('invalid_argument', 'command must not contain a NUL character', { field: 'command' })
    if (id && this.#store.get(devboxId, id)) return id
    const unfinished = this.#of(devboxId).length
    if (unfinished >= maxUnfinished)
      throw new ServiceError('rate_limited', `Devbox ${devboxId} has ${unfinished} unfinished commands already`, {
        retryAfterSeconds: 5,
      })
    const shell = shellName || null
    const shellKey = `${devboxId} ${shell}`
    const before = shell === null ? undefined : this.#shells.get(shellKey)
    const record: ExecutionRecord = {
      id: id || newUuid7(),
      devbox_id: devboxId,
      command,
      shell_name: shell,
      status: before ? 'queued' : 'running',
      exit_status: null,
      create_time_ms: Date.now(),
      end_time_ms: null,
    }
    const live = new Live(record, devbox, this.#folder(devboxId, record.id))
    this.#store.insert(record)
    this.#live.set(keyOf(devboxId, record.id), live)
    if (shell !== null) this.#queue(shellKey, [before, live.done])
    const release = devbox.busy()
    void live
      .run(before, () => this.#changes.emit(keyOf(devboxId, record.id)))
      .then((exitStatus) => {
        this.#store.complete(devboxId, record.id, exitStatus, Date.now())
        this.#live.delete(keyOf(devboxId, record.id))
        live.finish()
        release()
        this.#changes.emit(keyOf(devboxId, record.id))
      })
    return record.id
  }

  status(devboxId: string, id: string): ExecutionStatus {
    return this.#live.get(keyOf(devboxId, id))?.record.status ?? this.#record(devboxId, id).status
  }

  /** The execution; its output, cut to the end of it, once it has completed. Throws 404. */
  async get(devboxId: string, id: string, lastLines?: number): Promise<Execution> {
    const { shell_name } = this.#record(devboxId, id)
    const status = this.status(devboxId, id)
    const head = { devbox_id: devboxId, execution_id: id, status, shell_name }
    if (status !== 'completed')
      return { ...head, stdout: null, stderr: null, exit_status: null, stdout_truncated: null, stderr_truncated: null }
    const [stdout, stderr] = await Promise.all(
      (['stdout', 'stderr'] as const).map((stream) =>
        readTail(join(this.#folder(devboxId, id), stream), maxAnswerBytes, lastLines),
      ),
    )
    return {
      ...head,
      stdout: stdout?.text ?? '',
      stderr: stderr?.text ?? '',
      exit_status: this.#record(devboxId, id).exit_status,
      stdout_truncated: stdout?.truncated ?? false,
      stderr_truncated: stderr?.truncated ?? false,
    }
  }

  /** True once the execution is in one of `statuses`; false when the time was over or the client left. Throws 404. */
  async reaches(
    devboxId: string,
    id: string,
    statuses: readonly string[],
    holdMs: number,
    signal?: AbortSignal,
  ): Promise<boolean> {
    const check = () => statuses.includes(this.status(devboxId, id)) || undefined
    return (await hold({ changes: this.#changes, name: keyOf(devboxId, id), check, holdMs, signal })) ?? false
  }

  /** The stream's text from a byte offset on; ends when the command has ended and all was read. Throws 404. */
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

  /**
   * Sends SIGKILL to the launched bash, or to its whole process group; nothing when the execution has completed.
   * Unspecified: the signal, and the state a kill leaves. A kill that a command may ignore would be none; the answer
   * waits up to two seconds for the end it causes. Without the group, what the command had started goes on.
   */
  async kill(devboxId: string, id: string, wholeGroup: boolean): Promise<void> {
    this.#record(devboxId, id)
    await this.#live.get(keyOf(devboxId, id))?.kill(wholeGroup)
    await this.reaches(devboxId, id, ['completed'], killAnswerMs)
  }

  /** Ends every execution of a devbox: queued ones never start, `stopProcesses` ends the others. */
  async end(devboxId: string, stopProcesses: () => Promise<void>): Promise<void> {
    const all = this.#of(devboxId)
    for (const live of all) live.drop()
    await stopProcesses()
    await Promise.all(all.map(({ done }) => done))
  }

  /** One killed while it waits is done before those ahead of it are: the shell is free once all are. */
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
    return join(this.#folderOf(devboxId), 'executions', id)
  }

  #record(devboxId: string, id: string): ExecutionRecord {
    return this.#store.get(devboxId, id) ?? notFound('execution', id)
  }
}

const keyOf = (devboxId: string, id: string) => `${devboxId} ${id}`

/** An execution that has not completed. */
class Live {
  readonly record: ExecutionRecord
  readonly output: Record<Stream, OutputBuffer>
  /** Resolves when the execution has completed and is stored as such. */
  readonly done: Promise<void>
  readonly finish: () => void
  readonly #devbox: RunningDevbox
  readonly #folder: string
  readonly #dropped = Promise.withResolvers<void>()
  #isDropped = false
  #child: ChildProcess | undefined

  constructor(record: ExecutionRecord, devbox: RunningDevbox, folder: string) {
    this.record = record
    this.#devbox = devbox
    this.#folder = folder
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    this.output = { stdout: new OutputBuffer(join(folder, 'stdout')), stderr: new OutputBuffer(join(folder, 'stderr')) }
    const { promise, resolve } = Promise.withResolvers<void>()
    this.done = promise
    this.finish = resolve
  }

  /** Runs the command once `before` has ended, and answers its exit status when all its output is stored. */
  async run(before: Promise<unknown> | undefined, started: () => void): Promise<number> {
    if (before) await Promise.race([before, this.#dropped.promise])
    let exitStatus = killedStatus
    if (!this.#isDropped) {
      this.record.status = 'running'
      started()
      exitStatus = await this.#spawn().catch((error: Error) => {
        this.output.stderr.sink.write(`devdeck: the command could not be started: ${error.message}\n`)
        return 126
      })
    }
    await Promise.all([this.output.stdout.end(), this.output.stderr.end()])
    return exitStatus
  }

  /** Ends an execution that was not started yet; one that was is left to its process. */
  drop() {
    this.#isDropped = true
    this.#dropped.resolve()
  }

  async kill(wholeGroup: boolean): Promise<void> {
    this.drop()
    const child = this.#child
    const pid = child?.pid
    if (!child || pid === undefined) return
    const { box } = this.#devbox
    // The handle says that the pid is still this child's: Node reaps it in the same turn in which it sets these two.
    const ended = () => child.exitCode !== null || child.signalCode !== null
    let leader: number | undefined
    await waitUntil(() => {
      leader = ended() ? undefined : box.leader(pid)
      return ended() || leader !== undefined
    })
    if (leader === undefined || ended()) return
    if (wholeGroup) signal(-leader, 'SIGKILL')
    signal(leader, 'SIGKILL')
    // A stopped command has stopped the one that waits for it as well.
    signal(pid, 'SIGCONT')
  }

  async #spawn(): Promise<number> {
    const command = await this.#command()
    const pipes = await makePipes(this.#folder)
    const readers = (['stdout', 'stderr'] as const).map((stream) => {
      const reader = new Socket({ fd: pipes[stream].read, readable: true, writable: false })
      reader.pipe(this.output[stream].sink, { end: false })
      // A broken pipe has ended like any other.
      reader.on('error', () => undefined)
      return reader
    })
    const drained = readers.map((reader) => new Promise<void>((resolve) => reader.once('close', resolve)))
    try {
      if (this.#isDropped) {
        closeSync(pipes.stdout.write)
        closeSync(pipes.stderr.write)
        return killedStatus
      }
      const child = this.#startChild(command, [pipes.stdout.write, pipes.stderr.write])
      const [code, signalName] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null]
      await orQuiet(Promise.all(drained), readers)
      return code ?? 128 + os.signals[signalName ?? 'SIGKILL']
    } finally {
      for (const reader of readers) reader.destroy()
    }
  }

  #startChild(command: Command, [stdout, stderr]: [number, number]): ChildProcess {
    try {
      const child = spawnIn(this.#devbox.box.launch(command), { detached: true, stdio: ['ignore', stdout, stderr] })
      this.#child = child
      return child
    } finally {
      // Ours closed, the pipes end with the last process that holds them.
      closeSync(stdout)
      closeSync(stderr)
    }
  }

  async #command(): Promise<Command> {
    const { box, env, runFolder } = this.#devbox
    const { id, command, shell_name } = this.record
    const script = shell_name === null ? command : shellScript(command, `${box.run}/shell-${shellFileName(shell_name)}`)
    if (Buffer.byteLength(script) <= maxArgumentBytes) return { argv: ['/bin/bash', '-c', script], env }
    await writeFile(join(runFolder, `script-${id}`), script, { mode: 0o600 })
    return { argv: ['/bin/bash', '-c', `. '${box.run}/script-${id}'`], env }
  }
}

/**
 * Resolves when `drained` does, or when nothing has come for a while, or at last when too much has. A reader that waits
 * for the disk is not quiet: what it has yet to read may be the command's own.
 */
const orQuiet = async (drained: Promise<unknown>, readers: readonly Socket[]): Promise<void> => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const endAfter = (ms: number) => {
    const timer: NodeJS.Timeout = setTimeout(() => {
      if (readers.some((reader) => reader.isPaused())) timer.refresh()
      else resolve()
    }, ms)
    return timer
  }
  const quiet = endAfter(quietMs)
  const last = endAfter(maxDrainMs)
  let drainedBytes = 0
  const onData = (chunk: Buffer) => {
    quiet.refresh()
    drainedBytes += chunk.length
    if (drainedBytes > maxDrainBytes) resolve()
  }
  for (const reader of readers) reader.on('data', onData)
  await Promise.race([drained, promise])
  clearTimeout(quiet)
  clearTimeout(last)
}

/**
 * Two real pipes. Node connects a child by sockets, and what opens /dev/stdout or /dev/stderr by name fails on those.
 */
const makePipes = async (folder: string) => {
  const names = [join(folder, 'stdout.pipe'), join(folder, 'stderr.pipe')] as const
  await promisify(execFile)('mkfifo', ['-m', '600', ...names])
  const open = (name: string) => {
    const read = openSync(name, constants.O_RDONLY | constants.O_NONBLOCK)
    return { read, write: openSync(name, constants.O_WRONLY) }
  }
  const pipes = { stdout: open(names[0]), stderr: open(names[1]) }
  await Promise.all(names.map((name) => rm(name)))
  return pipes
}

/** A UUID whose first 48 bits are the time. */
const newUuid7 = (): string => {
  const bytes = randomBytes(16)
  bytes.writeUIntBE(Date.now(), 0, 6)
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x70
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}
