import { useSyncExternalStore } from 'react'
import { isMac, type PressedKey } from '#lib/terminal/page/shortcuts.ts'
import { browserStore } from './saved-list.ts'

/**
 * Keyboard shortcuts of the console, which a user can change in Settings.
 *
 * Keys are text: `ctrl+shift+f`, or two keys one after the other, `g d`. Modifiers come in the order of `modifiers`. `mod` in a
 * default is Command on a Mac and Ctrl elsewhere. Names of keys are those of `KeyboardEvent.key` in lower case, and `space`, `plus`.
 *
 * Code that handles a shortcut calls `isShortcut(id, event)` for each key press, or `terminalActionOf(event)` for the terminal's.
 * Menus and hints show `useShortcutKeys(id)` with `<Keys keys={…} />`. Keys that are not in this table stay where they are handled:
 * those of a focused control (arrows in a menu, F2 on a tab), and the platform's own (Ctrl+C with a selection, Ctrl+V, F3).
 */
const table = {
  'palette.open': { label: 'Open the command palette', scope: 'console', keys: 'mod+k' },
  'help.open': { label: 'Show keyboard shortcuts', scope: 'console', keys: '?' },
  'list.search': { label: 'Focus the list filter', scope: 'list', keys: '/' },
  'list.next': { label: 'Next row', scope: 'list', keys: 'j' },
  'list.previous': { label: 'Previous row', scope: 'list', keys: 'k' },
  'list.select': { label: 'Select the row; with Shift, the range', scope: 'list', keys: 'x' },
  'compare.next-disagreement': { label: 'Next disagreement', scope: 'compare', keys: 'n' },
  'compare.previous-disagreement': { label: 'Previous disagreement', scope: 'compare', keys: 'p' },
  'compare.next-step': { label: 'Next step', scope: 'compare', keys: 'j' },
  'compare.previous-step': { label: 'Previous step', scope: 'compare', keys: 'k' },
  'compare.open-scenario': { label: 'Open the scenario', scope: 'compare', keys: 'o' },
  'terminal.leave': { label: 'Leave the terminal', scope: 'terminal', keys: 'ctrl+shift+x' },
  'terminal.copy': { label: 'Copy selection', scope: 'terminal', keys: 'ctrl+shift+c', mac: 'meta+c' },
  'terminal.find': { label: 'Find', scope: 'terminal', keys: 'ctrl+shift+f', mac: 'meta+f' },
  'terminal.find-next': { label: 'Next match', scope: 'terminal', keys: 'f3', mac: 'meta+g' },
  'terminal.find-previous': { label: 'Previous match', scope: 'terminal', keys: 'shift+f3', mac: 'shift+meta+g' },
  'terminal.previous-command': { label: 'Go to the previous command', scope: 'terminal', keys: 'ctrl+arrowup' },
  'terminal.next-command': { label: 'Go to the next command', scope: 'terminal', keys: 'ctrl+arrowdown' },
  'terminal.larger': { label: 'Larger text', scope: 'terminal', keys: 'mod+plus' },
  'terminal.smaller': { label: 'Smaller text', scope: 'terminal', keys: 'mod+-' },
  'terminal.default-size': { label: 'Default text size', scope: 'terminal', keys: 'mod+0' },
  'terminal.new-tab': { label: 'New terminal', scope: 'terminal', keys: 'ctrl+shift+enter' },
  'terminal.split-right': { label: 'Split right', scope: 'terminal', keys: 'ctrl+shift+e' },
  'terminal.split-down': { label: 'Split down', scope: 'terminal', keys: 'ctrl+shift+o' },
  'terminal.maximize': { label: 'Maximize or restore the pane', scope: 'terminal', keys: 'ctrl+shift+z' },
  'terminal.go-left': {
    label: 'Focus the pane to the left, or the previous tab',
    scope: 'terminal',
    keys: 'ctrl+shift+arrowleft',
  },
  'terminal.go-right': {
    label: 'Focus the pane to the right, or the next tab',
    scope: 'terminal',
    keys: 'ctrl+shift+arrowright',
  },
  'terminal.go-up': { label: 'Focus the pane above', scope: 'terminal', keys: 'ctrl+shift+arrowup' },
  'terminal.go-down': { label: 'Focus the pane below', scope: 'terminal', keys: 'ctrl+shift+arrowdown' },
} as const satisfies Record<string, TableRow>

interface TableRow {
  label: string
  scope: ShortcutScope
  keys: string
  /** Default on a Mac, if another. */
  mac?: string
}

export type ShortcutScope = 'console' | 'list' | 'compare' | 'terminal'
export type ShortcutId = keyof typeof table
export type TerminalActionId = Extract<ShortcutId, `terminal.${string}`>

export interface Shortcut {
  id: string
  label: string
  scope: ShortcutScope
  /** Default keys. */
  keys: string
}

export const defaultShortcuts = (mac = isMac): (Shortcut & { id: ShortcutId })[] =>
  Object.entries<TableRow>(table).map(([id, { label, scope, keys, mac: macKeys }]) => ({
    id: id as ShortcutId,
    label,
    scope,
    keys: mac && macKeys !== undefined ? macKeys : inOrder(keys.replace('mod', mac ? 'meta' : 'ctrl')),
  }))

const modifiers = ['ctrl', 'alt', 'shift', 'meta'] as const

const inOrder = (keys: string): string => {
  const parts = keys.split('+')
  const held = modifiers.filter((modifier) => parts.slice(0, -1).includes(modifier))
  return [...held, parts.at(-1)].join('+')
}

/** The pressed keys as text, or null for a modifier alone. */
export const combinationOf = ({ key, code, ctrlKey, altKey, shiftKey, metaKey }: PressedKey): string | null => {
  if (['Control', 'Alt', 'AltGraph', 'Shift', 'Meta', 'Dead', 'Process', 'Unidentified', ''].includes(key)) return null
  const isHeld = ctrlKey || altKey || metaKey
  const name = keyName(key, code, isHeld)
  // Shift is part of a typed sign, such as `?`, and of `+`, but not of a letter.
  const isSign = [...name].length === 1 && !/[\p{L}\p{N}]/u.test(name)
  const held = { ctrl: ctrlKey, alt: altKey, shift: shiftKey && !(isSign && !isHeld) && name !== 'plus', meta: metaKey }
  return [...modifiers.filter((modifier) => held[modifier]), name].join('+')
}

/** The typed Latin letter counts; on other layouts the one at its position. */
const keyName = (key: string, code: string, isHeld: boolean): string => {
  if (key === ' ') return 'space'
  if (key === '+' || (key === '=' && isHeld)) return 'plus'
  if (key.length > 1 || /^[a-z]$/i.test(key)) return key.toLowerCase()
  const position = /^(?:Key([A-Z])|Digit(\d))$/.exec(code)
  if (position?.[1]) return position[1].toLowerCase()
  return (isHeld && position?.[2]) || key.toLowerCase()
}

const storageKey = 'devdeck:shortcuts'

/** Keys that the user chose, by id; an empty text switches one off. */
export type ChosenKeys = Readonly<Record<string, string>>

const readChosen = (): ChosenKeys => {
  try {
    const stored: unknown = JSON.parse(browserStore()?.getItem(storageKey) ?? '{}')
    const entries = Object.entries(Object(stored)).filter(([, keys]) => typeof keys === 'string' && keys.length < 60)
    return Object.fromEntries(entries) as ChosenKeys
  } catch {
    return {}
  }
}

let chosen: ChosenKeys | undefined
const listeners = new Set<() => void>()
const announce = () => {
  for (const listener of listeners) listener()
}
globalThis.addEventListener?.('storage', ({ key }) => {
  if (key !== storageKey && key !== null) return
  chosen = undefined
  announce()
})

const none: ChosenKeys = {}

export const chosenKeys = {
  get: (): ChosenKeys => {
    if (typeof window === 'undefined') return none
    chosen ??= readChosen()
    return chosen
  },
  save: (next: ChosenKeys): void => {
    chosen = next
    try {
      browserStore()?.setItem(storageKey, JSON.stringify(next))
    } catch {
      // Storage is full or disabled; the choice lasts until the page closes.
    }
    announce()
  },
  subscribe: (listener: () => void): (() => void) => {
    listeners.add(listener)
    return () => void listeners.delete(listener)
  },
}

const defaults = new Map<string, string>(defaultShortcuts().map(({ id, keys }) => [id, keys]))
const serverDefaults = new Map<string, string>(defaultShortcuts(false).map(({ id, keys }) => [id, keys]))

/** The keys of an action, such as `ctrl+shift+f`; empty if switched off. */
export const shortcutOf = (id: ShortcutId): string => chosenKeys.get()[id] ?? defaults.get(id) ?? ''

export const useChosenKeys = (): ChosenKeys => useSyncExternalStore(chosenKeys.subscribe, chosenKeys.get, () => none)

/** The keys of an action for `<Keys>`, such as `['Ctrl', 'Shift', 'F']`; empty if switched off. */
export const useShortcutKeys = (id: ShortcutId): string[] => {
  // As text, which is the same until the keys change. The server doesn't know what keyboard the browser has.
  const caps = useSyncExternalStore(
    chosenKeys.subscribe,
    () => keyCaps(shortcutOf(id)).join(' '),
    () => keyCaps(serverDefaults.get(id) ?? '', false).join(' '),
  )
  return caps === '' ? [] : caps.split(' ')
}

/** False during the first render, as on the server. */
export const useIsMac = (): boolean =>
  useSyncExternalStore(
    chosenKeys.subscribe,
    () => isMac,
    () => false,
  )

/** With Ctrl or Command, and so not typed as text. */
export const isCommand = (keys: string): boolean => /(^|\+)(ctrl|meta)\+/.test(keys)

export const isShortcut = (id: ShortcutId, event: PressedKey): boolean => {
  const keys = combinationOf(event)
  return keys !== null && keys === shortcutOf(id)
}

const terminalIds = (Object.keys(table) as ShortcutId[]).filter((id) =>
  id.startsWith('terminal.'),
) as TerminalActionId[]

/** The terminal's action for a key press. Check `event.isComposing` first. */
export const terminalActionOf = (event: PressedKey): TerminalActionId | null => {
  const keys = combinationOf(event)
  return keys === null ? null : (terminalIds.find((id) => shortcutOf(id) === keys) ?? null)
}

const capNames: Record<string, string> = {
  arrowup: '↑',
  arrowdown: '↓',
  arrowleft: '←',
  arrowright: '→',
  plus: '+',
  '-': '−',
  ctrl: 'Ctrl',
  alt: 'Alt',
  shift: 'Shift',
  meta: 'Meta',
  pageup: 'PgUp',
  pagedown: 'PgDn',
}
const macNames: Record<string, string> = { ctrl: '⌃', alt: '⌥', shift: '⇧', meta: '⌘' }

/** One text per key cap. */
export const keyCaps = (keys: string, mac = isMac): string[] => {
  if (keys === '') return []
  return keys.split(' ').flatMap((combination) => {
    const parts = combination.split('+')
    return parts.map((part) => {
      const name = (mac ? macNames[part] : undefined) ?? capNames[part]
      if (name !== undefined) return name
      if (part.length === 1) return parts.length > 1 ? part.toUpperCase() : part
      return part.charAt(0).toUpperCase() + part.slice(1)
    })
  })
}

/** As text for labels and tooltips: `Ctrl+Shift+F`, `g d`. */
export const shortcutText = (keys: string, mac = isMac): string =>
  keys
    .split(' ')
    .map((combination) => keyCaps(combination, mac).join('+'))
    .join(' ')

/** Why an action can't have these keys, if so. `others` are all other actions with the keys they have now. */
export const shortcutProblem = (
  keys: string,
  shortcut: Shortcut,
  others: readonly Shortcut[],
  mac = isMac,
): string | null => {
  const { scope } = shortcut
  const refusal = keys === shortcut.keys ? null : keysRefusal(keys, scope, mac)
  if (refusal !== null) return refusal
  const taken = others.find((other) => other.keys !== '' && meet(scope, other.scope) && overlap(keys, other.keys))
  return taken ? `Used by “${taken.label}” (${shortcutText(taken.keys)})` : null
}

/** Keys that already belong to the browser, the shell, or the focused control. */
const keysRefusal = (keys: string, scope: ShortcutScope, mac: boolean): string | null => {
  const [first = ''] = keys.split(' ')
  const { held, key } = partsOf(first)
  const isPlain = held.length === 0 || (held.length === 1 && held[0] === 'shift')
  if (['escape', 'tab', 'enter', 'space', 'backspace'].includes(key) && isPlain)
    return `${shortcutText(keys)} already moves focus, or activates or closes the focused element`
  if (isPlain && /^(arrow|page|home$|end$)/.test(key))
    return `${shortcutText(keys)} already scrolls or moves the selection`
  const reserved = (mac ? macReserved : reservedByBrowser)[first]
  if (reserved !== undefined) return `The browser uses ${shortcutText(first)}: ${reserved}`
  if (held.includes('ctrl') && held.includes('alt')) return 'Ctrl and Alt together type characters on some keyboards'
  if (scope === 'terminal') {
    if (first === 'ctrl+shift+v') return `${shortcutText(first)} pastes`
    if (/^ctrl\+shift\+[1-8]$/.test(first)) return `${shortcutText(first)} shows the tab at that position`
    const isFunctionKey = /^f\d+$/.test(key)
    if (isPlain && !isFunctionKey) return 'Keys without Ctrl, Alt or Command are typed into the terminal'
    if (held.length === 1 && held[0] === 'ctrl' && /^[a-z@[\]\\^_]$/.test(key))
      return `${shortcutText(first)} is sent to the shell. Add Shift`
    if (held.length === 1 && held[0] === 'alt') return `${shortcutText(first)} is sent to the shell. Use Ctrl and Shift`
  } else if (!isPlain && /^[acvxz]$/.test(key) && held.length === 1 && held[0] === (mac ? 'meta' : 'ctrl'))
    return `${shortcutText(first)} edits text`
  return null
}

const partsOf = (combination: string) => {
  const parts = combination.split('+')
  return { held: parts.slice(0, -1), key: parts.at(-1) ?? '' }
}

const meet = (one: ShortcutScope, other: ShortcutScope) => one === other || one === 'console' || other === 'console'

/** Also when one is how the other begins: `g` and `g d`. */
const overlap = (one: string, other: string) =>
  one === other || one.startsWith(`${other} `) || other.startsWith(`${one} `)

const reservedByBrowser: Record<string, string> = {
  'ctrl+t': 'new tab',
  'ctrl+n': 'new window',
  'ctrl+w': 'close tab',
  'ctrl+shift+t': 'reopen tab',
  'ctrl+shift+n': 'new private window',
  'ctrl+shift+w': 'close window',
  'ctrl+shift+p': 'new private window',
  'ctrl+tab': 'next tab',
  'ctrl+shift+tab': 'previous tab',
  'ctrl+pageup': 'previous tab',
  'ctrl+pagedown': 'next tab',
  'ctrl+q': 'quit',
  'ctrl+shift+q': 'quit',
  'alt+f4': 'close window',
  'alt+arrowleft': 'back',
  'alt+arrowright': 'forward',
  'ctrl+l': 'address bar',
  'alt+d': 'address bar',
  f6: 'address bar',
  'ctrl+r': 'reload',
  'ctrl+shift+r': 'reload',
  f5: 'reload',
  'ctrl+f5': 'reload',
  'ctrl+f': 'find',
  'ctrl+p': 'print',
  f11: 'full screen',
  f12: 'developer tools',
  'ctrl+shift+i': 'developer tools',
  'ctrl+shift+j': 'developer tools',
  ...Object.fromEntries(Array.from({ length: 9 }, (_, at) => [`ctrl+${at + 1}`, `tab ${at + 1}`])),
}

const macReserved: Record<string, string> = {
  'meta+t': 'new tab',
  'meta+n': 'new window',
  'meta+w': 'close tab',
  'meta+q': 'quit',
  'meta+h': 'hide',
  'meta+m': 'minimize',
  'meta+tab': 'switch applications',
  'meta+space': 'system search',
  'shift+meta+t': 'reopen tab',
  'shift+meta+n': 'new private window',
  'shift+meta+w': 'close window',
  'ctrl+tab': 'next tab',
  'ctrl+shift+tab': 'previous tab',
  'meta+l': 'address bar',
  'meta+r': 'reload',
  'shift+meta+r': 'reload',
  'meta+f': 'find',
  'meta+p': 'print',
  'meta+,': 'browser settings',
  'alt+meta+i': 'developer tools',
  'alt+meta+j': 'developer tools',
  'meta+[': 'back',
  'meta+]': 'forward',
  ...Object.fromEntries(Array.from({ length: 9 }, (_, at) => [`meta+${at + 1}`, `tab ${at + 1}`])),
}
