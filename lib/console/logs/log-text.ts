import { noStyle, type TextStyle } from '../frame/text-style.ts'
import { type StyledSpan, styledLine } from './styled-text.ts'

/** A line is shown up to here; what follows is counted. */
export const maxLineLength = 8_192
const maxMatches = 100_000

export interface LogMatch {
  /** From 0. */
  line: number
  start: number
  end: number
}

/** The lines of a file, and how each of them looks. */
export class LogText {
  readonly lines: readonly string[]
  /** The look each line begins in; absent where nothing asks for any. */
  readonly #starts: readonly TextStyle[] | undefined

  constructor(text: string) {
    const lines = text.split('\n')
    // The end of the last line begins no other.
    if (lines.at(-1) === '') lines.pop()
    this.lines = lines.map(shownOf)
    this.#starts = text.includes('\x1b') ? startsOf(this.lines) : undefined
  }

  spans(line: number): StyledSpan[] {
    const text = this.lines[line] ?? ''
    return this.#starts ? styledLine(text, this.#starts[line] ?? noStyle).spans : [{ text, style: noStyle }]
  }

  plainLine(line: number): string {
    const text = this.lines[line] ?? ''
    return this.#starts && text.includes('\x1b') ? textOf(styledLine(text, noStyle).spans) : text
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

/** What a terminal shows of a line in the end: what was written over by a carriage return is gone. */
const shownOf = (line: string): string => {
  if (!line.includes('\r')) return line
  const whole = line.replace(/\r+$/, '')
  return whole.slice(whole.lastIndexOf('\r') + 1)
}

const startsOf = (lines: readonly string[]): TextStyle[] => {
  let style = noStyle
  return lines.map((line) => {
    const start = style
    if (line.includes('\x1b')) style = styledLine(line, style).end
    return start
  })
}

const textOf = (spans: readonly StyledSpan[]): string => spans.map(({ text }) => text).join('')

/** The spans of a line up to a length, each split where a match begins or ends. */
export const markedSpans = (
  spans: readonly StyledSpan[],
  matches: readonly LogMatch[],
  max = maxLineLength,
): (StyledSpan & { at: number; match: LogMatch | undefined })[] => {
  const edges = matches.flatMap(({ start, end }) => [start, end])
  const marked: (StyledSpan & { at: number; match: LogMatch | undefined })[] = []
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
