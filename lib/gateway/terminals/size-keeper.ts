export interface Size {
  cols: number
  rows: number
}

interface SizeEvents {
  /** Resizes the shell; false when that failed. */
  control(size: Size): Promise<boolean>
  /** The shell has this size now. */
  changed(size: Size): void
}

/** Resizes the shell to the wanted size, one call at a time; of many sizes only the last is sent. */
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

  /** The service has said which size the shell has. */
  found(size: Size): void {
    this.#have(size)
    void this.settled()
  }

  /** Changes the size for a moment, which makes a full-screen program draw again. */
  nudge(): void {
    if (this.#has.rows < 2) return
    this.#needsNudge = true
    void this.settled()
  }

  /** Resolves when the shell has the wanted size, or could not be resized. */
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
