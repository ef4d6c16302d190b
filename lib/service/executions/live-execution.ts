import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { PassThrough, type Readable, type Writable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import type { BoxProcess, Held, RunningDevbox } from '#lib/service/engine/box.ts'
import { followProcess, runScript, type Stream, streams } from '#lib/service/engine/run-script.ts'
import { signalExitStatus } from '#lib/service/kit/exit-status.ts'
import { quote } from '#lib/service/kit/quoting.ts'
import type { ExecutionRecord } from '#lib/service/store/executions.ts'
import type { CommandLog } from '#lib/service/store/logs/logs.ts'
import { type OutputAllowance, OutputBuffer, readTail } from './output-buffer.ts'

export const killedStatus = signalExitStatus('SIGKILL')
export const lostMessage = 'the service restarted while this command was running; the command was killed'
const maxLoggedLineBytes = 8 * 1024
/** The name by which the next service finds the command. */
export const holdOf = (executionId: string): string => `execution ${executionId}`

interface Options {
  account: string
  record: ExecutionRecord
  /** A promise while the devbox is taken over from an earlier service; undefined if it can't be. */
  devbox: RunningDevbox | Promise<RunningDevbox | undefined>
  /** Whether an earlier service has started it. */
  isContinued?: boolean
  folder: string
  allowance: OutputAllowance
  log: CommandLog
  cwd?: string
  user?: string
}

export class LiveExecution {
  readonly account: string
  readonly record: ExecutionRecord
  readonly output: Record<Stream, OutputBuffer>
  readonly stdin: Stdin | undefined
  readonly #options: Options
  readonly #ended = Promise.withResolvers<number>()
  readonly #canceled = Promise.withResolvers<void>()
  #canceledStatus: number | undefined
  #devboxStopped = false
  #isDetached = false
  #process: BoxProcess | undefined
  readonly #readers: Readable[] = []

  constructor(options: Options) {
    const { account, record, folder, allowance, isContinued } = options
    this.account = account
    this.record = record
    this.#options = options
    this.output = {
      stdout: new OutputBuffer(join(folder, 'stdout'), allowance),
      stderr: new OutputBuffer(join(folder, 'stderr'), allowance),
    }
    if (isContinued) for (const stream of streams) this.output[stream].resume()
    this.stdin = record.attach_stdin === 1 ? new Stdin() : undefined
  }

  /** Whether the next service continues it, or starts it if it is queued. */
  get outlivesService(): boolean {
    if (this.#process) return this.#process.held !== undefined
    const { devbox } = this.#options
    return !('box' in devbox) || devbox.box.survivors !== undefined
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
      exitStatus = await this.#follow().catch((error: Error) => {
        this.#report(`could not start the command: ${error.message}`)
        return 126
      })
    }
    if (this.#isDetached) return
    const killed = exitStatus === 0 ? undefined : await this.#whyKilled()
    if (killed !== undefined) {
      this.#report(`${killed}; the command was killed`)
      exitStatus = killedStatus
    }
    this.stdin?.close()
    await Promise.all(streams.map((stream) => this.output[stream].end()))
    this.#options.log.end(exitStatus)
    this.#ended.resolve(exitStatus)
  }

  async #whyKilled(): Promise<string | undefined> {
    // A lost devbox ends its commands before its session does.
    const devbox = await this.#options.devbox
    const end = await Promise.race([devbox?.box.ended, setImmediate(undefined)])
    return end?.cause ?? (this.#devboxStopped ? 'the devbox was stopped' : undefined)
  }

  stopWithDevbox() {
    this.#devboxStopped = true
    this.#cancel('SIGKILL')
  }

  /** Signals the launched bash or its process group; cancels a queued execution. False if it has ended. */
  async signal(name: 'SIGKILL' | 'SIGINT', wholeGroup: boolean): Promise<boolean> {
    this.#cancel(name)
    return this.#process?.kill(name, wholeGroup ? 'group' : 'process') ?? true
  }

  #cancel(name: 'SIGKILL' | 'SIGINT') {
    if (this.#process) return
    this.#canceledStatus ??= signalExitStatus(name)
    this.#canceled.resolve()
  }

  async #follow(): Promise<number> {
    const { cwd, user, record, isContinued } = this.#options
    const devbox = await this.#options.devbox
    const following = {
      attach: (stream: Stream, reader: Readable, held: Held | undefined) => this.#attach(stream, reader, held),
      canceled: () => this.#canceledStatus,
      started: (process: BoxProcess) => {
        this.#process = process
        if (process.stdin) this.stdin?.connect(process.stdin)
      },
    }
    if (devbox && !isContinued)
      return runScript(devbox, {
        ...following,
        ...(cwd !== undefined && { cwd }),
        ...(user !== undefined && { user }),
        script: this.#script(devbox),
        stdin: this.stdin !== undefined,
        hold: holdOf(record.id),
      })
    const { stdout, stderr } = this.output
    const from = { stdout: stdout.size, stderr: stderr.size }
    const process = await devbox?.box.survivors?.process(holdOf(record.id), from)
    if (process) {
      for (const stream of streams) await this.#logLineSoFar(stream)
      return followProcess(process, following)
    }
    if (!this.#devboxStopped) this.#report(lostMessage)
    return killedStatus
  }

  #attach(stream: Stream, reader: Readable, held: Held | undefined) {
    const output = this.output[stream]
    if (this.#isDetached) return
    let offset = held?.from[stream] ?? 0
    // Output was dropped before the service ended.
    if (offset > output.size) output.isCut = true
    output.onTaken = (bytes) => {
      offset += bytes
      held?.stored(stream, offset)
    }
    this.#readers.push(reader)
    reader.pipe(output.sink, { end: false })
    reader.on('data', (chunk: Buffer) => this.#options.log.output(stream, chunk))
  }

  async #logLineSoFar(stream: Stream) {
    const { text } = await readTail(join(this.#options.folder, stream), maxLoggedLineBytes)
    this.#options.log.output(stream, Buffer.from(text.slice(text.lastIndexOf('\n') + 1)))
  }

  /** Leaves it running for the next service. Resolves once its output so far is stored. */
  async detach(): Promise<void> {
    this.#isDetached = true
    for (const reader of this.#readers) reader.destroy()
    await Promise.all(streams.map((stream) => this.output[stream].end()))
  }

  /** Call once its end is stored. */
  release(): void {
    this.#process?.held?.release()
  }

  #report(message: string) {
    const line = Buffer.from(`devdeck: ${message}\n`)
    this.output.stderr.sink.write(line)
    this.#options.log.output('stderr', line)
  }

  #script({ box }: RunningDevbox): string {
    const { command, shell_name } = this.record
    if (shell_name === null) return command
    return shellScript(command, `${box.run}/shell-${shellFileName(shell_name)}`)
  }
}

const maxBacklogBytes = 1024 * 1024
/** Unspecified: how long a sender waits for the command to read before its text is rejected. */
const maxWaitMs = 10_000

class Stdin {
  readonly #backlog = new PassThrough({ highWaterMark: maxBacklogBytes })
  #input: Writable | undefined
  #queue: Promise<unknown> = Promise.resolve()

  constructor() {
    this.#backlog.on('error', () => undefined)
  }

  connect(input: Writable): void {
    input.on('error', () => undefined)
    input.once('close', () => this.close())
    this.#input = input
    this.#backlog.pipe(input)
  }

  /** Returns false if the text was rejected: the input has ended or the command doesn't read. */
  write(text: string): Promise<boolean> {
    const giveUpAt = Date.now() + maxWaitMs
    return this.#enqueue(async () => {
      if (this.#backlog.writableNeedDrain) await this.#drained(giveUpAt - Date.now())
      if (!this.#backlog.writable || this.#backlog.writableNeedDrain) return false
      this.#backlog.write(text)
      return true
    })
  }

  end(): Promise<boolean> {
    return this.#enqueue(async () => {
      if (!this.#backlog.writable) return false
      this.#backlog.end()
      return true
    })
  }

  close(): void {
    this.#backlog.destroy()
    this.#input?.destroy()
  }

  #enqueue(work: () => Promise<boolean>): Promise<boolean> {
    const done = this.#queue.then(work)
    this.#queue = done
    return done
  }

  #drained(waitMs: number): Promise<void> {
    return new Promise((resolve) => {
      const finish = () => {
        clearTimeout(timer)
        this.#backlog.off('drain', finish).off('close', finish)
        resolve()
      }
      const timer = setTimeout(finish, waitMs)
      this.#backlog.once('drain', finish).once('close', finish)
    })
  }
}

// Restores the state saved by the last command of the shell and saves it on exit. One group holds everything, because
// after an incomplete command such as `echo $(` bash misreads the next line.
const shellScript = (command: string, stateFile: string): string => {
  const file = quote(stateFile)
  return `trap ${quote(saveState(file))} EXIT
${recordGiven}
shopt -s expand_aliases
[ -f ${file} ] && . ${file} 2>/dev/null
{ eval ${quote(command)}
{ __devdeck_status=$?; [[ $(trap -p EXIT) == *__devdeck_options=* ]] || ${saveState(file)}
(exit "$__devdeck_status"); } 2>/dev/null; }`
}

const shellFileName = (name: string): string => createHash('sha256').update(name).digest('hex').slice(0, 32)

// Don't save variables that every command gets: secrets must not be written to a file.
const recordGiven = `declare -A __devdeck_given
while read -r __devdeck_name; do __devdeck_given[$__devdeck_name]=\${!__devdeck_name@A}; done < <(compgen -e)`

// `shopt` options come first, since functions may depend on them; `set` options last, since errexit would affect the
// lines before. The absolute path protects against PATH and aliases; the group hides xtrace output.
const saveState = (file: string) => `{
__devdeck_options=$(set +o)
[[ $- != *e* ]] || __devdeck_options+=$'\\nset -e'
set +eux
{
shopt -p
printf 'cd -- %q\\n' "$PWD"
mapfile -t __devdeck_names < <(compgen -v)
for __devdeck_name in "\${__devdeck_names[@]}"; do
case $__devdeck_name in BASH*|SHELLOPTS|EUID|PPID|UID|FUNCNAME|GROUPS|DIRSTACK|PIPESTATUS|_|LINENO|RANDOM|SRANDOM|SECONDS|EPOCH*|COMP_*|HISTCMD|__devdeck*) ;;
*) [[ \${!__devdeck_name@A} == "\${__devdeck_given[$__devdeck_name]-}" ]] || declare -p "$__devdeck_name" ;; esac
done
for __devdeck_name in "\${!__devdeck_given[@]}"; do [[ -v $__devdeck_name ]] || printf 'unset -v %s\\n' "$__devdeck_name"; done
declare -f
declare -xF
alias -p
umask -p
printf '%s\\n' "$__devdeck_options"
} > ${file}.new && /bin/mv -f ${file}.new ${file}
} 2>/dev/null`
