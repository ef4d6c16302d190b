/** How a program asked for its text to look, for text that is shown outside of a terminal. */
export interface TextStyle {
  /** 0 to 15 is the terminal's own palette; otherwise red, green and blue. */
  colour?: number | string | undefined
  background?: number | string | undefined
  bold?: boolean
  dim?: boolean
  italic?: boolean
  underline?: boolean
  strike?: boolean
  inverse?: boolean
}

export const noStyle: TextStyle = {}

/** The style after a sequence `ESC [ parameters m`. Parameters that are not understood change nothing. */
export const styleAfter = (before: TextStyle, parameters: string): TextStyle => {
  const codes = parameters.split(/[;:]/).map(Number)
  let style = before
  for (let i = 0; i < codes.length; i++) {
    const code = codes[i] ?? 0
    if (code === 38 || code === 48) {
      const [colour, taken] = extendedColour(codes.slice(i + 1))
      i += taken
      if (colour !== undefined) style = { ...style, [code === 38 ? 'colour' : 'background']: colour }
    } else style = code === 0 ? noStyle : { ...style, ...changeOf(code) }
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
  21: { underline: true },
  22: { bold: false, dim: false },
  23: { italic: false },
  24: { underline: false },
  27: { inverse: false },
  29: { strike: false },
  39: { colour: undefined },
  49: { background: undefined },
}

const changeOf = (code: number): TextStyle => {
  if (code >= 30 && code <= 37) return { colour: code - 30 }
  if (code >= 90 && code <= 97) return { colour: code - 82 }
  if (code >= 40 && code <= 47) return { background: code - 40 }
  if (code >= 100 && code <= 107) return { background: code - 92 }
  return switches[code] ?? noStyle
}

/** The colour that `5;n` or `2;r;g;b` after a 38 or 48 names, and how many parameters that took. */
const extendedColour = ([kind, ...rest]: readonly number[]): [TextStyle['colour'], number] => {
  if (kind === 5) return [indexedColour(rest[0]), 2]
  if (kind !== 2) return [undefined, 1]
  const parts = rest.slice(0, 3)
  return [parts.length === 3 && parts.every(isByte) ? parts.join(' ') : undefined, 4]
}

const isByte = (value: number | undefined): value is number => Number.isInteger(value) && Number(value) >> 8 === 0

/** Of the 256: the palette, a cube of 6 x 6 x 6, and 24 greys. */
const indexedColour = (index: number | undefined): TextStyle['colour'] => {
  if (!isByte(index) || index < 16) return isByte(index) ? index : undefined
  if (index > 231)
    return Array(3)
      .fill(8 + (index - 232) * 10)
      .join(' ')
  const step = (part: number) => (part === 0 ? 0 : 55 + part * 40)
  const cell = index - 16
  return [Math.floor(cell / 36), Math.floor(cell / 6) % 6, cell % 6].map(step).join(' ')
}

const palette = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white']
const named = (index: number) => `var(--terminal-${index > 7 ? 'bright-' : ''}${palette[index % 8]})`

// A colour of the program's own choice is drawn towards the text's, and a background towards the page's: both stay
// legible in either theme.
const inkOf = (colour: number | string) =>
  typeof colour === 'number'
    ? `color-mix(in oklab, ${named(colour)} 55%, var(--text))`
    : `color-mix(in oklab, rgb(${colour}) 25%, var(--text))`
const groundOf = (colour: number | string) =>
  `color-mix(in oklab, ${typeof colour === 'number' ? named(colour) : `rgb(${colour})`} 18%, var(--surface-0))`

/** The style as React takes it; undefined for plain text. */
export const cssOf = (style: TextStyle) => {
  const { colour, background, bold, dim, italic, underline, strike, inverse } = style
  if (!Object.values(style).some((value) => value !== undefined && value !== false)) return undefined
  const [ink, ground] = inverse ? [background, colour ?? 8] : [colour, background]
  return {
    color: ink !== undefined ? inkOf(ink) : dim ? 'var(--text-muted)' : undefined,
    backgroundColor: ground !== undefined ? groundOf(ground) : undefined,
    fontWeight: bold ? 600 : undefined,
    fontStyle: italic ? 'italic' : undefined,
    textDecoration: [underline && 'underline', strike && 'line-through'].filter(Boolean).join(' ') || undefined,
  }
}
