/** What a number of the settings may be; the fields of the dialog and the reader of what is stored hold to it. */
export const terminalLimits = {
  fontSize: { min: 8, max: 32 },
  lineHeight: { min: 1, max: 2 },
  // The console's mirror of a shell restores as many lines as a page asks for, and has memory for these.
  scrollback: { min: 1_000, max: 10_000 },
} as const

/** xterm's own list, and the quotes and bars that programs draw around names. */
const wordSeparators = ' ()[]{}\',"`│┃'

type Reader<T> = (stored: unknown) => T

const number =
  ({ min, max }: { min: number; max: number }, fallback: number): Reader<number> =>
  (stored) =>
    typeof stored === 'number' && stored >= min && stored <= max ? stored : fallback
const whole =
  (limits: { min: number; max: number }, fallback: number): Reader<number> =>
  (stored) =>
    Number.isInteger(stored) ? number(limits, fallback)(stored) : fallback
const choice =
  <const Values extends readonly unknown[]>(values: Values, fallback: Values[number]): Reader<Values[number]> =>
  (stored) =>
    values.includes(stored) ? stored : fallback
const flag = (fallback: boolean) => choice([true, false], fallback)
const text =
  (pattern: RegExp, fallback: string): Reader<string> =>
  (stored) =>
    typeof stored === 'string' && pattern.test(stored) ? stored : fallback

/**
 * Every field stands for itself: what is missing or makes no sense in a store is as if it had never been set. Read
 * without zod, which takes longer to load than all else that stands before a prompt.
 */
const readers = {
  fontSize: number(terminalLimits.fontSize, 13),
  /** Name of a font on this computer; empty for the console's own. */
  fontFamily: text(/^[\p{L}\p{N} ._-]{0,80}$/u, ''),
  ligatures: flag(false),
  lineHeight: number(terminalLimits.lineHeight, 1.25),
  scrollback: whole(terminalLimits.scrollback, 2_000),
  cursorStyle: choice(['block', 'bar', 'underline'], 'block'),
  cursorBlink: flag(true),
  bell: choice(['visual', 'sound', 'none'], 'visual'),
  copyOnSelect: flag(false),
  rightClick: choice(['menu', 'paste', 'browser'], 'menu'),
  theme: choice(['app', 'dark', 'light'], 'app'),
  // Programs choose colours for a background they do not know.
  minimumContrast: choice([1, 3, 4.5, 7], 4.5),
  wordSeparators: text(/^.{0,80}$/s, wordSeparators),
  linkClick: choice(['modifier', 'plain'], 'modifier'),
  optionIsMeta: flag(true),
  screenReader: flag(false),
  pasteWarning: choice(['always', 'unbracketed', 'never'], 'always'),
  clipboardWrites: choice(['ask', 'always', 'never'], 'ask'),
  renderer: choice(['auto', 'webgl', 'dom'], 'auto'),
}

export type TerminalSettings = { [Name in keyof typeof readers]: ReturnType<(typeof readers)[Name]> }

const readAll = (stored: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(readers).map(([name, read]) => [name, read(stored[name])])) as TerminalSettings

export const defaultTerminalSettings: TerminalSettings = readAll({})

/** What was stored, as far as it makes sense; all of it may be from another version or another hand. */
export const readTerminalSettings = (stored: string | null): TerminalSettings => {
  try {
    return readAll(Object(JSON.parse(stored ?? '{}')))
  } catch {
    return defaultTerminalSettings
  }
}

const storageKey = 'devdeck:terminal'

const stored = (): TerminalSettings => {
  try {
    return readTerminalSettings(localStorage.getItem(storageKey))
  } catch {
    // Storage may be switched off, and there is none on the server.
    return defaultTerminalSettings
  }
}

let current: TerminalSettings | undefined
const listeners = new Set<() => void>()
const tell = () => {
  for (const listener of listeners) listener()
}
globalThis.addEventListener?.('storage', ({ key }) => {
  if (key !== storageKey && key !== null) return
  current = undefined
  tell()
})

/** How this browser's user wants terminals to be: one for all of them, in every window. */
export const terminalSettings = {
  get: (): TerminalSettings => {
    current ??= stored()
    return current
  },
  change: (change: Partial<TerminalSettings>): void => {
    current = { ...terminalSettings.get(), ...change }
    try {
      localStorage.setItem(storageKey, JSON.stringify({ version: 1, ...current }))
    } catch {
      // Full or switched off: then it holds for as long as the page.
    }
    tell()
  },
  reset: (): void => terminalSettings.change(defaultTerminalSettings),
  subscribe: (listener: () => void): (() => void) => {
    listeners.add(listener)
    return () => void listeners.delete(listener)
  },
}

/** The family as CSS takes it. `own` is the console's, which also draws what the chosen one does not have. */
export const fontFamilyCss = (name: string, own: string): string => (name === '' ? own : `"${name}", ${own}`)

/** Why a typed number is none for this field; null when it is one. */
export const numberProblem = (text: string, { min, max }: { min: number; max: number }, whole = false) => {
  const value = Number(text.trim().replace(',', '.'))
  if (text.trim() === '' || !Number.isFinite(value)) return `Type a number from ${min} to ${max}`
  if (whole && !Number.isInteger(value)) return 'Type a whole number'
  return value < min || value > max ? `It can be from ${min} to ${max}` : null
}
