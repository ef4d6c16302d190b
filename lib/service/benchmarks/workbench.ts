import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Devbox } from '#lib/contract/devboxes.ts'
import type { Devboxes } from '#lib/service/devboxes/devboxes.ts'
import { writeFile as writeInDevbox } from '#lib/service/devboxes/files.ts'
import type { RunningDevbox } from '#lib/service/engine/engine.ts'
import { putRunFile } from '#lib/service/engine/run-file.ts'
import type { Executions } from '#lib/service/executions/executions.ts'
import { quote } from '#lib/service/kit/quoting.ts'
import { longestTimerMs } from '#lib/service/kit/timer.ts'
import { TrialError } from './outcome.ts'
import {
  copyAcross,
  copyOut,
  packFolder,
  readEndOf,
  readSmall,
  removalOf,
  sendFile,
  sendFolder,
  unpackFolder,
} from './transfer.ts'

interface Options {
  account: string
  devboxId: string
  devboxes: Devboxes
  executions: Executions
  signal: AbortSignal
  /** How long a command of the service's own may take. */
  ownSeconds?: number
}

interface Command {
  /** In addition to the devbox's own variables. It is not recorded with the command, so it may hold secrets. */
  env?: Record<string, string>
  /** The home directory unless it is given. */
  cwd?: string | null
  /** As `Workbench.user`. */
  user?: string | null
  signal?: AbortSignal
  /** When the time is over, the process group is killed and `error` is thrown. */
  limit?: { seconds: number; error: (killed: Finished) => Error }
}

export interface Finished {
  exitStatus: number
  stdout: string
  stderr: string
}

/** Linux takes 128 KiB for one string of a process's environment. */
export const maxVariableBytes = 100_000
export const isVariableName = (name: string): boolean => /^[A-Za-z_][A-Za-z0-9_]{0,255}$/.test(name)

const settledStatuses = ['running', 'suspending', 'suspended', 'failure', 'shutdown']
const maxRewardBytes = 1024 * 1024
/** As emptying a full folder may take on a slow disk. */
const defaultOwnSeconds = 600
/** How much of what a command wrote the message of a failure tells. */
const shownLines = 20
const maxShownLength = 2000

/** The devbox of a scenario run made ready for work: its build, agent, verifier and scorers run through it. */
export class Workbench {
  readonly #options: Options
  /**
   * Who runs commands that do not say it, as `docker exec` takes it: a name or number, with a group or without. Root of the
   * devbox's own system where it is null; to be changed in such a devbox only.
   */
  user: string | null = null
  /** The execution that runs now. */
  #running: string | undefined

  constructor(options: Options) {
    this.#options = options
  }

  /** A folder of the service's in the devbox, outside what the devbox's disk keeps. */
  get runFolder(): string {
    return this.#devbox().sandbox.run
  }

  /** The temporary folder of the devbox, as its processes see it. */
  get tmp(): string {
    return this.#devbox().sandbox.tmp
  }

  /** The devbox once it has started, or has not and never will. */
  async settled(signal = this.#options.signal): Promise<Devbox | undefined> {
    const { account, devboxId, devboxes } = this.#options
    const devbox = await devboxes.reaches(account, devboxId, settledStatuses, longestTimerMs, signal)
    signal.throwIfAborted()
    return devbox
  }

  /** Resolves when the devbox runs. Throws a TrialError with the reason when it does not start. */
  async started(signal: AbortSignal): Promise<void> {
    const devbox = await this.settled(signal)
    if (devbox?.status === 'running') return
    const reason = devbox?.failure_reason ?? devbox?.shutdown_reason ?? devbox?.status
    throw new TrialError('SandboxBuildFailedError', `Devbox ${this.#options.devboxId} did not start: ${reason}`)
  }

  /**
   * Runs a bash script to its end. Rejects when the devbox does not run, and with the reason of `signal` once the process
   * group has been killed.
   */
  async run(script: string, { signal, limit, ...how }: Command = {}): Promise<Finished> {
    const { devboxId, executions } = this.#options
    const aborted = signal ?? this.#options.signal
    aborted.throwIfAborted()
    const id = this.#launch(script, how)
    this.#running = id
    const holdMs = Math.min((limit?.seconds ?? Number.POSITIVE_INFINITY) * 1000, longestTimerMs)
    const isDone = await executions.reaches(devboxId, id, ['completed'], holdMs, aborted)
    if (!isDone) await executions.kill(devboxId, id, true)
    this.#running = undefined
    aborted.throwIfAborted()
    const finished = await this.#finished(id)
    if (!isDone && limit) throw limit.error(finished)
    // Throws when the command ended because its devbox did.
    if (finished.exitStatus !== 0) this.#devbox()
    return finished
  }

  /** Begins a script that may go on until the devbox ends; resolves if it ends before, or is aborted. */
  async begin(script: string, { signal, ...how }: Omit<Command, 'limit'> = {}): Promise<Finished> {
    const { devboxId, executions } = this.#options
    const id = this.#launch(script, how)
    await executions.reaches(devboxId, id, ['completed'], longestTimerMs, signal ?? this.#options.signal)
    return this.#finished(id)
  }

  #launch(script: string, { env, cwd, user = this.user }: Pick<Command, 'env' | 'cwd' | 'user'>): string {
    const { account, devboxId, executions } = this.#options
    const devbox = () => {
      const running = this.#devbox()
      return { ...running, env: { ...running.env, ...env } }
    }
    const given = user === null ? script : asUser(user, script)
    const command = cwd ? `cd -- ${quotePath(cwd)} || exit\n${given}` : given
    return executions.launch(devboxId, devbox, { account, command })
  }

  async #finished(id: string): Promise<Finished> {
    const { devboxId, executions } = this.#options
    const { exit_status, stdout, stderr } = await executions.get(devboxId, id)
    return { exitStatus: exit_status ?? 1, stdout: stdout ?? '', stderr: stderr ?? '' }
  }

  /** Root of a devbox may have put a program that never ends in the place of any that the service runs there. */
  get #own(): AbortSignal {
    const { signal, ownSeconds = defaultOwnSeconds } = this.#options
    return AbortSignal.any([signal, AbortSignal.timeout(ownSeconds * 1000)])
  }

  /** Runs a script of the service's own and throws when it fails. */
  async must(script: string, env: Record<string, string> = {}, signal = this.#own): Promise<void> {
    const finished = await this.run(script, { env, cwd: '/', user: null, signal })
    if (finished.exitStatus !== 0) throw new Error(`${shown(finished) || script} (exit code ${finished.exitStatus})`)
  }

  /** Does `work` with a signal that aborts when the time is over; the work then rejects with `error`. */
  async within<T>(seconds: number, error: Error, work: (limit: AbortSignal) => Promise<T>): Promise<T> {
    const over = new AbortController()
    const timer = setTimeout(() => over.abort(error), Math.min(seconds * 1000, longestTimerMs))
    try {
      return await work(AbortSignal.any([over.signal, this.#options.signal]))
    } finally {
      clearTimeout(timer)
    }
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

  /** Copies a file or folder to the same place in another devbox. */
  async handOver(to: Workbench, path: string, exclude: readonly string[], signal: AbortSignal): Promise<void> {
    await copyAcross(this.#devbox(), { devbox: to.#devbox(), signal }, path, exclude)
  }

  /** Copies a file or folder to another place in another devbox, as a COPY between stages does. */
  async handOut(to: Workbench, path: string, how: Parameters<typeof copyOut>[3], signal: AbortSignal): Promise<void> {
    await copyOut(this.#devbox(), { devbox: to.#devbox(), signal }, path, how)
  }

  /** Empties a folder, and fills it from others, each over the one before. */
  async replace(to: string, ...from: string[]): Promise<void> {
    if (from.length === 0) await this.must(`${removalOf('"$FOLDER"')} && mkdir -p -- "$FOLDER"`, { FOLDER: to })
    for (const [index, folder] of from.entries()) await this.send(folder, to, { replaces: index === 0 })
  }

  /** Writes a file as a process of the devbox would. */
  async write(path: string, content: string): Promise<void> {
    await writeInDevbox(this.#devbox(), path, bytesOf(content), this.#own)
  }

  /** Lends `use` the path, in the devbox, of a file outside what the devbox's disk keeps. */
  async lend<T>(prefix: string, content: string, use: (path: string) => Promise<T>): Promise<T> {
    const devbox = this.#devbox()
    const name = await putRunFile(devbox, prefix, content)
    try {
      return await use(`${devbox.sandbox.run}/${name}`)
    } finally {
      await rm(join(devbox.runFolder, name), { force: true })
    }
  }

  /** The text of a small file, undefined when there is none. */
  read(path: string, maxBytes = maxRewardBytes): Promise<string | undefined> {
    return readSmall({ devbox: this.#devbox(), signal: this.#own }, path, maxBytes)
  }

  /** The end of a file that may be long, undefined when there is none or nothing in it. */
  readEnd(path: string, maxBytes: number): Promise<string | undefined> {
    return readEndOf({ devbox: this.#devbox(), signal: this.#own }, path, maxBytes)
  }

  /** Keeps the folder `name` of `parent` in an archive of the service's. */
  async pack(archive: string, parent: string, name: string, maxBytes: number): Promise<void> {
    await packFolder({ devbox: this.#devbox(), signal: this.#options.signal }, { parent, name, archive, maxBytes })
  }

  async unpack(archive: string, parent: string, name: string): Promise<void> {
    await unpackFolder({ devbox: this.#devbox(), signal: this.#options.signal }, archive, parent, name)
  }

  /** The end of a text file; nothing when it cannot be read. */
  async tail(path: string): Promise<string> {
    try {
      return shown(
        await this.run(`[[ -f $FILE ]] && tail -c ${maxShownLength} -- "$FILE" | tail -n ${shownLines}`, {
          env: { FILE: path },
          cwd: '/',
          user: null,
          signal: this.#own,
        }),
      )
    } catch (error) {
      this.#options.signal.throwIfAborted()
      if ((error as Error).name === 'TimeoutError') return ''
      throw error
    }
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

/** As `docker exec --user` does: with the groups of the user where no group is given, and a number need not be known. */
const asUser = (user: string, script: string): string =>
  `exec /bin/bash -c ${quote(becomeUser)} devdeck ${quote(user)} /bin/bash -c ${quote(script)}`

const becomeUser = `user=$1 group= groups=--init-groups
[[ $user == *:* ]] && group=\${user#*:} user=\${user%%:*} groups=--clear-groups
IFS=: read -r name _ uid gid _ home _ < <(getent passwd -- "$user")
if [[ ! $uid ]]; then
  [[ $user =~ ^[0-9]+$ ]] || { echo "unable to find user $user: no matching entries in passwd file" >&2; exit 126; }
  uid=$user gid=0 home=/ name=$user groups=--clear-groups
fi
if [[ $group ]]; then
  IFS=: read -r _ _ gid _ < <(getent group -- "$group")
  [[ $gid ]] || gid=$group
  [[ $gid =~ ^[0-9]+$ ]] || { echo "unable to find group $group: no matching entries in group file" >&2; exit 126; }
fi
[[ $HOME && $HOME != /root ]] && home=$HOME
export HOME=$home USER=$name LOGNAME=$name
exec setpriv --reuid "$uid" --regid "$gid" "$groups" -- "\${@:2}"`

/** The end of what a command wrote, stdout first, for the message of a failure. */
export const shown = ({ stdout, stderr }: Finished): string => {
  const lines = (text: string) => text.trimEnd().split('\n').slice(-shownLines).join('\n')
  return [lines(stdout), lines(stderr)].join('\n').trim().slice(-maxShownLength)
}

/** As `quote`, with `~` at the beginning for the home directory. */
export const quotePath = (path: string): string =>
  path === '~' || path.startsWith('~/') ? `"$HOME"${quote(path.slice(1))}` : quote(path)

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text)
}
