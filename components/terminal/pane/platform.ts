import { type TerminalShortcut, terminalShortcut } from '#lib/terminal/page/shortcuts.ts'

export const isMac = typeof navigator === 'object' && /mac|iphone|ipad/i.test(navigator.platform)

/** What a key means to this page, on this computer. */
export const shortcutOf = (event: KeyboardEvent, hasSelection: boolean): TerminalShortcut | null =>
  terminalShortcut(event, { isMac, hasSelection })

/** The key that opens a link together with a click; Ctrl with a click is the right button on a Mac. */
export const linkKey = isMac ? '⌘' : 'Ctrl'
