/** `text` in at most `max` characters, the middle left out: both ends of an id tell it from its neighbours. */
export const shortenMiddle = (text: string, max: number): string => {
  const characters = [...text]
  if (characters.length <= max) return text
  const tail = Math.floor((max - 1) / 2)
  return `${characters.slice(0, max - 1 - tail).join('')}…${characters.slice(-tail).join('')}`
}

/** The first `max` UTF-16 units of `text`, never half a character; an ellipsis says that more follows. */
export const cutEnd = (text: string, max: number): string => {
  if (text.length <= max) return text
  const end = /[\uD800-\uDBFF]/.test(text.charAt(max - 1)) ? max - 1 : max
  return `${text.slice(0, end)}…`
}

export interface TextPiece {
  /** Where it starts in the whole. */
  at: number
  text: string
  /** Set when `text` stands for a character that has no shape of its own or that moves its neighbours. */
  codePoint?: string
}

/**
 * Text from outside, split so that nothing in it acts unseen: controls, bidi overrides, zero-width and line-breaking
 * characters become pieces that name them. Joiners and variation selectors stay, as emoji and several scripts need them,
 * and so do the characters of `layout`, which lay out a text where white space is kept.
 */
export const visiblePieces = (text: string, layout = ''): TextPiece[] => {
  const pieces: TextPiece[] = []
  let end = 0
  for (const match of text.matchAll(hidden)) {
    if (layout.includes(match[0])) continue
    if (match.index > end) pieces.push({ at: end, text: text.slice(end, match.index) })
    const codePoint = `U+${(match[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
    pieces.push({ at: match.index, text: symbols[match[0]] ?? codePoint, codePoint })
    end = match.index + match[0].length
  }
  if (end < text.length) pieces.push({ at: end, text: text.slice(end) })
  return pieces
}

const hidden = /[[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]--[\u200C\u200D\u{E0020}-\u{E007F}]]/gv
/** JSON with every hidden character escaped: the same document, but nothing in it can disguise itself. */
export const visibleJson = (value: unknown): string =>
  JSON.stringify(value, null, 2).replace(hidden, (character) =>
    // The only line breaks JSON text has are those of its layout.
    character === '\n'
      ? character
      : [...Array(character.length).keys()]
          .map((at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`)
          .join(''),
  )

const symbols: Record<string, string> = { '\n': '↵', '\r': '␍', '\t': '⇥', '\0': '␀', '\u001B': '␛' }
