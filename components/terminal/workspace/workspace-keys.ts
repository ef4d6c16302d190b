import { type TerminalActionId, terminalActionOf } from '#lib/browser/frame/shortcuts.ts'
import type { Direction } from '#lib/terminal/layout/geometry.ts'
import type { SplitDirection } from '#lib/terminal/layout/layout.ts'
import type { PressedKey } from '#lib/terminal/page/shortcuts.ts'

export type WorkspaceMove =
  /** The pane on that side, or the next tab. */
  | { kind: 'go'; direction: Direction }
  | { kind: 'tab'; index: number }
  | { kind: 'new-tab' }
  | { kind: 'split'; way: SplitDirection }
  | { kind: 'maximize' }

const moves: Partial<Record<TerminalActionId, WorkspaceMove>> = {
  'terminal.go-left': { kind: 'go', direction: 'left' },
  'terminal.go-right': { kind: 'go', direction: 'right' },
  'terminal.go-up': { kind: 'go', direction: 'up' },
  'terminal.go-down': { kind: 'go', direction: 'down' },
  'terminal.new-tab': { kind: 'new-tab' },
  'terminal.split-right': { kind: 'split', way: 'right' },
  'terminal.split-down': { kind: 'split', way: 'down' },
  'terminal.maximize': { kind: 'maximize' },
}

/** Digits count by position, because Shift changes them. */
export const workspaceMove = (event: PressedKey): WorkspaceMove | null => {
  const action = terminalActionOf(event)
  if (action) return moves[action] ?? null
  const { code, ctrlKey, shiftKey, altKey, metaKey } = event
  const digit = ctrlKey && shiftKey && !altKey && !metaKey && /^Digit([1-8])$/.exec(code)?.[1]
  return digit ? { kind: 'tab', index: Number(digit) - 1 } : null
}
