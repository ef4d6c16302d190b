import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { Socket } from 'node:net'
import { constants as os } from 'node:os'
import { join } from 'node:path'
import type { Pipes } from '#lib/service/sandbox/pipes.ts'
import { signal, waitUntil } from '#lib/service/sandbox/processes.ts'
import { putRunFile } from '#lib/service/sandbox/run-file.ts'
import { type Command, type RunningDevbox, spawnIn } from '#lib/service/sandbox/sandbox.ts'
import type { ExecutionRecord } from '#lib/service/store/executions.ts'
import type { CommandLog } from '#lib/service/store/logs.ts'
import { OutputBuffer } from './output-buffer.ts'
import { shellFileName, shellScript } from './shell-script.ts'
import { Stdin } from './stdin.ts'

export const killedStatus = 128 + os.signals.SIGKILL

// One argument of a process takes 128 KiB; longer scripts go through a file.
const maxArgumentBytes = 100_000
// A background process may hold the pipes for ever. Output that comes this long after the command's end is not its own.
const quietMs = 150
const maxDrainMs = 2000
// What the command left in its two pipes comes first, and a pipe holds at most 1 MiB.
const maxDrainBytes = 4 * 1024 * 1024

export type Stream = 'stdout' | 'stderr'
const streams = ['stdout', 'stderr'] as const

interface Options {
  account: string
  record: ExecutionRecord
  devbox: RunningDevbox
  /** Where its output goes. */
  folder: string
  pipes: Pipes
  log: CommandLog
  attachStdin: boolean
}

/** An execution that has not completed. */
export class LiveExecution {
  readonly account: string
  readonly record: ExecutionRecord
  readonly output: Record<Stream, OutputBuffer>
  readonly stdin: Stdin | undefined
  /** Resolves with the exit status when the command has ended and all its output is stored. */
  readonly ended: Promise<number>
  readonly #end: (exitStatus: number) => void
  readonly #devbox: RunningDevbox
  readonly #pipes: Pipes
  readonly #log: CommandLog
  readonly #dropped = Promise.withResolvers<void>()
  /** The exit status of a command that is not to start any more. */
  #droppedStatus: number | undefined
  #devboxStopped = false
  #child: ChildProcess | undefined
  /** The command, when it is too long for an argument. */
  #scriptFile: string | undefined

  constructor({ account, record, devbox, folder, pipes, log, attachStdin }: Options) {
    this.account = account
    this.record = record
    this.#devbox = devbox
    this.#pipes = pipes
    this.#log = log
    this.output = { stdout: new OutputBuffer(join(folder, 'stdout')), stderr: new OutputBuffer(join(folder, 'stderr')) }
    this.stdin = attachStdin ? new Stdin() : undefined
    const { promise, resolve } = Promise.withResolvers<number>()
    this.ended = promise
    this.#end = resolve
  }

  /** Runs the command once `before` has ended. */
  async run(before: Promise<unknown> | undefined, started: () => void): Promise<void> {
    if (before) await Promise.race([before, this.#dropped.promise])
    let exitStatus = this.#droppedStatus
    if (exitStatus === undefined) {
      this.record.status = 'running'
      started()
      exitStatus = await this.#spawn().catch((error: Error) => {
        this.#say(`the command could not be started: ${error.message}`)
        return 126
      })
    }
    if (this.#devboxStopped && exitStatus !== 0) {
      this.#say('the devbox was stopped; the command was ended')
      exitStatus = killedStatus
    }
    this.stdin?.close()
    await Promise.all(streams.map((stream) => this.output[stream].end()))
    this.#log.end(exitStatus)
    this.#end(exitStatus)
  }

  /** Ends an execution that was not started yet; the processes of the others end with the devbox. */
  stopWithDevbox() {
    this.#devboxStopped = true
    this.#drop('SIGKILL')
  }

  /**
   * Signals the launched bash, or its whole process group; an execution that was not started never will be. False when
   * it has ended already.
   */
  async signal(name: 'SIGKILL' | 'SIGINT', wholeGroup: boolean): Promise<boolean> {
    this.#drop(name)
    const child = this.#child
    const pid = child?.pid
    if (!child || pid === undefined) return true
    const { box } = this.#devbox
    // The handle says that the pid is still this child's: Node reaps it in the same turn in which it sets these two.
    const hasEnded = () => child.exitCode !== null || child.signalCode !== null
    let leader: number | undefined
    await waitUntil(() => {
      leader = hasEnded() ? undefined : box.leader(pid)
      return hasEnded() || leader !== undefined
    })
    if (leader === undefined || hasEnded()) return false
    const reached = wholeGroup && signal(-leader, name)
    if (!reached || name === 'SIGKILL') signal(leader, name)
    // A stopped command has stopped the one that waits for it as well.
    signal(pid, 'SIGCONT')
    return true
  }

  #drop(name: 'SIGKILL' | 'SIGINT') {
    if (this.#child) return
    this.#droppedStatus ??= 128 + os.signals[name]
    this.#dropped.resolve()
  }

  async #spawn(): Promise<number> {
    const command = await this.#command()
    /** Ends of pipes that are the command's, open here until it has them. */
    const theirs: number[] = []
    const readers: Socket[] = []
    try {
      let stdin: number | 'ignore' = 'ignore'
      if (this.stdin) {
        const { read, write } = await this.#pipes.forInput()
        theirs.push(read)
        stdin = read
        this.stdin.connect(write)
      }
      for (const stream of streams) {
        const { read, write } = await this.#pipes.forOutput()
        theirs.push(write)
        readers.push(this.#read(stream, read))
      }
      const drained = Promise.all(readers.map((reader) => new Promise((resolve) => reader.once('close', resolve))))
      if (this.#droppedStatus !== undefined) return this.#droppedStatus
      const [stdout, stderr] = theirs.slice(-streams.length) as [number, number]
      const child = spawnIn(this.#devbox.box.launch(command), { detached: true, stdio: [stdin, stdout, stderr] })
      this.#child = child
      // Ours closed, the pipes end with the last process that holds them.
      for (const end of theirs.splice(0)) closeSync(end)
      const [code, signalName] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null]
      await orQuiet(drained, readers)
      return code ?? 128 + os.signals[signalName ?? 'SIGKILL']
    } finally {
      for (const end of theirs) closeSync(end)
      for (const reader of readers) reader.destroy()
      if (this.#scriptFile) await rm(this.#scriptFile, { force: true })
    }
  }

  #read(stream: Stream, descriptor: number): Socket {
    const reader = new Socket({ fd: descriptor, readable: true, writable: false })
    reader.pipe(this.output[stream].sink, { end: false })
    reader.on('data', (chunk: Buffer) => this.#log.output(stream, chunk))
    // A broken pipe has ended like any other.
    reader.on('error', () => undefined)
    return reader
  }

  /** A word of our own among what the command said. */
  #say(message: string) {
    const line = Buffer.from(`devdeck: ${message}\n`)
    this.output.stderr.sink.write(line)
    this.#log.output('stderr', line)
  }

  async #command(): Promise<Command> {
    const { box, env, runFolder } = this.#devbox
    const { command, shell_name } = this.record
    const script = shell_name === null ? command : shellScript(command, `${box.run}/shell-${shellFileName(shell_name)}`)
    if (Buffer.byteLength(script) <= maxArgumentBytes) return { argv: ['/bin/bash', '-c', script], env }
    const name = await putRunFile(runFolder, 'script', script)
    this.#scriptFile = join(runFolder, name)
    return { argv: ['/bin/bash', '-c', `. '${box.run}/${name}'`], env }
  }
}

/**
 * Resolves when `drained` does, or when nothing has come for a while, or at last when too much has. A reader that waits
 * for the disk is not quiet: what it has yet to read may be the command's own.
 */
const orQuiet = async (drained: Promise<unknown>, readers: readonly Socket[]): Promise<void> => {
  const { promise, resolve } = Promise.withResolvers<void>()
  let isOver = false
  let drainedBytes = 0
  const endAfter = (ms: number, unlessMore: boolean) => {
    const timer: NodeJS.Timeout = setTimeout(() => {
      // A process that had to wait for its turn finds its timers due before it has looked at the pipes: first it looks.
      const bytesBefore = drainedBytes
      setImmediate(() => {
        if (isOver) return
        if (readers.some((reader) => reader.isPaused()) || (unlessMore && drainedBytes > bytesBefore)) timer.refresh()
        else resolve()
      })
    }, ms)
    return timer
  }
  const quiet = endAfter(quietMs, true)
  const last = endAfter(maxDrainMs, false)
  const onData = (chunk: Buffer) => {
    quiet.refresh()
    drainedBytes += chunk.length
    if (drainedBytes > maxDrainBytes) resolve()
  }
  for (const reader of readers) reader.on('data', onData)
  await Promise.race([drained, promise])
  isOver = true
  clearTimeout(quiet)
  clearTimeout(last)
}
