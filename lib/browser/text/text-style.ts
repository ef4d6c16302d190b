export interface TextStyle {
  /** A palette index from 0 to 15, or "red green blue". */
  color?: number | string | undefined
  background?: number | string | undefined
  bold?: boolean
  dim?: boolean
  italic?: boolean
  underline?: boolean
  strike?: boolean
  inverse?: boolean
}

export const noStyle: TextStyle = {}

/** Applies `ESC [ parameters m`. Equal styles are the same object, so that adjacent text can be joined. */
export const styleAfter = (before: TextStyle, parameters: string): TextStyle => {
  const style = changed(before, parameters.split(';'))
  const set = Object.entries(style).filter(([, value]) => value !== undefined && value !== false)
  if (set.length === 0) return noStyle
  const key = JSON.stringify(set.sort())
  // Color gradients create many styles.
  if (styles.size >= 2_000) styles.clear()
  const known = styles.get(key) ?? Object.fromEntries(set)
  styles.set(key, known)
  return known
}

const styles = new Map<string, TextStyle>()

const changed = (before: TextStyle, codes: readonly string[]): TextStyle => {
  let style = before
  for (let at = 0; at < codes.length; at++) {
    const [code = 0, ...sub] = (codes[at] ?? '').split(':').map(Number)
    if (code === 38 || code === 48 || code === 58) {
      const taken = sub.length > 0 ? 0 : codes[at + 1] === '5' ? 2 : codes[at + 1] === '2' ? 4 : 1
      const color = extendedColor(sub.length > 0 ? withoutSpace(sub) : codes.slice(at + 1, at + 1 + taken).map(Number))
      at += taken
      if (color !== undefined && code !== 58) style = { ...style, [code === 38 ? 'color' : 'background']: color }
    } else if (sub.length > 0) {
      // 4:0 to 4:5 are underline styles; no other code has subparameters.
      if (code === 4) style = { ...style, underline: sub[0] !== 0 }
    } else style = code === 0 ? noStyle : { ...style, ...switches[code], ...paletteColor(code) }
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
  39: { color: undefined },
  49: { background: undefined },
}

const paletteColor = (code: number): TextStyle | undefined => {
  if (code >= 30 && code <= 37) return { color: code - 30 }
  if (code >= 90 && code <= 97) return { color: code - 82 }
  if (code >= 40 && code <= 47) return { background: code - 40 }
  if (code >= 100 && code <= 107) return { background: code - 92 }
  return undefined
}

/** Drops the color space of `2::r:g:b`, which `2:r:g:b` lacks. */
const withoutSpace = ([kind = 0, ...rest]: readonly number[]): number[] =>
  kind === 2 && rest.length > 3 ? [kind, ...rest.slice(1)] : [kind, ...rest]

/** Parses `5;n` or `2;r;g;b` after a 38 or 48. */
const extendedColor = ([kind, ...rest]: readonly number[]): TextStyle['color'] => {
  if (kind === 5) return indexedColor(rest[0])
  const parts = rest.slice(0, 3)
  return kind === 2 && parts.length === 3 && parts.every(isByte) ? parts.join(' ') : undefined
}

const isByte = (value: number | undefined): value is number => Number.isInteger(value) && Number(value) >> 8 === 0

/** The 256 colors: the palette, a 6 x 6 x 6 cube and 24 grays. */
const indexedColor = (index: number | undefined): TextStyle['color'] => {
  if (!isByte(index) || index < 16) return isByte(index) ? index : undefined
  const gray = 8 + (index - 232) * 10
  if (index > 231) return `${gray} ${gray} ${gray}`
  const step = (part: number) => (part === 0 ? 0 : 55 + part * 40)
  const cell = index - 16
  return [Math.floor(cell / 36), Math.floor(cell / 6) % 6, cell % 6].map(step).join(' ')
}

const palette = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white']
const named = (index: number) => `var(--terminal-${index > 7 ? 'bright-' : ''}${palette[index % 8]})`

// Mixed with the page's colors to stay legible in both themes.
const foregroundCss = (color: number | string) =>
  typeof color === 'number'
    ? `color-mix(in oklab, ${named(color)} 55%, var(--text))`
    : `color-mix(in oklab, rgb(${color}) 25%, var(--text))`
const backgroundCss = (color: number | string) =>
  `color-mix(in oklab, ${typeof color === 'number' ? named(color) : `rgb(${color})`} 18%, var(--surface-0))`

export const cssOf = (style: TextStyle) => {
  const { color, background, bold, dim, italic, underline, strike, inverse } = style
  if (!Object.values(style).some((value) => value !== undefined && value !== false)) return undefined
  const [front, back] = inverse ? [background, color ?? 8] : [color, background]
  return {
    color: front !== undefined ? foregroundCss(front) : dim ? 'var(--text-muted)' : undefined,
    backgroundColor: back !== undefined ? backgroundCss(back) : undefined,
    fontWeight: bold ? 600 : undefined,
    fontStyle: italic ? 'italic' : undefined,
    textDecoration: [underline && 'underline', strike && 'line-through'].filter(Boolean).join(' ') || undefined,
  }
}
