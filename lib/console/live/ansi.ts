import { noStyle, styleAfter, type TextStyle } from '../frame/text-style.ts'

/** A piece of text with one style, and where it begins. */
export interface StyledPiece {
  at: number
  text: string
  style: TextStyle
}

/** How text goes on after a piece of it: its style, and a sequence that the piece ended in the middle of. */
export interface StyleState {
  style: TextStyle
  held: string
}

export const plainState: StyleState = { style: noStyle, held: '' }

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const styleSequence = /\x1b\[([\d;:]*)m/g
// biome-ignore lint/suspicious/noControlCharactersInRegex: a sequence that the next piece may complete
const openSequence = /\x1b(?:\[[\d;:]*)?$/

export const withoutStyles = (text: string): string => text.replace(styleSequence, '')

/** The pieces of `text`, each with its style, and how the text after it goes on. */
export const styledPieces = (
  text: string,
  from: StyleState = plainState,
): { pieces: StyledPiece[]; end: StyleState } => {
  const all = from.held + text
  const held = openSequence.exec(all)?.[0] ?? ''
  const whole = all.slice(0, all.length - held.length)
  const pieces: StyledPiece[] = []
  let { style } = from
  let at = 0
  for (const match of whole.matchAll(styleSequence)) {
    if (match.index > at) pieces.push({ at, text: whole.slice(at, match.index), style })
    style = styleAfter(style, match[1] ?? '')
    at = match.index + match[0].length
  }
  if (whole.length > at) pieces.push({ at, text: whole.slice(at), style })
  return { pieces, end: { style, held } }
}

/** The pieces by line, without the ends of the lines. */
export const styledLines = (pieces: readonly StyledPiece[]): StyledPiece[][] => {
  const lines: StyledPiece[][] = [[]]
  for (const { at, text, style } of pieces) {
    let from = at
    for (const [index, part] of text.split('\n').entries()) {
      if (index > 0) lines.push([])
      if (part !== '') lines.at(-1)?.push({ at: from, text: part, style })
      from += part.length + 1
    }
  }
  // What ends with the end of a line has no empty line after it.
  if (lines.at(-1)?.length === 0) lines.pop()
  return lines
}
