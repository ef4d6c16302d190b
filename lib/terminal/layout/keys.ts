import type { PressedKey } from '../page/shortcuts.ts'
import type { Direction } from './geometry.ts'
import type { SplitWay } from './layout.ts'

/** What a key does with the panes and tabs around a terminal. */
export type WorkspaceMove =
  /** To the pane on that side, or to the next tab where there is none. */
  | { kind: 'go'; direction: Direction }
  | { kind: 'tab'; index: number }
  | { kind: 'new-tab' }
  | { kind: 'split'; way: SplitWay }
  | { kind: 'maximise' }

const arrows: Record<string, Direction> = {
  ArrowLeft: 'left',
  ArrowRight: 'right',
  ArrowUp: 'up',
  ArrowDown: 'down',
}

/**
 * All with Ctrl and Shift: of those a shell is sent nothing, and these a browser leaves to the page. By their place on
 * the keyboard where a layout may have another character there.
 */
export const workspaceMove = ({ key, code, ctrlKey, shiftKey, altKey, metaKey }: PressedKey): WorkspaceMove | null => {
  if (!ctrlKey || !shiftKey || altKey || metaKey) return null
  const direction = arrows[key]
  if (direction) return { kind: 'go', direction }
  const digit = /^Digit([1-8])$/.exec(code)?.[1]
  if (digit) return { kind: 'tab', index: Number(digit) - 1 }
  if (key === 'Enter') return { kind: 'new-tab' }
  if (code === 'KeyE') return { kind: 'split', way: 'right' }
  if (code === 'KeyO') return { kind: 'split', way: 'down' }
  return code === 'KeyZ' || key.toLowerCase() === 'z' ? { kind: 'maximise' } : null
}
