'use client'
import { useRouter } from 'next/navigation'
import { useEffect, useRef } from 'react'
import { hasLetterKeys } from '#components/ui/choice/browser-choice.ts'
import { isTyping } from '#components/ui/is-typing.ts'
import { type Destination, destinations } from './navigation.ts'

export type ShortcutAction = 'palette' | 'filter' | 'help' | { href: string }

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

interface Shortcut {
  keys: readonly string[]
  action: string
}

export const shortcutHelp = (destinations: readonly Destination[]): Shortcut[] => [
  { keys: ['Ctrl', 'K'], action: 'Open the command palette' },
  { keys: ['/'], action: 'Focus the list filter' },
  { keys: ['j'], action: 'Next row' },
  { keys: ['k'], action: 'Previous row' },
  { keys: ['Enter'], action: 'Open the row' },
  { keys: ['x'], action: 'Select the row; with Shift, the range' },
  ...destinations.map(({ keys, label }) => ({ keys, action: `Go to ${label}` })),
  { keys: ['?'], action: 'Show keyboard shortcuts' },
]

export const terminalShortcutHelp: readonly Shortcut[] = [
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

export const sideBySideShortcutHelp: readonly Shortcut[] = [
  { keys: ['n'], action: 'Next disagreement' },
  { keys: ['p'], action: 'Previous disagreement' },
  { keys: ['j'], action: 'Next step' },
  { keys: ['k'], action: 'Previous step' },
  { keys: ['Enter'], action: 'Open or close the step' },
  { keys: ['o'], action: 'Open the scenario' },
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
  const destination = destinations.find(({ keys: [, letter] }) => letter === key)
  if (isSecondKey && destination) return { state: idle, action: destination }
  if (key === 'g') return { state: { leaderAtMs: nowMs }, action: null }
  return { state: idle, action: Object.hasOwn(singleKeys, key) ? (singleKeys[key] ?? null) : null }
}

/** Handles global shortcuts. While `isCovered` by a dialog, only the palette's own shortcut works. */
export const useShortcuts = (open: (what: 'palette' | 'help') => void, isCovered: boolean) => {
  const router = useRouter()
  const latest = useRef({ open, isCovered, router })
  useEffect(() => {
    latest.current = { open, isCovered, router }
  })
  useEffect(() => {
    let state: ShortcutState = { leaderAtMs: null }
    const listen = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.isComposing || belongsToTerminal(event.target)) return
      const keyStroke = {
        key: event.key,
        command: event.ctrlKey || event.metaKey,
        alt: event.altKey,
        isTyping: isTyping(document.activeElement) || !hasLetterKeys(),
      }
      const next = nextShortcut(state, keyStroke, performance.now())
      state = next.state
      const { open, isCovered, router } = latest.current
      const { action } = next
      if (!action || (action !== 'palette' && (isCovered || document.querySelector('[role=dialog]')))) return
      event.preventDefault()
      if (action === 'palette' || action === 'help') open(action)
      else if (action === 'filter') document.querySelector<HTMLInputElement>('[data-filter-input]')?.focus()
      else router.push(action.href)
    }
    document.addEventListener('keydown', listen)
    return () => document.removeEventListener('keydown', listen)
  }, [])
}

const belongsToTerminal = (target: EventTarget | null) =>
  target instanceof Element && target.closest('[data-takes-keys]') !== null
