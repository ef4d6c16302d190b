import { moveAboveNewShell, resetScreen } from '#lib/terminal/xterm/characters.ts'
import { TerminalMirror } from './mirror.ts'
import type { Size } from './size-keeper.ts'
import type { Attached } from './upstream.ts'
import type { Viewer } from './viewer.ts'

const lastScrollback = 500
/** A page holds one snapshot plus its window of unread output, at most 1.2 MB together. */
const maxSnapshotBytes = 896 * 1024

interface OutputEvents {
  account?: string
  answer(bytes: string): void
  /** The mirror was reset to an empty screen. */
  failed(error: unknown): void
}

/** Larger than a page's window, so that output lost with a connection can be sent again. */
const ringBytes = 512 * 1024

/** Ring buffer of a shell's latest output, addressed by offset: the number of bytes printed before. */
export class OutputRing {
  // Offsets map to the buffer modulo its length. Keeping the chunks would cost a hundred times the memory for single
  // bytes.
  #ring: Buffer | undefined
  #start = 0
  #end = 0

  get end(): number {
    return this.#end
  }

  restart(offset: number): void {
    this.#start = this.#end = offset
  }

  add(bytes: Buffer): void {
    this.#ring ??= Buffer.allocUnsafe(ringBytes)
    const kept = bytes.subarray(Math.max(0, bytes.length - ringBytes))
    this.#end += bytes.length
    const copied = kept.copy(this.#ring, (this.#end - kept.length) % ringBytes)
    kept.copy(this.#ring, 0, copied)
    this.#start = Math.max(this.#start, this.#end - ringBytes)
  }

  /** Output from `offset` on, or undefined if part of it is no longer buffered or not printed yet. */
  from(offset: number): Buffer | undefined {
    if (offset < this.#start || offset > this.#end) return undefined
    const length = this.#end - offset
    if (!this.#ring || length === 0) return Buffer.alloc(0)
    const at = offset % ringBytes
    const first = this.#ring.subarray(at, at + length)
    return Buffer.concat([first, this.#ring.subarray(0, length - first.length)])
  }
}

/** A shell's output: recent bytes for pages that missed little, snapshots for pages that missed more. */
export class ShellOutput {
  readonly #events: OutputEvents
  #mirror: TerminalMirror
  readonly #ring = new OutputRing()
  /** Identifies the shell that offsets refer to. Empty before the first. */
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

  get end(): number {
    return this.#ring.end
  }

  /** Offset the service should replay from, if it counts offsets. */
  get after(): number | undefined {
    return this.#shellId === undefined ? undefined : this.#ring.end
  }

  get unparsedBytes(): number {
    return this.#mirror.pendingBytes
  }

  keep(lines: number): void {
    if (lines <= this.#scrollback) return
    this.#scrollback = lines
    this.#mirror.scrollback = lines
  }

  /** Switches to this shell at this offset. Returns true if no output is missing in between. */
  enter({ created, shellId, offset }: Pick<Attached, 'created' | 'shellId' | 'offset'>): boolean {
    const isFirst = this.#epoch === ''
    const isSame = !isFirst && !created && shellId !== undefined && shellId === this.#shellId
    if (isSame && offset === this.#ring.end) return true
    this.#shellId = offset === undefined ? undefined : shellId
    this.#epoch = this.#shellId ?? crypto.randomUUID()
    this.#ring.restart(offset ?? 0)
    if (isFirst) return false
    // A new shell starts below the last one's screen; a replayed shell prints its own.
    if (created) this.#mirror.write(Buffer.from(`\x18${moveAboveNewShell(this.#size)}`))
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

  reset(): void {
    this.#mirror.write(Buffer.from(`\x18${resetScreen(this.#size)}`))
    this.#ring.restart(this.#ring.end)
  }

  clearScrollback(): void {
    this.#mirror.clearScrollback()
    this.#ring.restart(this.#ring.end)
  }

  onceParsed(run: () => void): void {
    this.#mirror.write(new Uint8Array(), run)
  }

  /** Output from `offset` on, or undefined if part of it is no longer buffered. */
  from(offset: number): Buffer | undefined {
    return this.#ring.from(offset)
  }

  resize(size: Size): void {
    this.#size = size
    this.#sizeChanges++
    this.#mirror.resize(size.cols, size.rows)
  }

  showTo(viewer: Viewer, scrollback: number): void {
    this.#wanted.set(viewer, scrollback)
    // Requests made while snapshots are taken share the next batch.
    if (this.#snapshotsUnderWay === 0) this.#takeSnapshots()
  }

  forget(viewer: Viewer): void {
    this.#wanted.delete(viewer)
  }

  /** Sends the final screen to pages that missed it, then calls `run`. */
  showLast(viewers: readonly Viewer[], run: () => void): void {
    const offset = this.#ring.end
    this.#mirror.snapshot(lastScrollback, (snapshot) => {
      for (const viewer of viewers) viewer.showLast({ ...snapshot, offset })
      run()
    })
  }

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
        // A page must learn a new size after the snapshot it belongs to.
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
