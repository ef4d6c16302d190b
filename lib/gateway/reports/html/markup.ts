/** HTML whose values are escaped. */
export class Markup {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

type Part = Markup | string | number | null | undefined | false | readonly Part[]

/** Template tag that escapes every value except markup. */
export const html = (literals: TemplateStringsArray, ...parts: readonly Part[]): Markup =>
  new Markup(literals.map((literal, at) => literal + (at < parts.length ? textOf(parts[at]) : '')).join(''))

const textOf = (part: Part): string => {
  if (part instanceof Markup) return part.text
  if (Array.isArray(part)) return part.map(textOf).join('')
  return part === null || part === undefined || part === false ? '' : escaped(String(part))
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

/** Control and bidi characters are dropped: they could hide or reorder the text around them. */
const escaped = (text: string): string =>
  text
    .toWellFormed()
    // biome-ignore lint/suspicious/noControlCharactersInRegex: matches control characters
    .replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f]|\p{Bidi_Control}/gu, '')
    .replace(/[&<>"']/g, (sign) => entities[sign] ?? '')
