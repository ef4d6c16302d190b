import { type ConsoleLine, ConsoleText, lineLength, plainLine } from '#lib/browser/text/console-text.ts'

/** The output of a command, as much of it as a page keeps. */

export type OutputStream = 'stdout' | 'stderr'

/** Lines that follow one another in one stream. */
export interface Segment {
  /** Grows by one for each segment ever begun: a stable key. */
  index: number
  stream: OutputStream
  lines: readonly ConsoleLine[]
}

export interface Transcript {
  /** In the order in which their lines began. A segment that has not changed is the same object as before. */
  segments: readonly Segment[]
  /** Characters kept. */
  length: number
  /** Characters dropped at the start because the transcript was full. */
  dropped: number
}

/** About 13 000 lines of 80 characters; more makes the page slow and nobody reads it here. */
const maxTranscriptLength = 1024 * 1024
/** A segment is rendered as a whole whenever one of its lines changes. */
const maxSegmentLength = 16 * 1024
const maxSegmentLines = 500

export const emptyTranscript: Transcript = { segments: [], length: 0, dropped: 0 }

interface OwnSegment extends Segment {
  lines: ConsoleLine[]
  length: number
}

interface Place {
  /** Index of the segment. */
  segment: number
  line: number
}

export class TranscriptWriter {
  readonly #limit: number
  readonly #segmentLength: number
  #segments: OwnSegment[] = []
  /** Segments that a page may show. They are copied before they change. */
  #shared = new WeakSet<OwnSegment>()
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
    const segment = place && this.#own(place.segment)
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
    const segment = this.#own(this.#nextIndex - 1)
    if (!segment) throw new Error('A transcript has no last segment')
    const length = lineLength(line) + 1
    segment.length += length
    this.#length += length
    return { segment: segment.index, line: segment.lines.push(line) - 1 }
  }

  /** The segment of this index to be changed, if it is still kept. */
  #own(index: number): OwnSegment | undefined {
    const at = index - (this.#segments[0]?.index ?? 0)
    const segment = this.#segments[at]
    if (!segment || !this.#shared.has(segment)) return segment
    const own = { ...segment, lines: [...segment.lines] }
    this.#segments[at] = own
    return own
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

/** Without styles. */
export const transcriptText = ({ segments }: Transcript): string =>
  segments.flatMap(({ lines }) => lines.map(plainLine)).join('\n')
