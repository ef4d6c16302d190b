import type { TerminalSettings } from './settings.ts'

/** A program's clipboard request (OSC 52). */
export type ClipboardRequest =
  | { kind: 'write'; text: string }
  | { kind: 'too_large'; sizeBytes: number }
  /** Reads are never answered. */
  | { kind: 'read' }

export const maxClipboardBytes = 1024 * 1024

/** Null for anything a browser can't do: other selections, empty or invalid base64. */
export const clipboardRequest = (data: string): ClipboardRequest | null => {
  const at = data.indexOf(';')
  if (at === -1 || !/^[cpqs0-7]*$/.test(data.slice(0, at))) return null
  const selections = data.slice(0, at)
  // Only X11 has a primary selection besides the clipboard.
  if (selections !== '' && !/[cs]/.test(selections)) return null
  const payload = data.slice(at + 1)
  if (payload === '?') return { kind: 'read' }
  const sizeBytes = Math.floor((payload.length * 3) / 4)
  if (sizeBytes > maxClipboardBytes + 2) return { kind: 'too_large', sizeBytes }
  try {
    const bytes = Uint8Array.from(atob(payload), (character) => character.charCodeAt(0))
    const text = new TextDecoder().decode(bytes)
    return text === '' ? null : { kind: 'write', text }
  } catch {
    return null
  }
}

export type ClipboardPolicy = TerminalSettings['clipboardWrites']

const storageKey = 'devdeck:terminal-clipboard'
/** Least recently used entries are dropped. */
const maxKept = 200

type Answers = [devboxId: string, policy: 'always' | 'never'][]

const readAnswers = (): Answers => {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(storageKey) ?? '[]')
    return Array.isArray(stored) ? stored.filter(isAnswer) : []
  } catch {
    return []
  }
}

const isAnswer = (entry: unknown): entry is Answers[number] =>
  Array.isArray(entry) && typeof entry[0] === 'string' && (entry[1] === 'always' || entry[1] === 'never')

/** Remembered answers per devbox. */
export const clipboardAnswers = {
  get: (devboxId: string): ClipboardPolicy | undefined => readAnswers().find(([id]) => id === devboxId)?.[1],
  set: (devboxId: string, policy: 'always' | 'never'): void => {
    const others = readAnswers().filter(([id]) => id !== devboxId)
    write([...others, [devboxId, policy]])
  },
  count: (): number => readAnswers().length,
  forget: (): void => write([]),
}

const write = (answers: Answers) => {
  try {
    localStorage.setItem(storageKey, JSON.stringify(answers.slice(-maxKept)))
  } catch {}
}

/** The devbox's answer overrides the global setting, except for `never`. */
export const clipboardPolicy = (setting: ClipboardPolicy, devboxId: string): ClipboardPolicy =>
  setting === 'never' ? 'never' : (clipboardAnswers.get(devboxId) ?? setting)
