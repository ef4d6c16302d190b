/** The colours and weights that a program gives its output, for text that is no terminal. */

export interface TextStyle {
  /** 0 to 15 is the terminal's own palette; otherwise red, green and blue. */
  colour?: number | string
  background?: number | string
  bold?: boolean
  dim?: boolean
  italic?: boolean
  underline?: boolean
  strike?: boolean
  inverse?: boolean
}

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

const noStyle: TextStyle = {}
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
    style = applied(style, (match[1] ?? '').split(/[;:]/).map(Number))
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

const applied = (before: TextStyle, codes: readonly number[]): TextStyle => {
  let style = before
  for (let i = 0; i < codes.length; i++) {
    const code = codes[i] ?? 0
    if (code === 38 || code === 48) {
      const [colour, taken] = longColour(codes.slice(i + 1))
      i += taken
      if (colour !== undefined) style = { ...style, [code === 38 ? 'colour' : 'background']: colour }
    } else style = code === 0 ? noStyle : { ...style, ...changes(code) }
  }
  return style
}

const switches: Record<number, TextStyle> = {
  1: { bold: true },
  2: { dim: true },
  3: { italic: true },
  4: { underline: true },
  7: { inverse: true },
  9: { strike: true },
  22: { bold: false, dim: false },
  23: { italic: false },
  24: { underline: false },
  27: { inverse: false },
  29: { strike: false },
}

const changes = (code: number): object => {
  if (code >= 30 && code <= 37) return { colour: code - 30 }
  if (code >= 90 && code <= 97) return { colour: code - 82 }
  if (code >= 40 && code <= 47) return { background: code - 40 }
  if (code >= 100 && code <= 107) return { background: code - 92 }
  if (code === 39) return { colour: undefined }
  if (code === 49) return { background: undefined }
  return switches[code] ?? noStyle
}

/** What follows a 38 or 48, and how many numbers that took. */
const longColour = ([kind, ...rest]: readonly number[]): [number | string | undefined, number] => {
  if (kind === 5) return [indexedColour(rest[0] ?? 0), 2]
  if (kind !== 2) return [undefined, 0]
  return [`${rest.slice(0, 3).map(channel).join(' ')}`, 4]
}

const channel = (value: number): number => Math.min(255, Math.max(0, value))

/** Of the 256: the palette, a cube of 6 x 6 x 6, and 24 greys. */
const indexedColour = (index: number): number | string => {
  if (index < 16) return index
  if (index > 231) {
    const grey = channel(8 + (index - 232) * 10)
    return `${grey} ${grey} ${grey}`
  }
  const step = (part: number) => (part === 0 ? 0 : 55 + part * 40)
  const cell = index - 16
  return [Math.floor(cell / 36), Math.floor(cell / 6) % 6, cell % 6].map(step).join(' ')
}
