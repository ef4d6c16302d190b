import { type FoundSecret, findSecrets } from './secrets-in-text.ts'
import type { TerminalSettings } from './settings.ts'

/** Longer pastes need confirmation: they are often the wrong clipboard. */
const largePasteLength = 100_000

/** Removes control characters except tabs and line ends, in particular the end of a bracketed paste. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed
export const cleanPaste = (text: string): string => text.replace(/[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/g, '')

export type PasteReason = 'lines' | 'size' | 'secret' | 'hidden'

export interface PasteQuestion {
  text: string
  reasons: readonly PasteReason[]
  lines: number
  secrets: readonly FoundSecret[]
}

export interface PasteCircumstances {
  policy: TerminalSettings['pasteWarning']
  /** The program uses bracketed paste, so lines don't run as they arrive. */
  isBracketed: boolean
  isRecorded: boolean
}

export const pasteQuestion = (
  text: string,
  { policy, isBracketed, isRecorded }: PasteCircumstances,
): PasteQuestion | null => {
  const lines = lineCount(text)
  const asksForLines =
    // A single copied line with its line end is unsurprising unless it runs by itself.
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

/** Direction overrides and invisible tags, which can disguise a command. */
const disguising = /[\u202A-\u202E\u2066-\u2069\u2028\u2029\u{E0000}-\u{E007F}]/u

const lineCount = (text: string): number => text.replace(/(?:\r\n|\r|\n)$/, '').split(/\r\n|\r|\n/).length

/** Joins lines with spaces, and backslash continuations as a shell would. */
export const asOneLine = (text: string): string => {
  const lines = text.split(/\r\n|\r|\n/).map((line) => line.trim())
  return lines
    .map((line, at) => (at < lines.length - 1 && /(?<!\\)(?:\\\\)*\\$/.test(line) ? line.slice(0, -1).trimEnd() : line))
    .filter((line) => line !== '')
    .join(' ')
}

/** Text that can be inserted at a prompt without running, or null: without bracketed paste every line would run. */
export const promptText = (text: string, { bracketedPaste }: { bracketedPaste: boolean }): string | null => {
  const clean = cleanPaste(text).replace(/[\r\n]+$/, '')
  if (clean === '') return null
  if (bracketedPaste) return clean
  // A typed tab would trigger completion.
  return /[\r\n]/.test(clean) ? null : clean.replaceAll('\t', ' ')
}
