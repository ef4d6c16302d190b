export interface FindQuery {
  text: string
  matchCase: boolean
  wholeWord: boolean
  regex: boolean
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
