import type { Devbox } from '#lib/contract/devboxes.ts'
import type { Devboxes } from '#lib/service/devboxes/devboxes.ts'
import type { RunningDevbox } from '#lib/service/engine/box.ts'
import type { Executions } from '#lib/service/executions/executions.ts'
import { writeFile as writeInDevbox } from '#lib/service/files/files.ts'
import { quote } from '#lib/service/kit/quoting.ts'
import { maxTimerMs } from '#lib/service/kit/timer.ts'
import { TrialError } from './outcome.ts'
import {
  copyAcross,
  filesIn,
  packFolder,
  readEndOf,
  readSmall,
  removalOf,
  type SavedFile,
  sendFile,
  sendFolder,
  unpackFolder,
  writeAsRoot,
} from './transfer.ts'

interface Options {
  account: string
  devboxId: string
  devboxes: Devboxes
  executions: Executions
  signal: AbortSignal
  ownSeconds?: number
  /** Whether it runs the image of a task, as root by default. */
  isTask?: boolean
}

interface Command {
  /** Not recorded with the command, so it may contain secrets. */
  env?: Record<string, string>
  cwd?: string | null
  user?: string | null
  /** A script of the service, for any POSIX shell. */
  isOwn?: boolean
  signal?: AbortSignal
  /** On timeout, the process group is killed and `error` is thrown. */
  limit?: { seconds: number; error: (killed: Finished) => Error }
}

export interface Finished {
  exitStatus: number
  stdout: string
  stderr: string
}

/** Linux limits one environment string to 128 KiB. */
export const maxVariableBytes = 100_000
export const isVariableName = (name: string): boolean => /^[A-Za-z_][A-Za-z0-9_]{0,255}$/.test(name)

const settledStatuses = ['running', 'suspending', 'suspended', 'failure', 'shutdown']
const maxRewardBytes = 1024 * 1024
const defaultOwnSeconds = 600
const tailLines = 20
const maxTailLength = 2000

export class Workbench {
  readonly #options: Options
  /** As for `docker exec --user`. Null is root in a task's image; other users need a devbox with its own system. */
  user: string | null = null
  #running: string | undefined

  constructor(options: Options) {
    this.#options = options
  }

  get runFolder(): string {
    return this.#devbox().box.run
  }

  /** Whether the devbox is a container of an image. */
  get isImage(): boolean {
    return this.#devbox().box.archive !== undefined
  }

  get isInCluster(): boolean {
    return this.#devbox().box.node !== undefined
  }

  get tmp(): string {
    return this.#devbox().box.tmp
  }

  async settled(signal = this.#options.signal): Promise<Devbox | undefined> {
    const { account, devboxId, devboxes } = this.#options
    const devbox = await devboxes.reaches(account, devboxId, settledStatuses, maxTimerMs, signal)
    signal.throwIfAborted()
    return devbox
  }

  async started(signal: AbortSignal): Promise<void> {
    const devbox = await this.settled(signal)
    if (devbox?.status === 'running') return
    const { devboxId, devboxes } = this.#options
    const reason = devbox?.failure_reason ?? devbox?.shutdown_reason ?? devbox?.status
    throw new TrialError(
      'SandboxBuildFailedError',
      `Devbox ${devboxId} did not start: ${devboxes.problemOf(devboxId) ?? reason}`,
    )
  }

  /** Runs a bash script. Rejects if the devbox does not run; on abort, after the process group has been killed. */
  async run(script: string, { signal, limit, ...how }: Command = {}): Promise<Finished> {
    const { devboxId, executions } = this.#options
    const aborted = signal ?? this.#options.signal
    aborted.throwIfAborted()
    const id = this.#launch(script, how)
    this.#running = id
    const holdMs = Math.min((limit?.seconds ?? Number.POSITIVE_INFINITY) * 1000, maxTimerMs)
    const isDone = await executions.reaches(devboxId, id, ['completed'], holdMs, aborted)
    if (!isDone) await executions.kill(devboxId, id, true)
    this.#running = undefined
    aborted.throwIfAborted()
    const finished = await this.#finished(id)
    if (!isDone && limit) throw limit.error(finished)
    // Throws if the command ended because its devbox did.
    if (finished.exitStatus !== 0) this.#devbox()
    return finished
  }

  #launch(script: string, { env, cwd, user = this.user, isOwn = false }: Omit<Command, 'signal' | 'limit'>): string {
    const { account, devboxId, executions, isTask } = this.#options
    const running = this.#devbox()
    const { box, env: variables } = running
    const devbox = () => ({ ...running, env: { ...variables, ...env } })
    const home = env?.HOME ?? variables.HOME ?? box.home
    const folder = cwd?.replace(/^~(?=\/|$)/, home)
    // As Harbor does, also in an image whose /bin/sh runs the service's own scripts.
    const command = isOwn || box.shell.endsWith('/bash') ? script : `exec bash -c ${quote(script)}`
    const root = isTask && box.archive ? 'root' : undefined
    return executions.launch(devboxId, devbox, {
      account,
      command,
      ...(folder && { cwd: folder }),
      ...((user ?? root) && { user: user ?? root }),
    })
  }

  async #finished(id: string): Promise<Finished> {
    const { devboxId, executions } = this.#options
    const { exit_status, stdout, stderr } = await executions.get(devboxId, id)
    return { exitStatus: exit_status ?? 1, stdout: stdout ?? '', stderr: stderr ?? '' }
  }

  /** Root of a devbox may replace any program the service runs there with one that never ends. */
  get #own(): AbortSignal {
    const { signal, ownSeconds = defaultOwnSeconds } = this.#options
    return AbortSignal.any([signal, AbortSignal.timeout(ownSeconds * 1000)])
  }

  async must(script: string, env: Record<string, string> = {}, signal = this.#own): Promise<void> {
    const finished = await this.run(script, { env, cwd: '/', user: null, isOwn: true, signal })
    if (finished.exitStatus !== 0)
      throw new Error(`${outputTail(finished) || script} (exit code ${finished.exitStatus})`)
  }

  within<T>(seconds: number, error: Error, work: (limit: AbortSignal) => Promise<T>): Promise<T> {
    return within(seconds, error, this.#options.signal, work)
  }

  /** Time that the devbox waits for a node with room doesn't count. */
  startWithin<T>(seconds: number, error: Error, work: (limit: AbortSignal) => Promise<T>): Promise<T> {
    const { devboxes, devboxId, signal } = this.#options
    return within(seconds, error, signal, work, () => devboxes.waitsForNode(devboxId))
  }

  /** Changes a container's network; other devboxes have one network for all phases. */
  async setNetwork(network: 'host' | 'none'): Promise<void> {
    await this.#devbox().box.setOnline?.(network === 'host')
  }

  async exists(path: string): Promise<boolean> {
    const how = { env: { FILE: path }, cwd: '/', user: null, isOwn: true, signal: this.#own }
    return (await this.run('[ -e "$FILE" ] || [ -L "$FILE" ]', how)).exitStatus === 0
  }

  /** The regular files below a folder, of a devbox with an archive. */
  files(folder: string): AsyncIterable<SavedFile> {
    return filesIn({ devbox: this.#devbox(), signal: this.#own }, folder)
  }

  async send(
    from: string,
    to: string,
    { signal = this.#own, ...how }: Parameters<typeof sendFolder>[3] & { signal?: AbortSignal } = {},
  ): Promise<void> {
    await sendFolder({ devbox: this.#devbox(), signal }, from, to, how)
  }

  async sendFile(from: string, how: Parameters<typeof sendFile>[2], signal = this.#own): Promise<void> {
    await sendFile({ devbox: this.#devbox(), signal }, from, how)
  }

  async copyTo(to: Workbench, path: string, exclude: readonly string[], signal: AbortSignal): Promise<void> {
    await copyAcross(this.#devbox(), { devbox: to.#devbox(), signal }, path, exclude)
  }

  async replace(to: string, ...from: string[]): Promise<void> {
    if (from.length === 0) await this.must(`${removalOf('"$FOLDER"')} && mkdir -p -- "$FOLDER"`, { FOLDER: to })
    for (const [index, folder] of from.entries()) await this.send(folder, to, { replaces: index === 0 })
  }

  /** Writes with the permissions of a devbox process, or as root. */
  async write(path: string, content: string): Promise<void> {
    const devbox = this.#devbox()
    if (devbox.box.archive) await writeAsRoot({ devbox, signal: this.#own }, path, content)
    else await writeInDevbox(devbox, path, bytesOf(content), this.#own)
  }

  async lend<T>(prefix: string, content: string, use: (path: string) => Promise<T>): Promise<T> {
    const file = await this.#devbox().box.putRunFile(prefix, content)
    try {
      return await use(file.path)
    } finally {
      await file.remove()
    }
  }

  read(path: string, maxBytes = maxRewardBytes): Promise<string | undefined> {
    return readSmall({ devbox: this.#devbox(), signal: this.#own }, path, maxBytes)
  }

  readEnd(path: string, maxBytes: number): Promise<string | undefined> {
    return readEndOf({ devbox: this.#devbox(), signal: this.#own }, path, maxBytes)
  }

  async pack(archive: string, parent: string, name: string, maxBytes: number): Promise<void> {
    await packFolder({ devbox: this.#devbox(), signal: this.#options.signal }, { parent, name, archive, maxBytes })
  }

  async unpack(archive: string, parent: string, name: string): Promise<void> {
    await unpackFolder({ devbox: this.#devbox(), signal: this.#options.signal }, archive, parent, name)
  }

  async tail(path: string): Promise<string> {
    try {
      return outputTail(
        await this.run(`[ -f "$FILE" ] && tail -c ${maxTailLength} -- "$FILE" | tail -n ${tailLines}`, {
          env: { FILE: path },
          cwd: '/',
          user: null,
          isOwn: true,
          signal: this.#own,
        }),
      )
    } catch (error) {
      this.#options.signal.throwIfAborted()
      if ((error as Error).name === 'TimeoutError') return ''
      throw error
    }
  }

  async stop(): Promise<void> {
    const { devboxId, executions } = this.#options
    if (this.#running !== undefined) await executions.kill(devboxId, this.#running, true)
  }

  #devbox(): RunningDevbox {
    const { devboxes, account, devboxId } = this.#options
    try {
      return devboxes.running(account, devboxId, 'execute')
    } catch (error) {
      const problem = devboxes.problemOf(devboxId)
      throw problem === undefined ? error : new Error(`${(error as Error).message}: ${problem}`)
    }
  }
}

const pauseCheckMs = 1000

/** Aborts the work with `error` after some seconds, not counting those while `isPaused`. */
export const within = async <T>(
  seconds: number,
  error: Error,
  signal: AbortSignal,
  work: (limit: AbortSignal) => Promise<T>,
  isPaused?: () => boolean,
): Promise<T> => {
  const over = new AbortController()
  let leftMs = Math.min(seconds * 1000, maxTimerMs)
  let timer: NodeJS.Timeout | undefined
  const arm = () => {
    const ms = isPaused ? Math.min(leftMs, pauseCheckMs) : leftMs
    timer = setTimeout(() => {
      if (!isPaused?.()) leftMs -= ms
      if (leftMs > 0) arm()
      else over.abort(error)
    }, ms)
  }
  arm()
  try {
    return await work(AbortSignal.any([over.signal, signal]))
  } finally {
    clearTimeout(timer)
  }
}

export const outputTail = ({ stdout, stderr }: Finished): string => {
  const lines = (text: string) => text.trimEnd().split('\n').slice(-tailLines).join('\n')
  return [lines(stdout), lines(stderr)].join('\n').trim().slice(-maxTailLength)
}

export const quotePath = (path: string): string =>
  path === '~' || path.startsWith('~/') ? `"$HOME"${quote(path.slice(1))}` : quote(path)

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text)
}
