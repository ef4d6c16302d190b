import type { IBuffer } from '@xterm/xterm'
import { joinedLine, placeOf } from './lines.ts'

export interface FindQuery {
  text: string
  matchCase: boolean
  wholeWord: boolean
  regex: boolean
}

/** Position of a match; `cells` may extend into following rows of a wrapped line. */
export interface FindMatch {
  row: number
  column: number
  cells: number
}

export interface FindResult {
  matches: readonly FindMatch[]
  hasMore: boolean
}

export type FindPattern = { pattern: RegExp } | { problem: string } | null

/** Compiles the search. Null for an empty query, an error message for an invalid expression. */
export const findPattern = ({ text, matchCase, wholeWord, regex }: FindQuery): FindPattern => {
  if (text === '') return null
  const source = regex
    ? text
    : text.replace(/[\\^$.*+?()[\]{}|/-]/g, (character) => escapes[character] ?? `\\${character}`)
  const bounded = wholeWord ? `(?<![\\p{L}\\p{N}_])(?:${source})(?![\\p{L}\\p{N}_])` : source
  try {
    // Validated on its own first: an extra parenthesis could close the wrapping group.
    new RegExp(source, 'u')
    return { pattern: new RegExp(bounded, matchCase ? 'gu' : 'giu') }
  } catch (error) {
    const [, reason = 'It cannot be read'] = /:\s*([^:]+)$/.exec(error instanceof Error ? error.message : '') ?? []
    return { problem: `Not a regular expression: ${reason.charAt(0).toLowerCase()}${reason.slice(1)}` }
  }
}

/** The only escape for a hyphen that `u` expressions accept outside a class. */
const escapes: Record<string, string> = { '-': '\\x2d' }

/** Up to `max` matches from top to bottom. Wrapped rows count as one line. */
export const findMatches = (buffer: IBuffer, columns: number, pattern: RegExp, max: number): FindResult => {
  const matches: FindMatch[] = []
  for (let row = 0; row < buffer.length; ) {
    const line = joinedLine(buffer, row)
    for (const { 0: text, index } of line.text.matchAll(pattern)) {
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

export const matchFrom = (matches: readonly FindMatch[], row: number): number => {
  const at = matches.findIndex((match) => match.row >= row)
  return at === -1 ? matches.length - 1 : at
}
