import { type FoundSecret, findSecrets } from './secrets-in-text.ts'
import type { TerminalSettings } from './settings.ts'

/** A paste this long is asked about: it keeps a shell busy for a while, and is often the wrong clipboard. */
const largePasteLength = 100_000

/**
 * Pasted text without the control characters a keyboard would not send by accident, above all the escape that ends a
 * bracketed paste. Tabs and line ends stay.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed
export const cleanPaste = (text: string): string => text.replace(/[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/g, '')

export type PasteReason = 'lines' | 'size' | 'secret' | 'hidden'

/** A paste that somebody has to say yes to. */
export interface PasteQuestion {
  text: string
  /** Why it is asked; the first is the weightiest. */
  reasons: readonly PasteReason[]
  lines: number
  secrets: readonly FoundSecret[]
}

export interface PasteCircumstances {
  policy: TerminalSettings['pasteWarning']
  /** The program in the terminal takes a paste as a whole, and does not run its lines as they come. */
  isBracketed: boolean
  isRecorded: boolean
}

/** Whether a paste, already cleaned, goes through at once: then null. */
export const pasteQuestion = (
  text: string,
  { policy, isBracketed, isRecorded }: PasteCircumstances,
): PasteQuestion | null => {
  const lines = lineCount(text)
  const asksForLines =
    // One whole line with its end is what a copied line is; where it does not run by itself it is no surprise.
    (policy === 'always' && (lines > 1 || (/[\r\n]/.test(text) && !isBracketed))) ||
    (policy === 'unbracketed' && lines > 1 && !isBracketed)
  const secrets = findSecrets(text)
  const reasons: PasteReason[] = []
  if (isRecorded && secrets.length > 0) reasons.push('secret')
  if (asksForLines) reasons.push('lines')
  if (text.length > largePasteLength) reasons.push('size')
  if (policy !== 'never' && disguising.test(text)) reasons.push('hidden')
  return reasons.length > 0 ? { text, reasons, lines, secrets } : null
}

/** Characters that make a command look like another: overrides of direction and invisible tags, but no joiners. */
const disguising = /[\u202A-\u202E\u2066-\u2069\u2028\u2029\u{E0000}-\u{E007F}]/u

/** Lines as people count them: an end after the last one makes none. */
export const lineCount = (text: string): number => text.replace(/(?:\r\n|\r|\n)$/, '').split(/\r\n|\r|\n/).length

/** The lines joined by blanks, those with a backslash at their end as a shell joins them. */
export const asOneLine = (text: string): string => {
  const lines = text.split(/\r\n|\r|\n/).map((line) => line.trim())
  return lines
    .map((line, at) => (at < lines.length - 1 && /(?<!\\)(?:\\\\)*\\$/.test(line) ? line.slice(0, -1).trimEnd() : line))
    .filter((line) => line !== '')
    .join(' ')
}

/**
 * `text` as it may be put on a prompt line without anything being run, or null: a program that does not tell a paste
 * from typing (no bracketed paste) runs each line it is given.
 */
export const promptText = (text: string, { bracketedPaste }: { bracketedPaste: boolean }): string | null => {
  const clean = cleanPaste(text).replace(/[\r\n]+$/, '')
  if (clean === '') return null
  if (bracketedPaste) return clean
  // A tab typed at a prompt completes what stands before it.
  return /[\r\n]/.test(clean) ? null : clean.replaceAll('\t', ' ')
}
