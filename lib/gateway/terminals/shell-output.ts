import { aboveNewShell } from '#lib/terminal/xterm/characters.ts'
import { TerminalMirror } from './mirror.ts'
import { OutputRing } from './output-ring.ts'
import type { Size } from './size-keeper.ts'
import type { Attached } from './upstream.ts'
import type { Viewer } from './viewer.ts'

const lastScrollback = 500
/** A page has to hold one of these besides what is on its way to it. */
const maxSnapshotBytes = 896 * 1024

interface OutputEvents {
  /** What the shell is to be told, as if it had been typed. */
  answer(bytes: string): void
  /** The picture begins anew, empty. */
  failed(error: unknown): void
}

/**
 * All a shell has printed: as bytes for a page that has missed little, as a picture of the screen for one that has
 * missed more.
 */
export class ShellOutput {
  readonly #events: OutputEvents
  #mirror: TerminalMirror
  readonly #ring = new OutputRing()
  /** Names what the offsets count: one run of a shell. Empty before the first. */
  #epoch = ''
  #shellId: string | undefined
  #size: Size
  #scrollback = 1000
  #sizeChanges = 0
  #wanted = new Map<Viewer, number>()
  #picturesUnderWay = 0

  constructor(size: Size, events: OutputEvents) {
    this.#size = size
    this.#events = events
    this.#mirror = this.#newMirror()
  }

  get epoch(): string {
    return this.#epoch
  }

  get size(): Size {
    return this.#size
  }

  get title(): string {
    return this.#mirror.title
  }

  /** How many bytes the shell has printed. */
  get end(): number {
    return this.#ring.end
  }

  /** Where the service is to go on, if it counts. */
  get after(): number | undefined {
    return this.#shellId === undefined ? undefined : this.#ring.end
  }

  get unparsedBytes(): number {
    return this.#mirror.pendingBytes
  }

  /** Keeps so many lines above the screen from now on, or more if it does already. */
  keep(lines: number): void {
    if (lines <= this.#scrollback) return
    this.#scrollback = lines
    this.#mirror.scrollback = lines
  }

  /** What comes is of this shell, from this offset on. True when nothing is missing before it. */
  enter({ created, shellId, offset }: Pick<Attached, 'created' | 'shellId' | 'offset'>): boolean {
    const isFirst = this.#epoch === ''
    const isSame = !isFirst && !created && shellId !== undefined && shellId === this.#shellId
    if (isSame && offset === this.#ring.end) return true
    this.#shellId = offset === undefined ? undefined : shellId
    this.#epoch = this.#shellId ?? crypto.randomUUID()
    this.#ring.restart(offset ?? 0)
    if (isFirst) return false
    // What the last shell has shown stays above. Of one that is replayed, all is shown again.
    if (created) this.#mirror.write(Buffer.from(`\x18${aboveNewShell(this.#size)}`))
    else {
      this.#mirror.dispose()
      this.#mirror = this.#newMirror()
    }
    return false
  }

  add(bytes: Buffer, parsed: () => void): void {
    this.#ring.add(bytes)
    this.#mirror.write(bytes, parsed)
  }

  /** Calls `run` when all that came until now is parsed. */
  onceParsed(run: () => void): void {
    this.#mirror.write(new Uint8Array(), run)
  }

  /** What was printed from an offset of this epoch on; undefined when that is not all kept. */
  from(offset: number): Buffer | undefined {
    return this.#ring.from(offset)
  }

  resize(size: Size): void {
    this.#size = size
    this.#sizeChanges++
    this.#mirror.resize(size.cols, size.rows)
  }

  /** Shows the page the screen, with so many lines above it, as soon as all that came until now is parsed. */
  showTo(viewer: Viewer, scrollback: number): void {
    this.#wanted.set(viewer, scrollback)
    // One by one: who asks meanwhile shares the next.
    if (this.#picturesUnderWay === 0) this.#takePictures()
  }

  forget(viewer: Viewer): void {
    this.#wanted.delete(viewer)
  }

  /** The last there is to see, for those who have missed it; then `run`. */
  showLast(viewers: readonly Viewer[], run: () => void): void {
    const offset = this.#ring.end
    this.#mirror.snapshot(lastScrollback, (picture) => {
      for (const viewer of viewers) viewer.showLast({ ...picture, offset })
      run()
    })
  }

  /** All that the screen shows now, as bytes. */
  wholeScreen(done: (bytes: Uint8Array) => void): void {
    this.#mirror.snapshot(0, ({ bytes }) => done(bytes))
  }

  dispose(): void {
    this.#wanted.clear()
    this.#mirror.dispose()
  }

  #takePictures(): void {
    const wanted = this.#wanted
    this.#wanted = new Map()
    const offset = this.#ring.end
    const sizeChanges = this.#sizeChanges
    for (const scrollback of new Set(wanted.values())) {
      const viewers = [...wanted].filter(([, each]) => each === scrollback).map(([viewer]) => viewer)
      this.#picturesUnderWay++
      this.#mirror.snapshot(scrollback, (picture) => {
        this.#picturesUnderWay--
        const { length } = picture.bytes
        // The page is to hear of another size after the picture, not before.
        const isStale = sizeChanges !== this.#sizeChanges
        const isTooLong = length > maxSnapshotBytes && scrollback > 0
        const less = Math.floor((scrollback * maxSnapshotBytes * 0.8) / length)
        for (const viewer of viewers)
          if (isStale || isTooLong) this.#wanted.set(viewer, isTooLong ? less : scrollback)
          else viewer.show({ ...picture, offset }, this.#ring.from(offset))
        if (this.#wanted.size > 0 && this.#picturesUnderWay === 0) this.#takePictures()
      })
    }
  }

  #newMirror(): TerminalMirror {
    return new TerminalMirror({ ...this.#size, scrollback: this.#scrollback, ...this.#events })
  }
}
