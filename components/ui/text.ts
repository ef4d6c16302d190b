/** Shortens the middle: IDs differ at both ends. */
export const shortenMiddle = (text: string, max: number): string => {
  const characters = [...text]
  if (characters.length <= max) return text
  const tail = Math.floor((max - 1) / 2)
  return `${characters.slice(0, max - 1 - tail).join('')}…${characters.slice(-tail).join('')}`
}

/** Cuts to `max` UTF-16 units without splitting a character, and appends an ellipsis. */
export const cutEnd = (text: string, max: number): string => {
  if (text.length <= max) return text
  const end = /[\uD800-\uDBFF]/.test(text.charAt(max - 1)) ? max - 1 : max
  return `${text.slice(0, end)}…`
}

export interface TextPiece {
  at: number
  text: string
  /** Set if `text` stands for an invisible character or one that moves its neighbors. */
  codePoint?: string
}

/** Makes control, bidi and zero-width characters visible; keeps joiners, which emoji need, and those in `layout`. */
export const visiblePieces = (text: string, layout = ''): TextPiece[] => {
  const pieces: TextPiece[] = []
  let end = 0
  for (const match of text.matchAll(hiddenCharacters)) {
    if (layout.includes(match[0])) continue
    if (match.index > end) pieces.push({ at: end, text: text.slice(end, match.index) })
    const codePoint = `U+${(match[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
    pieces.push({ at: match.index, text: symbols[match[0]] ?? codePoint, codePoint })
    end = match.index + match[0].length
  }
  if (end < text.length) pieces.push({ at: end, text: text.slice(end) })
  return pieces
}

/** Control, bidi and zero-width characters. */
export const hiddenCharacters = /[[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]--[\u200C\u200D\u{E0020}-\u{E007F}]]/gv
/** JSON with invisible characters escaped. */
export const visibleJson = (value: unknown): string =>
  JSON.stringify(value, null, 2).replace(hiddenCharacters, (character) =>
    character === '\n'
      ? character
      : [...Array(character.length).keys()]
          .map((at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`)
          .join(''),
  )

const symbols: Record<string, string> = { '\n': '↵', '\r': '␍', '\t': '⇥', '\0': '␀', '\u001B': '␛' }
