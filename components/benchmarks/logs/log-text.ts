import { type ConsoleLine, plainLine, readLines, type Span } from '#lib/browser/text/console-text.ts'
import { textDecoder } from '#lib/browser/text/decode.ts'

export const maxLineLength = 8_192
const maxMatches = 100_000

export interface LogMatch {
  line: number
  start: number
  end: number
}

export const readLog = (pieces: readonly Uint8Array[]): readonly ConsoleLine[] => {
  const decode = textDecoder()
  return readLines(pieces.map((piece) => decode(piece)).join('')).lines
}

export const findInLog = (lines: readonly ConsoleLine[], needle: string): LogMatch[] => {
  const matches: LogMatch[] = []
  const wanted = needle.toLowerCase()
  if (wanted === '') return matches
  for (const [line, each] of lines.entries()) {
    const plainText = plainLine(each)
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

type MarkedSpan = Span & { at: number; match: LogMatch | undefined }

export const markedSpans = (
  spans: readonly Span[],
  matches: readonly LogMatch[],
  max = maxLineLength,
): MarkedSpan[] => {
  const edges = matches.flatMap(({ start, end }) => [start, end])
  const marked: MarkedSpan[] = []
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
