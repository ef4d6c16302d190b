import type { Devboxes } from '#lib/service/devboxes/devboxes.ts'
import { writeFile } from '#lib/service/devboxes/files.ts'
import type { Executions } from '#lib/service/executions/executions.ts'
import type { RunningDevbox } from '#lib/service/sandbox/sandbox.ts'
import { readSmall, sendFile, sendFolder } from './transfer.ts'

interface Options {
  account: string
  devboxId: string
  devboxes: Devboxes
  executions: Executions
  signal: AbortSignal
}

interface Running {
  env: Record<string, string>
  cwd: string
  signal: AbortSignal
  limit?: { seconds: number; error: Error }
}

interface Finished {
  status: number
  /** The end of what it wrote, stdout first. */
  output: string
}

const maxRewardBytes = 1024 * 1024
// The longest a timer can take.
const maxTimerMs = 2 ** 31 - 1
/** Of what a command wrote, for the message of a failure. */
const shownLines = 20
const maxShownLength = 2000

// Root of a container needs no permission to empty a folder of its own; the user of a devbox first gives itself that.
const removeFolder = '{ [ -L "$FOLDER" ] || chmod -R u+rwX -- "$FOLDER" 2>/dev/null; rm -rf -- "$FOLDER"; }'

/** The devbox of a trial, and what a trial does in it. */
export class Workshop {
  readonly #options: Options
  /** The execution that runs now. */
  #running: string | undefined

  constructor(options: Options) {
    this.#options = options
  }

  /**
   * Runs a bash script to its end. Throws when the devbox does not run, and once its process group has been killed: the
   * reason of `signal`, or the error of the limit.
   */
  async run(script: string, { env, cwd, signal, limit }: Running): Promise<Finished> {
    const { account, devboxId, executions } = this.#options
    signal.throwIfAborted()
    // Not part of the command, which is kept and shown: there may be secrets among them.
    const devbox = () => ({ ...this.#devbox(), env: { ...env, DEVDECK_WORKDIR: cwd } })
    const command = `cd -- "$DEVDECK_WORKDIR" && unset DEVDECK_WORKDIR || exit\n${script}`
    const id = executions.launch(devboxId, devbox, { account, command })
    this.#running = id
    const holdMs = Math.min((limit?.seconds ?? Number.POSITIVE_INFINITY) * 1000, maxTimerMs)
    const done = await executions.reaches(devboxId, id, ['completed'], holdMs, signal)
    if (!done) await executions.kill(devboxId, id, true)
    this.#running = undefined
    signal.throwIfAborted()
    if (!done && limit) throw limit.error
    const { exit_status, stdout, stderr } = await executions.get(devboxId, id, shownLines)
    // A command whose devbox was ended under it has ended as well, but not by itself.
    if (exit_status !== 0) this.#devbox()
    return { status: exit_status ?? 0, output: `${stdout}${stderr}`.trim().slice(-maxShownLength) }
  }

  /** Runs a script that is the service's own and cannot fail but for what the devbox has become. */
  async must(script: string, env: Record<string, string> = {}, signal = this.#options.signal): Promise<void> {
    const { status, output } = await this.run(script, { env, cwd: '/', signal })
    if (status !== 0) throw new Error(`${output || script} (exit code ${status})`)
  }

  /** Does `work` with a signal that aborts when the time is over, which is then what it fails of. */
  async within<T>(seconds: number, error: Error, work: (limit: AbortSignal) => Promise<T>): Promise<T> {
    const over = new AbortController()
    const timer = setTimeout(() => over.abort(error), Math.min(seconds * 1000, maxTimerMs))
    try {
      return await work(AbortSignal.any([over.signal, this.#options.signal]))
    } finally {
      clearTimeout(timer)
    }
  }

  async send(from: string, to: string, mode: string | null = null, signal = this.#options.signal): Promise<void> {
    await sendFolder({ devbox: this.#devbox(), signal }, from, to, mode)
  }

  async sendFile(from: string, how: Parameters<typeof sendFile>[2], signal = this.#options.signal): Promise<void> {
    await sendFile({ devbox: this.#devbox(), signal }, from, how)
  }

  /** Empties a folder and fills it from others, each over the one before. */
  async replace(to: string, ...from: string[]): Promise<void> {
    await this.must(`${removeFolder} && mkdir -p -- "$FOLDER"`, { FOLDER: to })
    for (const folder of from) await this.send(folder, to)
  }

  async write(path: string, content: string): Promise<void> {
    await writeFile(this.#devbox(), path, bytesOf(content))
  }

  /** The text of a small file, undefined when there is none. */
  read(path: string, maxBytes = maxRewardBytes): Promise<string | undefined> {
    return readSmall({ devbox: this.#devbox(), signal: this.#options.signal }, path, maxBytes)
  }

  /** The end of a text file; nothing when it cannot be read. */
  async tail(path: string): Promise<string> {
    const { signal } = this.#options
    const command = `tail -c ${maxShownLength} -- "$FILE" | tail -n ${shownLines}`
    return (await this.run(command, { env: { FILE: path }, cwd: '/', signal })).output
  }

  /** A folder of the service's in the devbox, outside what its disk keeps. */
  get runFolder(): string {
    return this.#devbox().box.run
  }

  /** Kills what runs. */
  async stop(): Promise<void> {
    const { devboxId, executions } = this.#options
    if (this.#running !== undefined) await executions.kill(devboxId, this.#running, true)
  }

  #devbox(): RunningDevbox {
    const { devboxes, account, devboxId } = this.#options
    return devboxes.running(account, devboxId, 'execute')
  }
}

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text)
}
