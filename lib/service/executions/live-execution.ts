import type { ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import type { RunningDevbox } from '#lib/service/engine/engine.ts'
import { signal, signalExitStatus, waitUntil } from '#lib/service/engine/processes.ts'
import { runScript, type Stream, streams } from '#lib/service/engine/run-script.ts'
import type { ExecutionRecord } from '#lib/service/store/executions.ts'
import type { CommandLog } from '#lib/service/store/logs/command-log.ts'
import { type OutputAllowance, OutputBuffer } from './output-buffer.ts'
import { shellFileName, shellScript } from './shell-script.ts'
import { Stdin } from './stdin.ts'

export const killedStatus = signalExitStatus('SIGKILL')

interface Options {
  account: string
  record: ExecutionRecord
  devbox: RunningDevbox
  folder: string
  allowance: OutputAllowance
  log: CommandLog
  attachStdin: boolean
}

export class LiveExecution {
  readonly account: string
  readonly record: ExecutionRecord
  readonly output: Record<Stream, OutputBuffer>
  readonly stdin: Stdin | undefined
  readonly #ended = Promise.withResolvers<number>()
  readonly #devbox: RunningDevbox
  readonly #log: CommandLog
  readonly #canceled = Promise.withResolvers<void>()
  #canceledStatus: number | undefined
  #devboxStopped = false
  #child: ChildProcess | undefined

  constructor({ account, record, devbox, folder, allowance, log, attachStdin }: Options) {
    this.account = account
    this.record = record
    this.#devbox = devbox
    this.#log = log
    this.output = {
      stdout: new OutputBuffer(join(folder, 'stdout'), allowance),
      stderr: new OutputBuffer(join(folder, 'stderr'), allowance),
    }
    this.stdin = attachStdin ? new Stdin() : undefined
  }

  get ended(): Promise<number> {
    return this.#ended.promise
  }

  async run(before: Promise<unknown> | undefined, started: () => void): Promise<void> {
    if (before) await Promise.race([before, this.#canceled.promise])
    let exitStatus = this.#canceledStatus
    if (exitStatus === undefined) {
      this.record.status = 'running'
      started()
      exitStatus = await this.#spawn().catch((error: Error) => {
        this.#report(`could not start the command: ${error.message}`)
        return 126
      })
    }
    if (this.#devboxStopped && exitStatus !== 0) {
      this.#report('the devbox was stopped; the command was killed')
      exitStatus = killedStatus
    }
    this.stdin?.close()
    await Promise.all(streams.map((stream) => this.output[stream].end()))
    this.#log.end(exitStatus)
    this.#ended.resolve(exitStatus)
  }

  stopWithDevbox() {
    this.#devboxStopped = true
    this.#cancel('SIGKILL')
  }

  /** Signals the launched bash or its process group; cancels a queued execution. False if it has ended. */
  async signal(name: 'SIGKILL' | 'SIGINT', wholeGroup: boolean): Promise<boolean> {
    this.#cancel(name)
    const child = this.#child
    const pid = child?.pid
    if (!child || pid === undefined) return true
    const { sandbox } = this.#devbox
    // While both are null the pid is valid: Node sets one in the same turn in which it reaps the child.
    const hasEnded = () => child.exitCode !== null || child.signalCode !== null
    let leader: number | undefined
    await waitUntil(() => {
      leader = hasEnded() ? undefined : sandbox.leader(pid)
      return hasEnded() || leader !== undefined
    })
    if (leader === undefined || hasEnded()) return false
    const reached = wholeGroup && signal(-leader, name)
    if (!reached || name === 'SIGKILL') signal(leader, name)
    signal(pid, 'SIGCONT')
    return true
  }

  #cancel(name: 'SIGKILL' | 'SIGINT') {
    if (this.#child) return
    this.#canceledStatus ??= signalExitStatus(name)
    this.#canceled.resolve()
  }

  #spawn(): Promise<number> {
    return runScript(this.#devbox, {
      script: this.#script(),
      attach: (stream, reader) => {
        reader.pipe(this.output[stream].sink, { end: false })
        reader.on('data', (chunk: Buffer) => this.#log.output(stream, chunk))
      },
      connectStdin: this.stdin && ((descriptor) => this.stdin?.connect(descriptor)),
      canceled: () => this.#canceledStatus,
      spawned: (child) => {
        this.#child = child
      },
    })
  }

  #report(message: string) {
    const line = Buffer.from(`devdeck: ${message}\n`)
    this.output.stderr.sink.write(line)
    this.#log.output('stderr', line)
  }

  #script(): string {
    const { command, shell_name } = this.record
    if (shell_name === null) return command
    return shellScript(command, `${this.#devbox.sandbox.run}/shell-${shellFileName(shell_name)}`)
  }
}
