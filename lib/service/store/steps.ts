/** Work that can stop for a while at each `yield`. */
export type Steps<T> = Generator<void, T, void>

export const inOneGo = <T>(steps: Steps<T>): T => {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

interface Waiting {
  /** Whether there is more to do. */
  step: () => boolean
}

/** Lets long work take turns with everything else: between two steps, of whoever they are, all that came in is served. */
export class Turns {
  readonly #waiting: Waiting[] = []

  /** The result itself where one step is enough. */
  run<T>(steps: Steps<T>): T | Promise<T> {
    const first = steps.next()
    if (first.done) return first.value
    return new Promise((resolve, reject) => {
      const step = () => {
        try {
          const next = steps.next()
          if (next.done) resolve(next.value)
          return !next.done
        } catch (error) {
          reject(error)
          return false
        }
      }
      if (this.#waiting.push({ step }) === 1) setImmediate(() => this.#next())
    })
  }

  #next(): void {
    const waiting = this.#waiting.shift()
    if (waiting?.step()) this.#waiting.push(waiting)
    if (this.#waiting.length > 0) setImmediate(() => this.#next())
  }
}

const startSize = 4_096
const [shortMs, longMs] = [4, 12]

/** How much a step may take on, by how long the last ones took. */
export class StepSize {
  #size = startSize
  readonly #most: number
  #start = 0

  constructor(most: number) {
    this.#most = most
  }

  begin(): number {
    this.#start = performance.now()
    return this.#size
  }

  end(): void {
    const ms = performance.now() - this.#start
    if (ms > longMs) this.#size = Math.max(64, Math.floor(this.#size / 4))
    else if (ms < shortMs) this.#size = Math.min(this.#most, this.#size * 2)
  }
}
