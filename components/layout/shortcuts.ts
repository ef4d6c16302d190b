/** Destinations of `g` followed by a letter. */
const destinations = {
  o: ['overview', 'overview'],
  d: ['devboxes', 'devboxes'],
  e: ['evictions', 'evictions'],
  a: ['axons', 'axons'],
  s: ['snapshots', 'snapshots'],
  c: ['recordings', 'recordings'],
  j: ['benchmarkJobs', 'benchmark jobs'],
  r: ['benchmarkRuns', 'benchmark runs'],
  b: ['benchmarks', 'benchmarks'],
  n: ['scenarios', 'scenarios'],
  p: ['compare', 'job comparison'],
  t: ['trend', 'agent trend'],
  v: ['activity', 'activity'],
  ',': ['settings', 'settings'],
} as const satisfies Record<string, readonly [destination: string, label: string]>

type Destination = (typeof destinations)[keyof typeof destinations][0]

export type ShortcutAction = 'palette' | 'filter' | 'help' | Destination

export interface KeyStroke {
  key: string
  /** Ctrl, or Command on a Mac. */
  command: boolean
  alt: boolean
  isTyping: boolean
}

export interface ShortcutState {
  leaderAtMs: number | null
}

export const leaderTimeoutMs = 1200

const singleKeys: Record<string, ShortcutAction> = { '/': 'filter', '?': 'help' }

export const shortcutHelp: readonly { keys: readonly string[]; action: string }[] = [
  { keys: ['Ctrl', 'K'], action: 'Open the command palette' },
  { keys: ['/'], action: 'Focus the list filter' },
  { keys: ['j'], action: 'Next row' },
  { keys: ['k'], action: 'Previous row' },
  { keys: ['Enter'], action: 'Open the row' },
  { keys: ['x'], action: 'Select the row; with Shift, the range' },
  ...Object.entries(destinations).map(([letter, [, label]]) => ({ keys: ['g', letter], action: `Go to ${label}` })),
  { keys: ['?'], action: 'Show keyboard shortcuts' },
]

export const terminalShortcutHelp: typeof shortcutHelp = [
  { keys: ['Ctrl', 'Shift', 'X'], action: 'Leave the terminal' },
  { keys: ['Ctrl', 'Shift', 'C'], action: 'Copy selection' },
  { keys: ['Ctrl', 'Shift', 'V'], action: 'Paste' },
  { keys: ['Ctrl', 'Shift', 'F'], action: 'Find' },
  { keys: ['Ctrl', '↑↓'], action: 'Go to the previous or next command' },
  { keys: ['Ctrl', '+−0'], action: 'Larger, smaller or default text' },
  { keys: ['Ctrl', 'Shift', '←↑→↓'], action: 'Focus the adjacent pane, or the next tab' },
  { keys: ['Ctrl', 'Shift', '1…8'], action: 'Show the tab at that position' },
  { keys: ['Ctrl', 'Shift', 'Enter'], action: 'New terminal' },
  { keys: ['Ctrl', 'Shift', 'E'], action: 'Split right' },
  { keys: ['Ctrl', 'Shift', 'O'], action: 'Split down' },
  { keys: ['Ctrl', 'Shift', 'Z'], action: 'Maximize or restore the pane' },
  { keys: ['F2'], action: 'Rename the focused tab' },
  { keys: ['Delete'], action: 'Close the focused tab; its shell keeps running' },
  { keys: ['Shift', '←→'], action: 'Move the focused tab' },
]

export const nextShortcut = (
  { leaderAtMs }: ShortcutState,
  { key, command, alt, isTyping }: KeyStroke,
  nowMs: number,
): { state: ShortcutState; action: ShortcutAction | null } => {
  const idle: ShortcutState = { leaderAtMs: null }
  if (command && !alt && key.toLowerCase() === 'k') return { state: idle, action: 'palette' }
  if (command || alt || isTyping) return { state: idle, action: null }
  const isSecondKey = leaderAtMs !== null && nowMs - leaderAtMs <= leaderTimeoutMs
  if (isSecondKey && isLetter(key)) return { state: idle, action: destinations[key][0] }
  if (key === 'g') return { state: { leaderAtMs: nowMs }, action: null }
  return { state: idle, action: Object.hasOwn(singleKeys, key) ? (singleKeys[key] ?? null) : null }
}

const isLetter = (key: string): key is keyof typeof destinations => Object.hasOwn(destinations, key)
