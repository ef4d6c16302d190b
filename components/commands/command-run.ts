import { type FollowOptions, type LiveHealth, noHealth } from '#lib/browser/live/follow.ts'
import { SnapshotStore } from '#lib/browser/live/snapshot-store.ts'
import { backoffMs, pause } from '#lib/client/backoff.ts'
import type { Execution, OutputChunk } from '#lib/contract/executions.ts'
import { emptyTranscript, type OutputStream, type Transcript, TranscriptWriter } from './transcript.ts'

/** Where a run gets its output and its end from. */
export interface ExecutionSource {
  /** Resolves once the process has ended and all was told; rejects when asking again cannot help. */
  follow(stream: OutputStream, options: FollowOptions<'executions.streamStdout'>): Promise<void>
  /** How it stands, with the end of its output. */
  get(): Promise<Execution>
  /** True when asking again cannot help. */
  isLost(error: unknown): boolean
}

export interface CommandSnapshot {
  execution: Execution
  transcript: Transcript
  hasEnded: boolean
  /** It has ended, and all it wrote is here. */
  isRead: boolean
  /** This browser's clock. */
  startedMs: number
  endedMs: number | null
  /** Of the worse of its streams. */
  health: LiveHealth
  /** Of which the service kept less than was written. */
  cut: readonly OutputStream[]
  /** Why the run can no longer be followed. */
  lost: unknown
}

interface Options {
  command: string
  execution: Execution
  source: ExecutionSource
  /** Somebody else started it, so its state is asked for first. */
  isFound?: boolean
  now?: () => number
}

interface Reader {
  stream: OutputStream
  /** Where its stream stands. */
  position?: string
  /** How much it has told. */
  length: number
  health: LiveHealth
}

/** Between two looks at a process whose streams have ended. */
const lookAgain = { firstMs: 250, maxMs: 5_000 }

const newReader = (stream: OutputStream): Reader => ({ stream, length: 0, health: noHealth })

/** One command from start to end: follows both of its streams and keeps what they said. */
export class CommandRun extends SnapshotStore<CommandSnapshot> {
  readonly command: string
  readonly #source: ExecutionSource
  readonly #now: () => number
  #isFound: boolean
  readonly #readers = [newReader('stdout'), newReader('stderr')]
  readonly #output = new TranscriptWriter()

  constructor({ command, execution, source, isFound = false, now = Date.now }: Options) {
    super({
      execution,
      transcript: emptyTranscript,
      hasEnded: execution.status === 'completed',
      isRead: false,
      startedMs: now(),
      endedMs: null,
      health: noHealth,
      cut: [],
      lost: null,
    })
    this.command = command
    this.#source = source
    this.#now = now
    this.#isFound = isFound
  }

  /** Resolves when the run has ended and is read, is lost, or `signal` aborts; never rejects. */
  async follow(signal?: AbortSignal): Promise<void> {
    const leaving = new AbortController()
    const leave = () => leaving.abort()
    signal?.addEventListener('abort', leave)
    try {
      if (this.#isFound) await this.#look()
      this.#isFound = false
      // A stream may be cut short in a way that looks like its end; only the status says that the process is gone.
      for (let attempt = 0; !this.getSnapshot().isRead; attempt++) {
        if (attempt > 0) await pause(backoffMs(attempt, lookAgain), leaving.signal)
        if (leaving.signal.aborted) return
        const hadEnded = this.getSnapshot().hasEnded
        await Promise.all(this.#readers.map((reader) => this.#read(reader, leaving.signal)))
        if (leaving.signal.aborted) return
        if (!hadEnded) await this.#look()
        const { hasEnded: isRead } = this.getSnapshot()
        this.draw({ isRead, cut: isRead ? this.#cut() : [] })
      }
    } catch (lost) {
      if (!signal?.aborted) this.draw({ lost })
      leaving.abort()
    } finally {
      signal?.removeEventListener('abort', leave)
    }
  }

  #read(reader: Reader, signal: AbortSignal): Promise<void> {
    return this.#source.follow(reader.stream, {
      position: reader.position,
      signal,
      onItems: (chunks: OutputChunk[], position) => {
        reader.position = position
        for (const { output } of chunks) {
          reader.length += output.length
          this.#output.append(reader.stream, output)
        }
        this.drawSoon()
      },
      onHealth: (health) => {
        reader.health = health
        this.draw({ health: this.#readers.map((each) => each.health).reduce(worse) })
      },
    })
  }

  /** An answer is the end of what was kept, and says so; cut is what also its stream told no more of. */
  #cut(): OutputStream[] {
    const { execution } = this.getSnapshot()
    return this.#readers
      .filter(({ stream, length }) => execution[`${stream}_truncated`] && length <= (execution[stream] ?? '').length)
      .map(({ stream }) => stream)
  }

  async #look() {
    const execution = await this.#source.get().catch((error: unknown) => {
      if (this.#source.isLost(error)) throw error
      return this.getSnapshot().execution
    })
    const hasEnded = execution.status === 'completed'
    this.draw({ execution, hasEnded, endedMs: hasEnded ? this.#now() : null })
  }

  protected override gathered() {
    return { transcript: this.#output.transcript }
  }
}

const ranks = ['live', 'connecting', 'late', 'lost']
const worse = (one: LiveHealth, other: LiveHealth) =>
  ranks.indexOf(other.state) > ranks.indexOf(one.state) ? other : one
