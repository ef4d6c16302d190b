import { backoffMs, pause } from '#lib/client/backoff.ts'
import type { Execution, OutputChunk } from '#lib/contract/executions.ts'
import { type FollowOptions, type LiveHealth, noHealth } from './follow.ts'
import { append, emptyTranscript, type OutputStream, plainText, type Transcript } from './transcript.ts'

/** Where a run gets its output and its end from. */
export interface ExecutionSource {
  /** Resolves once the process has ended and all was told; rejects when asking again cannot help. */
  follow(stream: OutputStream, options: FollowOptions<'executions.streamStdout'>): Promise<void>
  get(): Promise<Execution>
  /** True when asking again cannot help. */
  isLost(error: unknown): boolean
}

export interface CommandSnapshot {
  execution: Execution
  transcript: Transcript
  hasEnded: boolean
  /** This browser's clock. */
  startedMs: number
  endedMs: number | null
  /** Of the worse of its streams. */
  health: LiveHealth
  /** Why the run can no longer be followed. */
  lost: unknown
}

interface Options {
  command: string
  execution: Execution
  source: ExecutionSource
  now?: () => number
}

interface Reader {
  stream: OutputStream
  /** Where its stream stands. */
  position?: string
  health: LiveHealth
  toPlain(chunk: string): string
}

/** A flood comes in thousands of chunks; drawing each would take longer than they take to come. */
const outputPauseMs = 50
/** Between two looks at a process whose streams have ended. */
const lookAgain = { firstMs: 250, maxMs: 5_000 }

const newReader = (stream: OutputStream): Reader => ({ stream, health: noHealth, toPlain: plainText() })

/** One command from start to end: follows both of its streams and keeps what they said. Made for useSyncExternalStore. */
export class CommandRun {
  readonly command: string
  readonly #source: ExecutionSource
  readonly #now: () => number
  readonly #listeners = new Set<() => void>()
  readonly #readers = [newReader('stdout'), newReader('stderr')]
  #snapshot: CommandSnapshot
  #transcript: Transcript = emptyTranscript
  #showing: ReturnType<typeof setTimeout> | undefined

  constructor({ command, execution, source, now = Date.now }: Options) {
    this.command = command
    this.#source = source
    this.#now = now
    this.#snapshot = {
      execution,
      transcript: emptyTranscript,
      hasEnded: execution.status === 'completed',
      startedMs: now(),
      endedMs: null,
      health: noHealth,
      lost: null,
    }
  }

  getSnapshot = (): CommandSnapshot => this.#snapshot

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Resolves when the run has ended or is lost; never rejects. */
  async follow(): Promise<void> {
    const leaving = new AbortController()
    try {
      // A stream may be cut short in a way that looks like its end; only the status says that the process is gone.
      for (let attempt = 0; !this.#snapshot.hasEnded; attempt++) {
        if (attempt > 0) await pause(backoffMs(attempt, lookAgain), leaving.signal)
        await Promise.all(this.#readers.map((reader) => this.#read(reader, leaving.signal)))
        await this.#look()
      }
    } catch (lost) {
      leaving.abort()
      this.#change({ lost })
    }
  }

  #read(reader: Reader, signal: AbortSignal): Promise<void> {
    return this.#source.follow(reader.stream, {
      position: reader.position,
      signal,
      onItems: (chunks: OutputChunk[], position) => {
        reader.position = position
        for (const { output } of chunks)
          this.#transcript = append(this.#transcript, reader.stream, reader.toPlain(output))
        this.#showing ??= setTimeout(() => this.#change({}), outputPauseMs)
      },
      onHealth: (health) => {
        reader.health = health
        this.#change({ health: this.#readers.map((each) => each.health).reduce(worse) })
      },
    })
  }

  async #look() {
    const execution = await this.#source.get().catch((error: unknown) => {
      if (this.#source.isLost(error)) throw error
      return this.#snapshot.execution
    })
    const hasEnded = execution.status === 'completed'
    this.#change({ execution, hasEnded, endedMs: hasEnded ? this.#now() : null })
  }

  #change(change: Partial<CommandSnapshot>) {
    clearTimeout(this.#showing)
    this.#showing = undefined
    this.#snapshot = { ...this.#snapshot, ...change, transcript: this.#transcript }
    for (const listener of this.#listeners) listener()
  }
}

const ranks = ['live', 'connecting', 'late', 'lost']
const worse = (one: LiveHealth, other: LiveHealth) =>
  ranks.indexOf(other.state) > ranks.indexOf(one.state) ? other : one
