import type { IBuffer } from '@xterm/xterm'
import { joinedLine, placeOf } from './lines.ts'

export interface FindQuery {
  text: string
  matchCase: boolean
  wholeWord: boolean
  regex: boolean
}

/** Where a match stands in a buffer: `cells` may run on into the rows below, as the line does. */
export interface FindMatch {
  row: number
  column: number
  cells: number
}

export interface FindResult {
  matches: readonly FindMatch[]
  /** There are more than were looked for. */
  hasMore: boolean
}

export type FindPattern = { pattern: RegExp } | { problem: string } | null

/** What to look for; null for nothing, and a sentence where somebody's expression is none (yet). */
export const findPattern = ({ text, matchCase, wholeWord, regex }: FindQuery): FindPattern => {
  if (text === '') return null
  const source = regex
    ? text
    : text.replace(/[\\^$.*+?()[\]{}|/-]/g, (character) => escapes[character] ?? `\\${character}`)
  const bounded = wholeWord ? `(?<![\\p{L}\\p{N}_])(?:${source})(?![\\p{L}\\p{N}_])` : source
  try {
    // On its own first: wrapped, a bracket too many could close the wrapping.
    new RegExp(source, 'u')
    return { pattern: new RegExp(bounded, matchCase ? 'gu' : 'giu') }
  } catch (error) {
    const [, reason = 'It cannot be read'] = /:\s*([^:]+)$/.exec(error instanceof Error ? error.message : '') ?? []
    return { problem: `Not a regular expression: ${reason.charAt(0).toLowerCase()}${reason.slice(1)}` }
  }
}

/** The only escape of a hyphen that Unicode expressions take outside of a class. */
const escapes: Record<string, string> = { '-': '\\x2d' }

/** The lines of a buffer. A line that was wrapped is one line. */
export const linesOf = (buffer: IBuffer): string[] => {
  const lines: string[] = []
  for (let row = 0; row < buffer.length; ) {
    const { text, starts } = joinedLine(buffer, row)
    lines.push(text)
    row += starts.length
  }
  return lines
}

/** All matches from top to bottom, at most `max`. A line that was wrapped is one line. */
export const findMatches = (buffer: IBuffer, columns: number, pattern: RegExp, max: number): FindResult => {
  const matches: FindMatch[] = []
  for (let row = 0; row < buffer.length; ) {
    const line = joinedLine(buffer, row)
    for (const { 0: text, index } of line.text.matchAll(pattern)) {
      // An expression may also match between two characters, where there is nothing to show.
      if (text === '') continue
      if (matches.length === max) return { matches, hasMore: true }
      const start = placeOf(buffer, line, index)
      const end = placeOf(buffer, line, index + text.length)
      matches.push({ ...start, cells: (end.row - start.row) * columns + end.column - start.column })
    }
    row += line.starts.length
  }
  return { matches, hasMore: false }
}

/** The first match at or below a row, else the last one above; where a search begins that has no place of its own yet. */
export const matchFrom = (matches: readonly FindMatch[], row: number): number => {
  const at = matches.findIndex((match) => match.row >= row)
  return at === -1 ? matches.length - 1 : at
}
