/** How a program asked for its text to look, in CSS. */
export interface TextStyle {
  readonly colour?: string
  readonly background?: string
  readonly isBold?: boolean
  readonly isDim?: boolean
  readonly isItalic?: boolean
  readonly isUnderlined?: boolean
  readonly isStruck?: boolean
  readonly isInverse?: boolean
}

export interface StyledSpan {
  text: string
  style: TextStyle
}

export const plain: TextStyle = {}

/** Whatever a terminal would act on instead of showing it: CSI, OSC, DCS and the like, and short escapes. */
const sequence =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  /\x1b\[([0-?]*)[ -/]*([@-~])|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[PX^_][^\x1b]*(?:\x1b\\)?|\x1b[ -/]*[0-OQ-WYZ`-~]/g

/**
 * A line of a log as text with its looks. Sequences that ask for anything but a look are dropped; nothing of a line is
 * ever markup. `end` is the look in which the next line begins.
 */
export const styledLine = (line: string, start: TextStyle): { spans: StyledSpan[]; end: TextStyle } => {
  const spans: StyledSpan[] = []
  let style = start
  let at = 0
  const add = (text: string) => {
    if (text !== '') spans.push({ text, style })
  }
  for (const match of line.matchAll(sequence)) {
    add(line.slice(at, match.index))
    at = match.index + match[0].length
    if (match[2] === 'm') style = styleAfter(style, match[1] ?? '')
  }
  add(line.slice(at))
  return { spans, end: style }
}

const names = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white']

const styleAfter = (before: TextStyle, parameters: string): TextStyle => {
  const codes = parameters.split(/[;:]/).map(Number)
  let style = before
  for (let i = 0; i < codes.length; i++) {
    const code = codes[i] ?? 0
    if (code === 38 || code === 48) {
      const [colour, taken] = extendedColour(codes, i + 1)
      i += taken
      if (colour !== undefined) style = code === 38 ? { ...style, colour } : { ...style, background: colour }
    } else style = simple(style, code)
  }
  return style
}

const simple = (style: TextStyle, code: number): TextStyle => {
  if (code === 0) return plain
  if (code === 1) return { ...style, isBold: true }
  if (code === 2) return { ...style, isDim: true }
  if (code === 3) return { ...style, isItalic: true }
  if (code === 4 || code === 21) return { ...style, isUnderlined: true }
  if (code === 7) return { ...style, isInverse: true }
  if (code === 9) return { ...style, isStruck: true }
  if (code === 22) return { ...style, isBold: false, isDim: false }
  if (code === 23) return { ...style, isItalic: false }
  if (code === 24) return { ...style, isUnderlined: false }
  if (code === 27) return { ...style, isInverse: false }
  if (code === 29) return { ...style, isStruck: false }
  if (code === 39) return without(style, 'colour')
  if (code === 49) return without(style, 'background')
  if (code >= 30 && code <= 37) return { ...style, colour: paletteColour(code - 30) }
  if (code >= 90 && code <= 97) return { ...style, colour: paletteColour(code - 82) }
  if (code >= 40 && code <= 47) return { ...style, background: paletteColour(code - 40) }
  if (code >= 100 && code <= 107) return { ...style, background: paletteColour(code - 92) }
  return style
}

const without = (style: TextStyle, name: 'colour' | 'background'): TextStyle => {
  const { [name]: _, ...rest } = style
  return rest
}

/** The colour that `38;5;n` or `38;2;r;g;b` names, and how many parameters that took. */
const extendedColour = (codes: readonly number[], at: number): [colour: string | undefined, taken: number] => {
  if (codes[at] === 5) return [paletteColour(codes[at + 1] ?? -1), 2]
  if (codes[at] !== 2) return [undefined, 1]
  const parts = codes.slice(at + 1, at + 4)
  const isColour = parts.length === 3 && parts.every((part) => Number.isInteger(part) && part >= 0 && part <= 255)
  return [isColour ? `rgb(${parts.join(' ')})` : undefined, 4]
}

/** Of the 256: sixteen of the theme, a cube of six by six by six, twenty-four greys. */
const paletteColour = (index: number): string | undefined => {
  if (!Number.isInteger(index) || index < 0 || index > 255) return undefined
  if (index < 16) return `var(--terminal-${index > 7 ? 'bright-' : ''}${names[index % 8]})`
  if (index >= 232)
    return `rgb(${Array(3)
      .fill(8 + (index - 232) * 10)
      .join(' ')})`
  const steps = [Math.floor((index - 16) / 36), Math.floor((index - 16) / 6) % 6, (index - 16) % 6]
  return `rgb(${steps.map((step) => (step === 0 ? 0 : 55 + step * 40)).join(' ')})`
}
