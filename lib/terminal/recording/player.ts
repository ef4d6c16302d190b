import { type Cast, type CastEvent, parseSize, withoutPauses } from './asciicast.ts'

/** The part of xterm's `Terminal` that the player needs. */
export interface PlayerScreen {
  write(data: string, parsed: () => void): void
  /** Synchronous: overtakes pending writes. */
  resize(cols: number, rows: number): void
}

export interface PlayerState {
  isPlaying: boolean
  atMs: number
  durationMs: number
  isSeeking: boolean
}

const tickMs = 16
/** Chunk size that keeps the page responsive while seeking. */
const pieceCharacters = 256 * 1024

const fullReset = '\x1bc'

export class RecordingPlayer {
  readonly #cast: Cast
  readonly #screen: PlayerScreen
  readonly #onState: (state: PlayerState) => void
  #events: CastEvent[]
  #next = 0
  #atMs = 0
  #speed = 1
  #isPlaying = false
  #isSeeking = false
  #startsOver = true
  #isClosed = false
  #drawing: Promise<void> | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  #tickedAt = 0

  constructor(cast: Cast, screen: PlayerScreen, onState: (state: PlayerState) => void, maxPauseMs: number) {
    this.#cast = cast
    this.#screen = screen
    this.#onState = onState
    this.#events = withoutPauses(cast.events, maxPauseMs)
  }

  get durationMs(): number {
    return this.#events.at(-1)?.atMs ?? 0
  }

  play(): void {
    if (this.#isPlaying) return
    if (this.#atMs >= this.durationMs) void this.seek(0)
    this.#isPlaying = true
    this.#tickedAt = performance.now()
    this.#tick()
  }

  pause(): void {
    clearTimeout(this.#timer)
    this.#isPlaying = false
    this.#tell()
  }

  set speed(speed: number) {
    this.#speed = speed
  }

  /** Applies from here on; the screen stays. */
  set maxPauseMs(maxPauseMs: number) {
    this.#events = withoutPauses(this.#cast.events, maxPauseMs)
    this.#atMs = this.#events[this.#next - 1]?.atMs ?? 0
    this.#tell()
  }

  /** Shows the state at that time. Resolves once it, or a later request, is drawn. */
  async seek(toMs: number): Promise<void> {
    this.#atMs = Math.max(0, Math.min(toMs, this.durationMs))
    if ((this.#events[this.#next - 1]?.atMs ?? 0) > this.#atMs) this.#startsOver = true
    this.#isSeeking = true
    this.#tell()
    await this.#draw()
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
  }

  #tick = () => {
    const now = performance.now()
    if (!this.#isSeeking) this.#atMs = Math.min(this.#atMs + (now - this.#tickedAt) * this.#speed, this.durationMs)
    this.#tickedAt = now
    void this.#draw()
    if (this.#atMs >= this.durationMs && !this.#isSeeking) return this.pause()
    this.#tell()
    this.#timer = setTimeout(this.#tick, tickMs)
  }

  /** One run at a time; it continues until everything due is on screen. */
  #draw(): Promise<void> {
    this.#drawing ??= this.#drawDue().finally(() => {
      this.#drawing = undefined
      if (!this.#isSeeking || this.#isClosed) return
      this.#isSeeking = false
      this.#tell()
    })
    return this.#drawing
  }

  async #drawDue(): Promise<void> {
    while (!this.#isClosed) {
      if (this.#startsOver) {
        this.#startsOver = false
        this.#next = 0
        await this.#write(fullReset)
        this.#screen.resize(this.#cast.cols, this.#cast.rows)
      } else if (!this.#isDue()) return
      else if (this.#events[this.#next]?.kind === 'size') {
        const size = parseSize(this.#events[this.#next]?.data ?? '')
        this.#next += 1
        if (size) this.#screen.resize(size.cols, size.rows)
      } else await this.#write(this.#dueText())
    }
  }

  #isDue(): boolean {
    const next = this.#events[this.#next]
    return next !== undefined && next.atMs <= this.#atMs
  }

  #dueText(): string {
    let text = ''
    while (this.#isDue() && text.length < pieceCharacters) {
      const { kind, data } = this.#events[this.#next] as CastEvent
      if (kind === 'size') break
      if (kind === 'output') text += data
      this.#next += 1
    }
    return text
  }

  #write(text: string): Promise<void> {
    return new Promise((parsed) => this.#screen.write(text, parsed))
  }

  #tell(): void {
    this.#onState({
      isPlaying: this.#isPlaying,
      atMs: this.#atMs,
      durationMs: this.durationMs,
      isSeeking: this.#isSeeking,
    })
  }
}
