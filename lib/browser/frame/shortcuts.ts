/** Places by the letter that leads to them after a `g`. */
const places = {
  o: ['overview', 'the overview'],
  d: ['devboxes', 'devboxes'],
  e: ['evictions', 'evictions'],
  a: ['axons', 'axons'],
  s: ['snapshots', 'snapshots'],
  c: ['recordings', 'recordings'],
  j: ['benchmarkJobs', 'benchmark jobs'],
  r: ['benchmarkRuns', 'benchmark runs'],
  b: ['benchmarks', 'benchmarks'],
  n: ['scenarios', 'scenarios'],
  p: ['compare', 'the comparison of jobs'],
  t: ['trend', 'the trend of an agent'],
  v: ['activity', 'what was done from this console'],
  ',': ['settings', 'the settings'],
} as const satisfies Record<string, readonly [place: string, words: string]>

type Place = (typeof places)[keyof typeof places][0]

/** What the frame does at a key, outside of fields and terminals. */
export type ShortcutAction = 'palette' | 'filter' | 'help' | Place

export interface KeyStroke {
  key: string
  /** Ctrl, or Command on a Mac. */
  command: boolean
  alt: boolean
  isTyping: boolean
}

/** A `g` that waits for its second letter, and when it was struck. */
export interface ShortcutState {
  leaderAtMs: number | null
}

export const leaderTimeoutMs = 1200

const single: Record<string, ShortcutAction> = { '/': 'filter', '?': 'help' }

/** The list the help dialog shows. */
export const shortcutHelp: readonly { keys: readonly string[]; does: string }[] = [
  { keys: ['Ctrl', 'K'], does: 'Open the command palette' },
  { keys: ['/'], does: 'Go to the filter of the list' },
  { keys: ['j'], does: 'Next row' },
  { keys: ['k'], does: 'Previous row' },
  { keys: ['Enter'], does: 'Open the row' },
  { keys: ['x'], does: 'Select the row; with Shift, all from the one selected before' },
  ...Object.entries(places).map(([letter, [, words]]) => ({ keys: ['g', letter], does: `Go to ${words}` })),
  { keys: ['?'], does: 'Show these shortcuts' },
]

/** All others are the shell's. */
export const terminalShortcutHelp: typeof shortcutHelp = [
  { keys: ['Ctrl', 'Shift', 'X'], does: 'Leave the terminal' },
  { keys: ['Ctrl', 'Shift', 'C'], does: 'Copy selection' },
  { keys: ['Ctrl', 'Shift', 'V'], does: 'Paste' },
  { keys: ['Ctrl', 'Shift', 'F'], does: 'Find' },
  { keys: ['Ctrl', '↑↓'], does: 'Go to the command before or after' },
  { keys: ['Ctrl', '+−0'], does: 'Larger, smaller, or usual text' },
  { keys: ['Ctrl', 'Shift', '←↑→↓'], does: 'Go to the pane on that side, or to the next tab' },
  { keys: ['Ctrl', 'Shift', '1…8'], does: 'Show the tab at that place' },
  { keys: ['Ctrl', 'Shift', 'Enter'], does: 'New terminal' },
  { keys: ['Ctrl', 'Shift', 'E'], does: 'Split right' },
  { keys: ['Ctrl', 'Shift', 'O'], does: 'Split down' },
  { keys: ['Ctrl', 'Shift', 'Z'], does: 'Show one pane, or all' },
  { keys: ['F2'], does: 'Rename the tab that has the focus' },
  { keys: ['Delete'], does: 'Close the tab that has the focus; its shell goes on' },
  { keys: ['Shift', '←→'], does: 'Move the tab that has the focus' },
]

export const nextShortcut = (
  { leaderAtMs }: ShortcutState,
  { key, command, alt, isTyping }: KeyStroke,
  nowMs: number,
): { state: ShortcutState; action: ShortcutAction | null } => {
  const idle: ShortcutState = { leaderAtMs: null }
  if (command && !alt && key.toLowerCase() === 'k') return { state: idle, action: 'palette' }
  if (command || alt || isTyping) return { state: idle, action: null }
  const led = leaderAtMs !== null && nowMs - leaderAtMs <= leaderTimeoutMs
  if (led && isLetter(key)) return { state: idle, action: places[key][0] }
  if (key === 'g') return { state: { leaderAtMs: nowMs }, action: null }
  return { state: idle, action: Object.hasOwn(single, key) ? (single[key] ?? null) : null }
}

const isLetter = (key: string): key is keyof typeof places => Object.hasOwn(places, key)
