import { type FollowOptions, initialHealth, type LiveHealth } from '#lib/browser/live/follow.ts'
import { SnapshotStore } from '#lib/browser/live/snapshot-store.ts'
import { backoffMs, pause } from '#lib/client/backoff.ts'
import { serviceNow } from '#lib/client/clock.ts'
import type { Execution, OutputChunk } from '#lib/contract/executions.ts'
import { emptyTranscript, type OutputStream, type Transcript, TranscriptWriter } from './transcript.ts'

export interface ExecutionSource {
  /** Resolves once the stream has ended; rejects when a retry cannot help. */
  follow(stream: OutputStream, options: FollowOptions<'executions.streamStdout'>): Promise<void>
  get(): Promise<Execution>
  isFinal(error: unknown): boolean
}

export interface CommandSnapshot {
  execution: Execution
  transcript: Transcript
  hasEnded: boolean
  /** The command has ended and all of its output has arrived. */
  isComplete: boolean
  startedMs: number
  endedMs: number | null
  health: LiveHealth
  /** Streams the service truncated. */
  truncated: readonly OutputStream[]
  /** Why the command can no longer be followed. */
  error: unknown
}

interface Options {
  command: string
  execution: Execution
  source: ExecutionSource
  /** Started elsewhere, so its state is fetched first. */
  isExternal?: boolean
  now?: () => number
}

interface Reader {
  stream: OutputStream
  position?: string
  length: number
  health: LiveHealth
}

const statusBackoff = { firstMs: 250, maxMs: 5_000 }

const newReader = (stream: OutputStream): Reader => ({ stream, length: 0, health: initialHealth })

export class CommandRun extends SnapshotStore<CommandSnapshot> {
  readonly command: string
  readonly #source: ExecutionSource
  readonly #now: () => number
  #needsStatus: boolean
  readonly #readers = [newReader('stdout'), newReader('stderr')]
  readonly #output = new TranscriptWriter()

  constructor({ command, execution, source, isExternal = false, now = serviceNow }: Options) {
    super({
      execution,
      transcript: emptyTranscript,
      hasEnded: execution.status === 'completed',
      isComplete: false,
      startedMs: now(),
      endedMs: null,
      health: initialHealth,
      truncated: [],
      error: null,
    })
    this.command = command
    this.#source = source
    this.#now = now
    this.#needsStatus = isExternal
  }

  /** Resolves when the run is complete, has failed or `signal` aborts; never rejects. */
  async follow(signal?: AbortSignal): Promise<void> {
    const leaving = new AbortController()
    const leave = () => leaving.abort()
    signal?.addEventListener('abort', leave)
    try {
      if (this.#needsStatus) await this.#refreshStatus()
      this.#needsStatus = false
      // A broken stream can look like one that ended; only the status shows whether the process has exited.
      for (let attempt = 0; !this.getSnapshot().isComplete; attempt++) {
        if (attempt > 0) await pause(backoffMs(attempt, statusBackoff), leaving.signal)
        if (leaving.signal.aborted) return
        const hadEnded = this.getSnapshot().hasEnded
        await Promise.all(this.#readers.map((reader) => this.#read(reader, leaving.signal)))
        if (leaving.signal.aborted) return
        if (!hadEnded) await this.#refreshStatus()
        const { hasEnded: isComplete } = this.getSnapshot()
        this.publish({ isComplete, truncated: isComplete ? this.#truncated() : [] })
      }
    } catch (error) {
      if (!signal?.aborted) this.publish({ error })
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
        this.publishSoon()
      },
      onHealth: (health) => {
        reader.health = health
        this.publish({ health: this.#readers.map((each) => each.health).reduce(worse) })
      },
    })
  }

  /** The status holds only the end of the output, so its flag counts only where the stream had no more than that. */
  #truncated(): OutputStream[] {
    const { execution } = this.getSnapshot()
    return this.#readers
      .filter(({ stream, length }) => execution[`${stream}_truncated`] && length <= (execution[stream] ?? '').length)
      .map(({ stream }) => stream)
  }

  async #refreshStatus() {
    const execution = await this.#source.get().catch((error: unknown) => {
      if (this.#source.isFinal(error)) throw error
      return this.getSnapshot().execution
    })
    const hasEnded = execution.status === 'completed'
    this.publish({ execution, hasEnded, endedMs: hasEnded ? this.#now() : null })
  }

  protected override collect() {
    return { transcript: this.#output.transcript }
  }
}

const ranks = ['live', 'connecting', 'late', 'lost']
const worse = (one: LiveHealth, other: LiveHealth) =>
  ranks.indexOf(other.state) > ranks.indexOf(one.state) ? other : one
