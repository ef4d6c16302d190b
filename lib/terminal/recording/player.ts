import { type Cast, type CastEvent, parseSize, withoutPauses } from './asciicast.ts'

/** What a player needs of the thing that draws; an xterm `Terminal` is one. */
export interface PlayerScreen {
  /** In order; `parsed` is called once this piece has been. */
  write(data: string, parsed: () => void): void
  /** At once: it overtakes what is written and not yet parsed. */
  resize(cols: number, rows: number): void
}

export interface PlayerState {
  isPlaying: boolean
  atMs: number
  durationMs: number
  /** Jumping to a place far away in a long recording takes a moment. */
  isSeeking: boolean
}

const tickMs = 16
/** Written in pieces of this size, so that the page stays alive while a long recording is drawn up to a place. */
const pieceCharacters = 256 * 1024

/** Modes, colours, scrollback and screen. */
const fullReset = '\x1bc'

/** Plays a recording onto a screen: at its own pace, faster, from any place. */
export class RecordingPlayer {
  readonly #cast: Cast
  readonly #screen: PlayerScreen
  readonly #onState: (state: PlayerState) => void
  #events: CastEvent[]
  /** The first event that is not on the screen. */
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

  /** From the beginning again, when it has ended. */
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

  /** How many times as fast as it was. */
  set speed(speed: number) {
    this.#speed = speed
  }

  /** Other pauses from here on; what is on the screen stays. */
  set maxPauseMs(maxPauseMs: number) {
    this.#events = withoutPauses(this.#cast.events, maxPauseMs)
    this.#atMs = this.#events[this.#next - 1]?.atMs ?? 0
    this.#tell()
  }

  /** Shows what the terminal showed at that time. Resolves when it is drawn, or what was asked for after it. */
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

  /** One at a time, however often it is asked for: it goes on until all that is due by then is on the screen. */
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

  /** What is due up to the next change of size. */
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
