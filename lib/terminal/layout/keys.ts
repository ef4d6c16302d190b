import type { PressedKey } from '../page/shortcuts.ts'
import type { Direction } from './geometry.ts'
import type { SplitDirection } from './layout.ts'

export type WorkspaceMove =
  /** The pane on that side, or the next tab. */
  | { kind: 'go'; direction: Direction }
  | { kind: 'tab'; index: number }
  | { kind: 'new-tab' }
  | { kind: 'split'; way: SplitDirection }
  | { kind: 'maximize' }

const arrows: Record<string, Direction> = {
  ArrowLeft: 'left',
  ArrowRight: 'right',
  ArrowUp: 'up',
  ArrowDown: 'down',
}

/** All use Ctrl+Shift, which neither shells nor browsers take. Matched by position where layouts differ. */
export const workspaceMove = ({ key, code, ctrlKey, shiftKey, altKey, metaKey }: PressedKey): WorkspaceMove | null => {
  if (!ctrlKey || !shiftKey || altKey || metaKey) return null
  const direction = arrows[key]
  if (direction) return { kind: 'go', direction }
  const digit = /^Digit([1-8])$/.exec(code)?.[1]
  if (digit) return { kind: 'tab', index: Number(digit) - 1 }
  if (key === 'Enter') return { kind: 'new-tab' }
  if (code === 'KeyE') return { kind: 'split', way: 'right' }
  if (code === 'KeyO') return { kind: 'split', way: 'down' }
  return code === 'KeyZ' || key.toLowerCase() === 'z' ? { kind: 'maximize' } : null
}
