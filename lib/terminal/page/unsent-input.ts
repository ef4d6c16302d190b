/** What was typed while nothing could be sent. It is sent when the person says so. */
export interface UnsentInput {
  text: string
  /** Something did not fit and is lost, and with it all that came after: a gap would change what the rest does. */
  isFull: boolean
  /** The shell it was typed for is gone. */
  isForAnotherShell: boolean
  /** Part of it was sent over a connection that was lost, and nobody knows whether it arrived. */
  mayHaveArrived: boolean
}

export const noUnsentInput: UnsentInput = { text: '', isFull: false, isForAnotherShell: false, mayHaveArrived: false }

/** About ten command lines. More is a paste, which can be pasted again. */
export const maxUnsentBytes = 1024

const encoder = new TextEncoder()

/** A piece is kept whole or not at all. */
export const keepInput = (unsent: UnsentInput, piece: string): UnsentInput => {
  const text = unsent.text + piece
  return unsent.isFull || encoder.encode(text).length > maxUnsentBytes
    ? { ...unsent, isFull: true }
    : { ...unsent, text }
}

export interface TypedSign {
  sign: string
  /** A key or control character, not text. */
  isControl: boolean
}

/** What was typed as it can be shown, one entry per key: keys and control characters become signs. */
export const typedSigns = (text: string): TypedSign[] =>
  text.split(keySequence).flatMap((part, index) => {
    const pieces = index % 2 === 1 ? [part] : Array.from(characters.segment(part), ({ segment }) => segment)
    return pieces.map((piece) => {
      const sign = keySigns[piece] ?? controlSign(piece)
      return sign === undefined ? { sign: piece, isControl: false } : { sign, isControl: true }
    })
  })

const characters = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

/** The sequence that a key sends where it has no character. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it begins with one
const keySequence = /(\x1b(?:\[[0-9;?<]*[~A-Za-z]|O[A-Za-z]))/

const keySigns: Record<string, string> = {
  '\r': '⏎',
  '\n': '⏎',
  '\r\n': '⏎',
  '\t': '⇥',
  '\x7f': '⌫',
  '\x1b': 'Esc',
  '\x1b[A': '↑',
  '\x1b[B': '↓',
  '\x1b[C': '→',
  '\x1b[D': '←',
  '\x1bOA': '↑',
  '\x1bOB': '↓',
  '\x1bOC': '→',
  '\x1bOD': '←',
  '\x1b[Z': '⇤',
  '\x1b[H': 'Home',
  '\x1b[F': 'End',
  '\x1bOH': 'Home',
  '\x1bOF': 'End',
  '\x1b[2~': 'Ins',
  '\x1b[3~': 'Del',
  '\x1b[5~': 'PgUp',
  '\x1b[6~': 'PgDn',
  // These surround a paste into a program that has asked for it (bracketed paste).
  '\x1b[200~': '⟨',
  '\x1b[201~': '⟩',
}

const controlSign = (piece: string): string | undefined => {
  const code = piece.codePointAt(0) ?? 0
  if (piece.startsWith('\x1b')) return `Esc${piece.slice(1)}`
  if (code < 0x20) return `^${String.fromCharCode(code + 0x40)}`
  return code >= 0x80 && code < 0xa0 ? '�' : undefined
}
