import { type TerminalShortcut, terminalShortcut } from '#lib/terminal/page/shortcuts.ts'

export const isMac = typeof navigator === 'object' && /mac|iphone|ipad/i.test(navigator.platform)

export const shortcutOf = (event: KeyboardEvent, hasSelection: boolean): TerminalShortcut | null =>
  terminalShortcut(event, { isMac, hasSelection })

/** Modifier that opens a link on click; Ctrl+click is a right click on a Mac. */
export const linkKey = isMac ? '⌘' : 'Ctrl'
