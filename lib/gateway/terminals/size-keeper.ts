export interface Size {
  cols: number
  rows: number
}

interface SizeEvents {
  control(size: Size): Promise<boolean>
  changed(size: Size): void
}

/** Resizes the shell one call at a time. Intermediate sizes are skipped. */
export class SizeKeeper {
  readonly #events: SizeEvents
  #wanted: Size
  #has: Size
  #needsNudge = false
  #run: Promise<void> | undefined

  constructor(size: Size, events: SizeEvents) {
    this.#wanted = this.#has = size
    this.#events = events
  }

  get wanted(): Size {
    return this.#wanted
  }

  want(size: Size): void {
    this.#wanted = size
    void this.settled()
  }

  found(size: Size): void {
    this.#have(size)
    void this.settled()
  }

  /** Briefly changes the size, which makes full-screen programs redraw. */
  nudge(): void {
    if (this.#has.rows < 2) return
    this.#needsNudge = true
    void this.settled()
  }

  /** Resolves when the shell has the requested size or has rejected it. */
  async settled(): Promise<void> {
    if (this.#isSettled) return
    this.#run ??= this.#apply()
    await this.#run
  }

  get #isSettled(): boolean {
    return !this.#needsNudge && isSame(this.#wanted, this.#has)
  }

  async #apply(): Promise<void> {
    for (let refused: Size | undefined; !this.#isSettled && refused !== this.#wanted; ) {
      if (this.#needsNudge) {
        this.#needsNudge = false
        const { cols, rows } = this.#has
        await this.#events.control({ cols, rows: rows - 1 })
        await this.#events.control({ cols, rows })
        continue
      }
      const size = this.#wanted
      if (await this.#events.control(size)) this.#have(size)
      else refused = size
    }
    this.#run = undefined
  }

  #have(size: Size): void {
    if (isSame(size, this.#has)) return
    this.#has = size
    this.#events.changed(size)
  }
}

const isSame = (a: Size, b: Size) => a.cols === b.cols && a.rows === b.rows
