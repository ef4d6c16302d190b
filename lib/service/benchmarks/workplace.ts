import { randomBytes } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { writeFile as writeInDevbox } from '#lib/service/devboxes/files.ts'
import type { Executions } from '#lib/service/executions/executions.ts'
import { ServiceError } from '#lib/service/kit/errors.ts'
import type { RunningDevbox } from '#lib/service/sandbox/sandbox.ts'

/** Unspecified: how much of what a scorer wrote its result keeps, counted from the end. */
const maxOutputBytes = 64 * 1024

export interface Finished {
  exitStatus: number
  stdout: string
  /** What it wrote to both, for people. */
  output: string
}

/** A scorer could not give a score. Its message and what the scorer wrote are the output of its result. */
export class ScorerError extends Error {
  override readonly name = 'ScorerError'
  readonly output: string

  constructor(message: string, output = '') {
    super(message)
    this.output = output
  }
}

interface Options {
  account: string
  devboxId: string
  /** Throws when the devbox does not run. */
  devbox: () => RunningDevbox
  executions: Executions
  workingDirectory: string | null
  deadlineMs: number
  signal: AbortSignal
}

/** Where scorers work: a devbox, its working directory, and the time they have all together. */
export class Workplace {
  readonly #options: Options

  constructor(options: Options) {
    this.#options = options
  }

  /**
   * Runs a bash script in the working directory. Throws a ScorerError when there is no such directory, when the script
   * is none bash can be given, and when the time is over: its process group has been killed then.
   */
  async run(script: string, variables: Record<string, string> = {}): Promise<Finished> {
    const { account, devboxId, devbox, executions, workingDirectory, signal } = this.#options
    if (this.#leftMs() <= 0) throw new ScorerError('The time for scoring was over before it began')
    const command = [
      ...(workingDirectory === null ? [] : [`cd -- ${quotePath(workingDirectory)} || exit`]),
      ...Object.entries(variables).map(([name, value]) => `export ${name}=${quote(value)}`),
      script,
    ].join('\n')
    if (command.includes('\0')) throw new ScorerError('The scorer contains a NUL character')
    const id = executions.launch(devboxId, devbox, { account, command })
    const done = await executions.reaches(devboxId, id, ['completed'], this.#leftMs(), signal)
    signal.throwIfAborted()
    if (!done) await executions.kill(devboxId, id, true)
    const { stdout, stderr, exit_status } = await executions.get(devboxId, id)
    const output = [stdout ?? '', stderr ?? ''].map((text) => tail(text)).join('')
    if (!done) throw new ScorerError('The time for scoring was over before it ended; it was killed', output)
    return { exitStatus: exit_status ?? 1, stdout: stdout ?? '', output }
  }

  /** Throws a ScorerError when the scorers have no directory to work in. */
  async enter(): Promise<void> {
    const { workingDirectory } = this.#options
    if (workingDirectory === null) return
    const { exitStatus, output } = await this.run('true')
    if (exitStatus !== 0) throw new ScorerError(`The working directory ${workingDirectory} cannot be entered`, output)
  }

  /** Writes a file as a process of the devbox would; `path` is below the working directory. */
  async write(path: string, content: string): Promise<void> {
    const { devbox, workingDirectory } = this.#options
    try {
      await writeInDevbox(devbox(), `${workingDirectory ?? '~'}/${path}`, bytesOf(content))
    } catch (error) {
      if (!(error instanceof ServiceError) || !aboutTheFile.includes(error.code)) throw error
      throw new ScorerError(`The file ${path} could not be written: ${error.message}`)
    }
  }

  /** Lends `use` the path, in the devbox, of a file outside what the devbox's disk keeps. */
  async lend<T>(content: string, ending: string, use: (path: string) => Promise<T>): Promise<T> {
    const { runFolder, box } = this.#options.devbox()
    const name = `scorer-${randomBytes(8).toString('hex')}${ending}`
    const file = join(runFolder, name)
    await writeFile(file, content, { mode: 0o600, flag: 'wx' })
    try {
      return await use(`${box.run}/${name}`)
    } finally {
      await rm(file, { force: true })
    }
  }

  #leftMs() {
    return this.#options.deadlineMs - Date.now()
  }
}

const aboutTheFile: string[] = ['invalid_argument', 'forbidden', 'not_found', 'insufficient_storage']

export const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** As `quote`, with `~` at the beginning for the home directory. */
export const quotePath = (path: string): string =>
  path === '~' || path.startsWith('~/') ? `"$HOME"${quote(path.slice(1))}` : quote(path)

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text)
}

const tail = (text: string): string => {
  const bytes = Buffer.from(text)
  if (bytes.length <= maxOutputBytes) return text
  // At a line's beginning, where there is one.
  const cut = bytes.subarray(bytes.length - maxOutputBytes)
  const line = cut.indexOf('\n') + 1
  return `[${bytes.length - cut.length + line} bytes left out]\n${cut.subarray(line).toString()}`
}
