import {
  type ConsoleLine,
  ConsoleText,
  lineSpans,
  plainLine,
  type Span,
  storeIn,
} from '#lib/browser/text/console-text.ts'
import { textDecoder } from '#lib/browser/text/decode.ts'

/** A line is shown up to here; what follows is counted. */
export const maxLineLength = 8_192
const maxMatches = 100_000

export interface LogMatch {
  /** From 0. */
  line: number
  start: number
  end: number
}

/** The lines of a file, as far as it has been read. */
export class LogText {
  readonly lines: readonly ConsoleLine[]

  constructor(lines: readonly ConsoleLine[]) {
    this.lines = lines
  }

  spans(line: number): readonly Span[] {
    return lineSpans(this.lines[line] ?? '')
  }

  plainLine(line: number): string {
    return plainLine(this.lines[line] ?? '')
  }

  get text(): string {
    return this.lines.map(plainLine).join('\n')
  }

  /** Where `needle` is, in any case; the first hundred thousand places. */
  find(needle: string): LogMatch[] {
    const matches: LogMatch[] = []
    const wanted = needle.toLowerCase()
    if (wanted === '') return matches
    for (let line = 0; line < this.lines.length; line++) {
      const plainText = this.plainLine(line)
      const text = plainText.toLowerCase()
      // A letter whose small form is longer would move what follows it.
      const haystack = text.length === plainText.length ? text : plainText
      for (let at = haystack.indexOf(wanted); at !== -1; at = haystack.indexOf(wanted, at + wanted.length)) {
        if (matches.length === maxMatches) return matches
        matches.push({ line, start: at, end: at + wanted.length })
      }
    }
    return matches
  }
}

interface ReadFile {
  pieces: readonly Uint8Array[]
  lines: readonly ConsoleLine[]
  append(piece: Uint8Array): void
}

/** By first piece, so that a further piece costs only its own length. */
const readFiles = new WeakMap<Uint8Array, ReadFile>()

/** The lines of a file that comes in pieces. */
export const readLog = (pieces: readonly Uint8Array[]): LogText => {
  const [first] = pieces
  if (!first) return new LogText([])
  const known = readFiles.get(first)
  const file = known?.pieces.every((piece, at) => piece === pieces[at]) ? known : newFile()
  for (const piece of pieces.slice(file.pieces.length)) file.append(piece)
  file.pieces = pieces
  readFiles.set(first, file)
  return new LogText(file.lines)
}

const newFile = (): ReadFile => {
  const lines: ConsoleLine[] = []
  const text = new ConsoleText(storeIn(lines))
  const decode = textDecoder()
  return {
    pieces: [],
    lines,
    append: (piece) => {
      text.write(decode(piece))
      text.flush()
    },
  }
}

/** The spans of a line up to a length, each split where a match begins or ends. */
export const markedSpans = (
  spans: readonly Span[],
  matches: readonly LogMatch[],
  max = maxLineLength,
): (Span & { at: number; match: LogMatch | undefined })[] => {
  const edges = matches.flatMap(({ start, end }) => [start, end])
  const marked: (Span & { at: number; match: LogMatch | undefined })[] = []
  let at = 0
  for (const { text, style } of spans) {
    const end = Math.min(at + text.length, max)
    const cuts = [at, ...edges.filter((edge) => edge > at && edge < end), end]
    for (let i = 0; i + 1 < cuts.length; i++) {
      const [from = 0, to = 0] = [cuts[i], cuts[i + 1]]
      const match = matches.find((each) => each.start <= from && from < each.end)
      if (from < to) marked.push({ at: from, text: text.slice(from - at, to - at), style, match })
    }
    at += text.length
  }
  return marked
}
