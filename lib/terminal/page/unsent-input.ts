/** Input typed without a connection. The user decides whether to send it. */
export interface UnsentInput {
  text: string
  /** Input over the limit is dropped with everything after it, because a gap would change its meaning. */
  isFull: boolean
  isForAnotherShell: boolean
  /** Part of it was sent on a connection that was lost, and may have arrived. */
  mayHaveArrived: boolean
}

export const noUnsentInput: UnsentInput = { text: '', isFull: false, isForAnotherShell: false, mayHaveArrived: false }

/** About ten command lines. Anything longer is a paste, which can be repeated. */
export const maxUnsentBytes = 1024

const encoder = new TextEncoder()

/** Keeps a piece whole or not at all. */
export const keepInput = (unsent: UnsentInput, piece: string): UnsentInput => {
  const text = unsent.text + piece
  return unsent.isFull || encoder.encode(text).length > maxUnsentBytes
    ? { ...unsent, isFull: true }
    : { ...unsent, text }
}

export interface TypedSign {
  sign: string
  isControl: boolean
}

export const typedSigns = (text: string): TypedSign[] =>
  text.split(keySequence).flatMap((part, index) => {
    const pieces = index % 2 === 1 ? [part] : Array.from(characters.segment(part), ({ segment }) => segment)
    return pieces.map((piece) => {
      const sign = keySigns[piece] ?? sequenceSigns[piece.slice(2)] ?? controlSign(piece)
      return sign === undefined ? { sign: piece, isControl: false } : { sign, isControl: true }
    })
  })

const characters = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

// biome-ignore lint/suspicious/noControlCharactersInRegex: it begins with one
const keySequence = /(\x1b(?:\[[0-9;?<]*[~A-Za-z]|O[A-Za-z]))/

const keySigns: Record<string, string> = {
  '\r': '⏎',
  '\n': '⏎',
  '\r\n': '⏎',
  '\t': '⇥',
  '\x7f': '⌫',
  '\x1b': 'Esc',
}
/** Without the prefix `ESC [` or `ESC O`. */
const sequenceSigns: Record<string, string> = {
  A: '↑',
  B: '↓',
  C: '→',
  D: '←',
  H: 'Home',
  F: 'End',
  Z: '⇤',
  '2~': 'Ins',
  '3~': 'Del',
  '5~': 'PgUp',
  '6~': 'PgDn',
  // Delimiters of a bracketed paste.
  '200~': '⟨',
  '201~': '⟩',
}

const controlSign = (piece: string): string | undefined => {
  const code = piece.codePointAt(0) ?? 0
  if (piece.startsWith('\x1b')) return `Esc${piece.slice(1)}`
  if (code < 0x20) return `^${String.fromCharCode(code + 0x40)}`
  return code >= 0x80 && code < 0xa0 ? '�' : undefined
}
