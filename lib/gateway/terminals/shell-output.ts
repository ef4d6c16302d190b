import { aboveNewShell, resetModes } from '#lib/terminal/xterm/characters.ts'
import { TerminalMirror } from './mirror.ts'
import { OutputRing } from './output-ring.ts'
import type { Size } from './size-keeper.ts'
import type { Attached } from './upstream.ts'
import type { Viewer } from './viewer.ts'

const lastScrollback = 500
/** A page holds one snapshot besides the window of unread output, together at most 1.2 MB. */
const maxSnapshotBytes = 896 * 1024

interface OutputEvents {
  account?: string
  /** An answer of the terminal to a program, to be sent to the shell like typed text. */
  answer(bytes: string): void
  /** The mirror begins anew with an empty screen. */
  failed(error: unknown): void
}

/**
 * What a shell has printed: as bytes for a page that has missed little, as a snapshot of the screen for one that has
 * missed more.
 */
export class ShellOutput {
  readonly #events: OutputEvents
  #mirror: TerminalMirror
  readonly #ring = new OutputRing()
  /** Identifies the run of the shell that the offsets count. Empty before the first. */
  #epoch = ''
  #shellId: string | undefined
  #size: Size
  #scrollback = 1000
  #sizeChanges = 0
  #wanted = new Map<Viewer, number>()
  #snapshotsUnderWay = 0

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

  /** The offset from which the service should replay, if it counts offsets. */
  get after(): number | undefined {
    return this.#shellId === undefined ? undefined : this.#ring.end
  }

  get unparsedBytes(): number {
    return this.#mirror.pendingBytes
  }

  /** Keeps at least so many lines above the screen from now on. */
  keep(lines: number): void {
    if (lines <= this.#scrollback) return
    this.#scrollback = lines
    this.#mirror.scrollback = lines
  }

  /** The output that follows is of this shell, from this offset on. True when no output is missing before it. */
  enter({ created, shellId, offset }: Pick<Attached, 'created' | 'shellId' | 'offset'>): boolean {
    const isFirst = this.#epoch === ''
    const isSame = !isFirst && !created && shellId !== undefined && shellId === this.#shellId
    if (isSame && offset === this.#ring.end) return true
    this.#shellId = offset === undefined ? undefined : shellId
    this.#epoch = this.#shellId ?? crypto.randomUUID()
    this.#ring.restart(offset ?? 0)
    if (isFirst) return false
    // The screen of the last shell stays above a new one. A shell that is replayed prints its screen again.
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

  /** Ends all modes that programs have set. What was printed before no longer makes the screen what it is. */
  reset(): void {
    this.#mirror.write(Buffer.from(`\x18${resetModes}`))
    this.#ring.restart(this.#ring.end)
  }

  /** Calls `run` when all output until now is parsed. */
  onceParsed(run: () => void): void {
    this.#mirror.write(new Uint8Array(), run)
  }

  /** The output of this epoch from `offset` on; undefined when not all of it is kept. */
  from(offset: number): Buffer | undefined {
    return this.#ring.from(offset)
  }

  resize(size: Size): void {
    this.#size = size
    this.#sizeChanges++
    this.#mirror.resize(size.cols, size.rows)
  }

  /** Sends the page a snapshot with so many lines above the screen, as soon as all output until now is parsed. */
  showTo(viewer: Viewer, scrollback: number): void {
    this.#wanted.set(viewer, scrollback)
    // Pages that ask while snapshots are taken share the next ones.
    if (this.#snapshotsUnderWay === 0) this.#takeSnapshots()
  }

  forget(viewer: Viewer): void {
    this.#wanted.delete(viewer)
  }

  /** Sends the final screen to the pages that have missed it, then calls `run`. */
  showLast(viewers: readonly Viewer[], run: () => void): void {
    const offset = this.#ring.end
    this.#mirror.snapshot(lastScrollback, (snapshot) => {
      for (const viewer of viewers) viewer.showLast({ ...snapshot, offset })
      run()
    })
  }

  /** Gives the bytes that draw the screen as it is now. */
  wholeScreen(done: (bytes: Uint8Array) => void): void {
    this.#mirror.snapshot(0, ({ bytes }) => done(bytes))
  }

  dispose(): void {
    this.#wanted.clear()
    this.#mirror.dispose()
  }

  #takeSnapshots(): void {
    const wanted = this.#wanted
    this.#wanted = new Map()
    const offset = this.#ring.end
    const sizeChanges = this.#sizeChanges
    for (const scrollback of new Set(wanted.values())) {
      const viewers = [...wanted].filter(([, each]) => each === scrollback).map(([viewer]) => viewer)
      this.#snapshotsUnderWay++
      this.#mirror.snapshot(scrollback, (snapshot) => {
        this.#snapshotsUnderWay--
        const { length } = snapshot.bytes
        // A page must hear of a new size after the snapshot it is for, not before.
        const isStale = sizeChanges !== this.#sizeChanges
        const isTooLong = length > maxSnapshotBytes && scrollback > 0
        const less = Math.floor((scrollback * maxSnapshotBytes * 0.8) / length)
        for (const viewer of viewers)
          if (isStale || isTooLong) this.#wanted.set(viewer, isTooLong ? less : scrollback)
          else viewer.show({ ...snapshot, offset }, this.#ring.from(offset))
        if (this.#wanted.size > 0 && this.#snapshotsUnderWay === 0) this.#takeSnapshots()
      })
    }
  }

  #newMirror(): TerminalMirror {
    return new TerminalMirror({ ...this.#size, scrollback: this.#scrollback, ...this.#events })
  }
}
