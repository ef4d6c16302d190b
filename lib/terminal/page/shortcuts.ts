export interface PressedKey {
  key: string
  code: string
  ctrlKey: boolean
  shiftKey: boolean
  altKey: boolean
  metaKey: boolean
}

/**
 * Clipboard keys of the platform, which can't be changed. Except on a Mac, plain Ctrl keys belong to the shell, apart
 * from Ctrl+V, and Ctrl+C with a selection.
 */
export const clipboardKey = (
  pressed: PressedKey,
  { isMac, hasSelection }: { isMac: boolean; hasSelection: boolean },
): 'copy' | 'paste' | null => {
  const { ctrlKey, shiftKey, altKey, metaKey } = pressed
  if (altKey) return null
  const letter = letterOf(pressed)
  if (isMac) {
    if (!metaKey || ctrlKey) return null
    if (letter === 'c') return hasSelection ? 'copy' : null
    return letter === 'v' ? 'paste' : null
  }
  if (metaKey) return null
  if (pressed.key === 'Insert' && shiftKey !== ctrlKey) return ctrlKey ? 'copy' : 'paste'
  if (!ctrlKey) return null
  if (letter === 'c') return hasSelection && !shiftKey ? 'copy' : null
  return letter === 'v' ? 'paste' : null
}

const letterOf = ({ key, code }: PressedKey): string =>
  /^[a-z]$/i.test(key) || !/^Key[A-Z]$/.test(code) ? key.toLowerCase() : code.slice(3).toLowerCase()

export const isMac = typeof navigator === 'object' && /mac|iphone|ipad/i.test(navigator.platform)

/** Modifier that opens a link on click; Ctrl+click is a right click on a Mac. */
export const linkKey = isMac ? '⌘' : 'Ctrl'
