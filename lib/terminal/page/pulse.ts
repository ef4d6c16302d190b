import { serviceNow } from '#lib/client/clock.ts'

/** Round-trip times in milliseconds: to the console, and from there to the service if reported. */
export interface Latency {
  consoleMs: number
  serviceMs: number | null
  atMs: number
}

interface Options {
  send(id: number): void
  measured(latency: Latency): void
  died(): void
  /** Hidden pages only check after a long silence. */
  isVisible(): boolean
}

const firstMs = 1_000
const everyMs = 5_000
const silentMs = 30_000
const quietMs = 2_000
const answerTimeoutMs = 10_000
const remembered = 5

/** Detects dead connections. Any message is a sign of life, because a pong may queue behind a flood. */
export class TerminalPulse {
  readonly #options: Options
  #rounds: { consoleMs: number; serviceMs: number | null }[] = []
  #pendingPing: { id: number; atMs: number } | undefined
  #heardMs = performance.now()
  #lastId = 0
  #first: ReturnType<typeof setTimeout> | undefined
  #beat: ReturnType<typeof setInterval> | undefined
  #deadline: ReturnType<typeof setTimeout> | undefined

  constructor(options: Options) {
    this.#options = options
  }

  start() {
    this.stop()
    this.#rounds = []
    this.#heardMs = performance.now()
    // Earlier, the page's own startup would be measured.
    this.#first = setTimeout(() => this.probe(), firstMs)
    this.#beat = setInterval(() => {
      if (this.#options.isVisible() || performance.now() - this.#heardMs > silentMs) this.probe()
    }, everyMs)
  }

  stop() {
    clearTimeout(this.#first)
    clearInterval(this.#beat)
    clearTimeout(this.#deadline)
    this.#pendingPing = undefined
  }

  probe() {
    if (this.#pendingPing) return
    const atMs = performance.now()
    this.#pendingPing = { id: ++this.#lastId, atMs }
    this.#options.send(this.#lastId)
    this.#expect(atMs)
  }

  typed() {
    if (performance.now() - this.#heardMs > quietMs) this.probe()
  }

  heard() {
    this.#heardMs = performance.now()
  }

  answered(id: number, serviceMs: number | null) {
    if (id !== this.#pendingPing?.id) return
    const consoleMs = performance.now() - this.#pendingPing.atMs
    this.#pendingPing = undefined
    clearTimeout(this.#deadline)
    this.#rounds = [...this.#rounds, { consoleMs, serviceMs }].slice(-remembered)
    const serviceTimes = this.#rounds.flatMap((round) => round.serviceMs ?? [])
    this.#options.measured({
      consoleMs: median(this.#rounds.map((round) => round.consoleMs)),
      serviceMs: serviceTimes.length > 0 ? median(serviceTimes) : null,
      atMs: serviceNow(),
    })
  }

  #expect(sinceMs: number) {
    clearTimeout(this.#deadline)
    this.#deadline = setTimeout(() => {
      if (performance.now() - Math.max(sinceMs, this.#heardMs) < answerTimeoutMs) this.#expect(performance.now())
      else this.#options.died()
    }, answerTimeoutMs)
  }
}

/** The lower median, so that one late answer doesn't matter. */
const median = (numbers: readonly number[]): number => numbers.toSorted((a, b) => a - b)[(numbers.length - 1) >> 1] ?? 0
