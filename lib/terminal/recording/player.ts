import { type Cast, type CastEvent, parseSize, withoutPauses } from './asciicast.ts'

/** The part of xterm's `Terminal` that the player needs. */
export interface PlayerScreen {
  write(data: string, parsed?: () => void): void
  /** Synchronous: overtakes pending writes. */
  resize(cols: number, rows: number): void
}

export interface PlayerState {
  isPlaying: boolean
  atMs: number
  durationMs: number
}

const tickMs = 16
const fullReset = '\x1bc'

export class RecordingPlayer {
  readonly #cast: Cast
  readonly #screen: PlayerScreen
  readonly #onState: (state: PlayerState) => void
  #events: CastEvent[]
  #next = 0
  #atMs = 0
  #isPlaying = false
  #timer: ReturnType<typeof setTimeout> | undefined
  #tickedAt = 0
  speed = 1

  constructor(cast: Cast, screen: PlayerScreen, onState: (state: PlayerState) => void, maxPauseMs: number) {
    this.#cast = cast
    this.#screen = screen
    this.#onState = onState
    this.#events = withoutPauses(cast.events, maxPauseMs)
    this.#startOver()
  }

  get durationMs(): number {
    return this.#events.at(-1)?.atMs ?? 0
  }

  play(): void {
    if (this.#isPlaying) return
    if (this.#atMs >= this.durationMs) this.seek(0)
    this.#isPlaying = true
    this.#tickedAt = performance.now()
    this.#tick()
  }

  pause(): void {
    clearTimeout(this.#timer)
    this.#isPlaying = false
    this.#tell()
  }

  /** Applies from here on; the screen stays. */
  set maxPauseMs(maxPauseMs: number) {
    this.#events = withoutPauses(this.#cast.events, maxPauseMs)
    this.#atMs = this.#events[this.#next - 1]?.atMs ?? 0
    this.#tell()
  }

  seek(toMs: number): void {
    this.#atMs = Math.max(0, Math.min(toMs, this.durationMs))
    if ((this.#events[this.#next - 1]?.atMs ?? 0) > this.#atMs) this.#startOver()
    this.#draw()
    this.#tell()
  }

  close(): void {
    clearTimeout(this.#timer)
  }

  #tick = () => {
    const now = performance.now()
    const toMs = this.#atMs + (now - this.#tickedAt) * this.speed
    this.#tickedAt = now
    this.seek(toMs)
    if (this.#atMs >= this.durationMs) this.pause()
    else this.#timer = setTimeout(this.#tick, tickMs)
  }

  #startOver(): void {
    this.#next = 0
    this.#screen.write(fullReset, () => this.#screen.resize(this.#cast.cols, this.#cast.rows))
  }

  #draw(): void {
    for (let event = this.#events[this.#next]; event && event.atMs <= this.#atMs; event = this.#events[this.#next]) {
      this.#next += 1
      const size = event.kind === 'size' && parseSize(event.data)
      if (size) this.#screen.write('', () => this.#screen.resize(size.cols, size.rows))
      else if (event.kind === 'output') this.#screen.write(event.data)
    }
  }

  #tell(): void {
    this.#onState({ isPlaying: this.#isPlaying, atMs: this.#atMs, durationMs: this.durationMs })
  }
}
