export type TerminalShortcut =
  | 'copy'
  | 'paste'
  | 'find'
  | 'find-next'
  | 'find-previous'
  | 'larger'
  | 'smaller'
  | 'own-size'

export interface PressedKey {
  key: string
  code: string
  ctrlKey: boolean
  shiftKey: boolean
  altKey: boolean
  metaKey: boolean
}

/** Except on a Mac, plain Ctrl keys belong to the shell, apart from Ctrl+V, and Ctrl+C with a selection. */
export const terminalShortcut = (
  pressed: PressedKey,
  { isMac, hasSelection }: { isMac: boolean; hasSelection: boolean },
): TerminalShortcut | null => {
  const { ctrlKey, shiftKey, altKey, metaKey } = pressed
  if (altKey) return null
  const letter = letterOf(pressed)
  if (isMac) {
    if (!metaKey || ctrlKey) return null
    if (letter === 'f' && !shiftKey) return 'find'
    if (letter === 'g') return shiftKey ? 'find-previous' : 'find-next'
    if (letter === 'c') return hasSelection ? 'copy' : null
    return letter === 'v' ? 'paste' : sizeKey(pressed.key)
  }
  if (metaKey) return null
  if (pressed.key === 'Insert' && shiftKey !== ctrlKey) return ctrlKey ? 'copy' : 'paste'
  if (!ctrlKey) return null
  if (letter === 'c') return shiftKey || hasSelection ? 'copy' : null
  if (letter === 'v') return 'paste'
  if (letter === 'f' && shiftKey) return 'find'
  return sizeKey(pressed.key)
}

const letterOf = ({ key, code }: PressedKey): string =>
  /^[a-z]$/i.test(key) || !/^Key[A-Z]$/.test(code) ? key.toLowerCase() : code.slice(3).toLowerCase()

/** With Shift, minus is `_`, which readline uses for undo. */
const sizeKey = (key: string): TerminalShortcut | null => {
  if (key === '+' || key === '=') return 'larger'
  if (key === '-') return 'smaller'
  return key === '0' ? 'own-size' : null
}

export const isMac = typeof navigator === 'object' && /mac|iphone|ipad/i.test(navigator.platform)

export const shortcutOf = (event: KeyboardEvent, hasSelection: boolean): TerminalShortcut | null =>
  terminalShortcut(event, { isMac, hasSelection })

/** Modifier that opens a link on click; Ctrl+click is a right click on a Mac. */
export const linkKey = isMac ? '⌘' : 'Ctrl'
