import type { Execution, OutputChunk } from '#lib/contract/executions.ts'
import { append, emptyTranscript, type OutputStream, plainText, type Transcript } from './transcript.ts'

/** Where a run gets its output and its end from. */
export interface ExecutionSource {
  /** Chunks after the first `offset` bytes; ends cleanly once the process has ended and all was sent. */
  open(stream: OutputStream, offset: number): AsyncIterable<OutputChunk>
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
  /** The output is being asked for again after its stream broke. */
  isReconnecting: boolean
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
  /** Bytes read so far. */
  offset: number
  toPlain(chunk: string): string
}

/** A flood comes in thousands of chunks; drawing each would take longer than they take to come. */
const outputPauseMs = 50

const retryMs = (attempt: number) => Math.min(5_000, 250 * 2 ** attempt) * (0.8 + Math.random() * 0.4)

/** One command from start to end: follows both of its streams and keeps what they said. Made for useSyncExternalStore. */
export class CommandRun {
  readonly command: string
  readonly #source: ExecutionSource
  readonly #now: () => number
  readonly #listeners = new Set<() => void>()
  #snapshot: CommandSnapshot
  readonly #stdout: Reader = { stream: 'stdout', offset: 0, toPlain: plainText() }
  readonly #stderr: Reader = { stream: 'stderr', offset: 0, toPlain: plainText() }
  #transcript: Transcript = emptyTranscript
  #showing: ReturnType<typeof setTimeout> | undefined
  #broken = 0

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
      isReconnecting: false,
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
    try {
      // A stream may be cut short in a way that looks like its end; only the status says that the process is gone.
      for (let attempt = 0; !this.#snapshot.hasEnded; attempt++) {
        if (attempt > 0) await delay(retryMs(attempt))
        await Promise.all([this.#read(this.#stdout), this.#read(this.#stderr)])
        await this.#look()
      }
    } catch (error) {
      this.#change({ lost: error, isReconnecting: false })
    }
  }

  async #read(reader: Reader) {
    for (let attempt = 0; ; ) {
      try {
        for await (const chunk of this.#source.open(reader.stream, reader.offset)) {
          if (attempt > 0) this.#mend()
          attempt = 0
          reader.offset = chunk.offset ?? reader.offset + new TextEncoder().encode(chunk.output).byteLength
          this.#transcript = append(this.#transcript, reader.stream, reader.toPlain(chunk.output))
          this.#showing ??= setTimeout(() => this.#change({}), outputPauseMs)
        }
        if (attempt > 0) this.#mend()
        return
      } catch (error) {
        if (this.#source.isLost(error)) throw error
        if (attempt === 0) this.#break()
        await delay(retryMs(attempt++))
      }
    }
  }

  async #look() {
    const execution = await this.#source.get().catch((error: unknown) => {
      if (this.#source.isLost(error)) throw error
      return this.#snapshot.execution
    })
    const hasEnded = execution.status === 'completed'
    this.#change({ execution, hasEnded, endedMs: hasEnded ? this.#now() : null })
  }

  #break() {
    this.#broken += 1
    this.#change({ isReconnecting: true })
  }

  #mend() {
    this.#broken -= 1
    if (this.#broken === 0) this.#change({ isReconnecting: false })
  }

  #change(change: Partial<CommandSnapshot>) {
    clearTimeout(this.#showing)
    this.#showing = undefined
    this.#snapshot = { ...this.#snapshot, ...change, transcript: this.#transcript }
    for (const listener of this.#listeners) listener()
  }
}

const delay = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
