import { type ConsoleLine, ConsoleText, lineLength, plainLine } from '#lib/browser/text/console-text.ts'

export type OutputStream = 'stdout' | 'stderr'

export interface Segment {
  /** Counts all segments ever started: a stable React key. */
  index: number
  stream: OutputStream
  lines: readonly ConsoleLine[]
}

export interface Transcript {
  /** In the order their lines started. An unchanged segment stays the same object. */
  segments: readonly Segment[]
  length: number
  dropped: number
}

/** About 13,000 lines of 80 characters; more makes the page slow. */
const maxTranscriptLength = 1024 * 1024
/** Limited because a changed line renders its whole segment again. */
const maxSegmentLength = 16 * 1024
const maxSegmentLines = 500

export const emptyTranscript: Transcript = { segments: [], length: 0, dropped: 0 }

interface MutableSegment extends Segment {
  lines: ConsoleLine[]
  length: number
}

interface Place {
  segment: number
  line: number
}

export class TranscriptWriter {
  readonly #limit: number
  readonly #segmentLength: number
  #segments: MutableSegment[] = []
  /** Segments already handed out; copied on write. */
  #shared = new WeakSet<MutableSegment>()
  #nextIndex = 0
  #length = 0
  #dropped = 0
  readonly #texts: Record<OutputStream, ConsoleText<Place>>

  constructor(limit = maxTranscriptLength) {
    this.#limit = limit
    this.#segmentLength = Math.min(maxSegmentLength, limit / 16)
    const text = (stream: OutputStream) =>
      new ConsoleText<Place>((place, line) => this.#put(stream, place, line), { maxLineLength: limit })
    this.#texts = { stdout: text('stdout'), stderr: text('stderr') }
  }

  append(stream: OutputStream, text: string): void {
    this.#texts[stream].write(text)
  }

  get transcript(): Transcript {
    const { stdout, stderr } = this.#texts
    stdout.flush()
    stderr.flush()
    this.#trim()
    for (const segment of this.#segments) this.#shared.add(segment)
    return {
      segments: [...this.#segments],
      length: this.#length,
      dropped: this.#dropped + stdout.dropped + stderr.dropped,
    }
  }

  #put(stream: OutputStream, place: Place | undefined, line: ConsoleLine): Place {
    const segment = place && this.#writable(place.segment)
    if (!segment) return this.#add(stream, line)
    const change = lineLength(line) - lineLength(segment.lines[place.line] ?? '')
    segment.lines[place.line] = line
    segment.length += change
    this.#length += change
    return place
  }

  #add(stream: OutputStream, line: ConsoleLine): Place {
    const last = this.#segments.at(-1)
    const hasRoom = last?.stream === stream && last.length < this.#segmentLength && last.lines.length < maxSegmentLines
    if (!hasRoom) {
      this.#trim()
      this.#segments.push({ index: this.#nextIndex, stream, lines: [], length: 0 })
      this.#nextIndex++
    }
    const segment = this.#writable(this.#nextIndex - 1)
    if (!segment) throw new Error('The transcript has no segment')
    const length = lineLength(line) + 1
    segment.length += length
    this.#length += length
    return { segment: segment.index, line: segment.lines.push(line) - 1 }
  }

  /** A segment that may be changed, unless it was dropped. */
  #writable(index: number): MutableSegment | undefined {
    const at = index - (this.#segments[0]?.index ?? 0)
    const segment = this.#segments[at]
    if (!segment || !this.#shared.has(segment)) return segment
    const copy = { ...segment, lines: [...segment.lines] }
    this.#segments[at] = copy
    return copy
  }

  #trim(): void {
    let count = 0
    for (; this.#length > this.#limit && count + 1 < this.#segments.length; count++) {
      const length = this.#segments[count]?.length ?? 0
      this.#length -= length
      this.#dropped += length
    }
    if (count > 0) this.#segments = this.#segments.slice(count)
  }
}

export const transcriptText = ({ segments }: Transcript): string =>
  segments.flatMap(({ lines }) => lines.map(plainLine)).join('\n')
