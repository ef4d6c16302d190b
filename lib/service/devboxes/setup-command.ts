import { once } from 'node:events'
import { closeSync } from 'node:fs'
import { Socket } from 'node:net'
import { constants as os } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import type { Pipe, Pipes } from '#lib/service/sandbox/pipes.ts'
import { putRunFile } from '#lib/service/sandbox/run-file.ts'
import { type Box, spawnIn } from '#lib/service/sandbox/sandbox.ts'
import type { CommandLog } from '#lib/service/store/logs.ts'

// One argument of a process takes 128 KiB; longer scripts go through a file.
const maxArgumentBytes = 100_000
// What a command left in its pipes comes at once; what a process in its background writes later is not waited for.
const quietMs = 50
const maxDrainMs = 500
const notStarted = 126

interface SetupCommand {
  box: Box
  env: Record<string, string>
  /** The host's side of `box.run`. */
  runFolder: string
  pipes: Pipes
  command: string
  log: CommandLog
}

/** Runs a launch or suspend command, or the entrypoint, to its end; answers its exit status as a shell tells it. */
export const runSetupCommand = async (command: SetupCommand): Promise<number> => {
  const exitStatus = await run(command).catch((error: Error) => {
    command.log.output('stderr', Buffer.from(`devdeck: the command could not be started: ${error.message}\n`))
    return notStarted
  })
  command.log.end(exitStatus)
  return exitStatus
}

const run = async ({ box, env, runFolder, pipes, command, log }: SetupCommand): Promise<number> => {
  let script = command
  if (Buffer.byteLength(command) > maxArgumentBytes)
    script = `. '${box.run}/${await putRunFile(runFolder, 'setup', command)}'`
  const stdout = await pipes.forOutput()
  const stderr = await pipes.forOutput()
  const output = new Output({ stdout, stderr }, log)
  try {
    const launch = box.launch({ argv: ['/bin/bash', '-c', script], env })
    const child = spawnIn(launch, { detached: true, stdio: ['ignore', stdout.write, stderr.write] })
    output.startedOrFailed()
    const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null]
    return code ?? 128 + os.signals[signal ?? 'SIGKILL']
  } finally {
    output.startedOrFailed()
    await output.end()
  }
}

/** Logs what comes out of two pipes. */
class Output {
  readonly #readers: Socket[] = []
  readonly #closed: Promise<unknown>
  #writeEnds: number[]
  #log: CommandLog | undefined
  #lastMs = 0

  constructor(pipes: Record<'stdout' | 'stderr', Pipe>, log: CommandLog) {
    this.#log = log
    this.#writeEnds = [pipes.stdout.write, pipes.stderr.write]
    for (const stream of ['stdout', 'stderr'] as const) {
      const reader = new Socket({ fd: pipes[stream].read, readable: true, writable: false })
      // A broken pipe has ended like any other.
      reader.on('error', () => undefined)
      reader.on('data', (chunk: Buffer) => {
        this.#lastMs = Date.now()
        this.#log?.output(stream, chunk)
      })
      this.#readers.push(reader)
    }
    this.#closed = Promise.all(
      this.#readers.map((reader) => new Promise<void>((resolve) => reader.once('close', () => resolve()))),
    )
  }

  /** Ours closed, the pipes end with the last process that holds them. */
  startedOrFailed() {
    for (const fd of this.#writeEnds) closeSync(fd)
    this.#writeEnds = []
  }

  /**
   * Resolves when all the command wrote is logged. What processes it left in the background write later is read as long
   * as they live, and dropped: a closed pipe would end them.
   */
  async end(): Promise<void> {
    const giveUpAt = Date.now() + maxDrainMs
    const isClosed = this.#closed.then(() => true)
    do {
      if (await Promise.race([isClosed, delay(quietMs, false)])) break
    } while (Date.now() - this.#lastMs < quietMs && Date.now() < giveUpAt)
    this.#log = undefined
  }
}
