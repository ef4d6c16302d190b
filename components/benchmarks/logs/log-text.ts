import {
  type ConsoleLine,
  ConsoleText,
  lineSpans,
  plainLine,
  type Span,
  storeIn,
} from '#lib/browser/text/console-text.ts'
import { textDecoder } from '#lib/browser/text/decode.ts'

export const maxLineLength = 8_192
const maxMatches = 100_000

export interface LogMatch {
  line: number
  start: number
  end: number
}

/** The loaded part of a file as lines. */
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

  /** Case-insensitive; at most `maxMatches`. */
  find(needle: string): LogMatch[] {
    const matches: LogMatch[] = []
    const wanted = needle.toLowerCase()
    if (wanted === '') return matches
    for (let line = 0; line < this.lines.length; line++) {
      const plainText = this.plainLine(line)
      const text = plainText.toLowerCase()
      // A lowercase form of another length would shift the offsets.
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

/** Keyed by the first piece, so each further piece is parsed only once. */
const readFiles = new WeakMap<Uint8Array, ReadFile>()

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
