export const terminalLimits = {
  fontSize: { min: 8, max: 32 },
  lineHeight: { min: 1, max: 2 },
  // The mirror has memory for this many lines.
  scrollback: { min: 1_000, max: 10_000 },
} as const

/** xterm's list plus the quotes and bars programs draw around names. */
const wordSeparators = ' ()[]{}\',"`│┃'

const number =
  ({ min, max }: { min: number; max: number }, fallback: number) =>
  (stored: unknown) =>
    typeof stored === 'number' && stored >= min && stored <= max ? stored : fallback
const choice =
  <const Values extends readonly unknown[]>(values: Values, fallback: Values[number]) =>
  (stored: unknown): Values[number] =>
    values.includes(stored) ? stored : fallback
const flag = (fallback: boolean) => choice([true, false], fallback)
const text = (pattern: RegExp, fallback: string) => (stored: unknown) =>
  typeof stored === 'string' && pattern.test(stored) ? stored : fallback

/** Invalid or missing fields fall back to their defaults. Read without zod to keep the first load small. */
const readers = {
  fontSize: number(terminalLimits.fontSize, 13),
  fontFamily: text(/^[\p{L}\p{N} ._-]{0,80}$/u, ''),
  ligatures: flag(false),
  lineHeight: number(terminalLimits.lineHeight, 1.25),
  scrollback: number(terminalLimits.scrollback, 2_000),
  cursorStyle: choice(['block', 'bar', 'underline'], 'block'),
  cursorBlink: flag(true),
  bell: choice(['visual', 'none'], 'visual'),
  copyOnSelect: flag(false),
  rightClick: choice(['menu', 'paste', 'browser'], 'menu'),
  theme: choice(['app', 'dark', 'light'], 'app'),
  // Programs choose colors without knowing the background.
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

export const readTerminalSettings = (stored: () => string | null): TerminalSettings => {
  try {
    return readAll(Object(JSON.parse(stored() ?? '{}')))
  } catch {
    return defaultTerminalSettings
  }
}

const storageKey = 'devdeck:terminal'

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

export const terminalSettings = {
  get: (): TerminalSettings => {
    current ??= readTerminalSettings(() => localStorage.getItem(storageKey))
    return current
  },
  change: (change: Partial<TerminalSettings>): void => {
    current = { ...terminalSettings.get(), ...change }
    try {
      localStorage.setItem(storageKey, JSON.stringify({ version: 1, ...current }))
    } catch {}
    tell()
  },
  reset: (): void => terminalSettings.change(defaultTerminalSettings),
  subscribe: (listener: () => void): (() => void) => {
    listeners.add(listener)
    return () => void listeners.delete(listener)
  },
}

/** CSS font family; `own` also provides missing glyphs. */
export const fontFamilyCss = (name: string, own: string): string => (name === '' ? own : `"${name}", ${own}`)

export const numberProblem = (text: string, { min, max }: { min: number; max: number }, whole = false) => {
  const value = Number(text.trim().replace(',', '.'))
  if (text.trim() === '' || !Number.isFinite(value)) return `Enter a number from ${min} to ${max}`
  if (whole && !Number.isInteger(value)) return 'Enter a whole number'
  return value < min || value > max ? `Must be between ${min} and ${max}` : null
}
