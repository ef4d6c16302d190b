import { styleAfter, type TextStyle } from '../frame/text-style.ts'

export interface StyledSpan {
  text: string
  style: TextStyle
}

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
