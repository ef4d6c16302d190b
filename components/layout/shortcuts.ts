'use client'
import { useRouter } from 'next/navigation'
import { useEffect, useRef } from 'react'
import { hasLetterKeys } from '#components/ui/choice/browser-choice.ts'
import { isTyping } from '#components/ui/is-typing.ts'
import {
  type ChosenKeys,
  chosenKeys,
  combinationOf,
  defaultShortcuts,
  isCommand,
  type Shortcut,
  shortcutOf,
} from '#lib/browser/frame/shortcuts.ts'
import { type Destination, destinations } from './navigation.ts'

type ShortcutAction = 'palette' | 'filter' | 'help' | { href: string }

export interface Binding {
  keys: string
  action: ShortcutAction
}

/** The first key of a shortcut of two keys. */
interface Leader {
  keys: string
  atMs: number
}

export const leaderTimeoutMs = 1200

/** All actions whose keys can be changed, with their default keys. */
export const allShortcuts = (shown: readonly Destination[], mac?: boolean): Shortcut[] => [
  ...defaultShortcuts(mac),
  ...shown.map(({ label, href, keys }) => ({
    id: goId(href),
    label: `Go to ${label}`,
    scope: 'console' as const,
    keys: keys.join(' '),
  })),
]

const goId = (href: string) => `go ${href}`

export const destinationKeys = ({ href, keys }: Destination, chosen: ChosenKeys): string =>
  chosen[goId(href)] ?? keys.join(' ')

const bindings = (): Binding[] => [
  { keys: shortcutOf('palette.open'), action: 'palette' },
  { keys: shortcutOf('help.open'), action: 'help' },
  { keys: shortcutOf('list.search'), action: 'filter' },
  ...destinations.map((each) => ({ keys: destinationKeys(each, chosenKeys.get()), action: { href: each.href } })),
]

interface KeyStroke {
  /** From `combinationOf`. */
  keys: string
  isTyping: boolean
}

export const nextShortcut = (
  leader: Leader | null,
  { keys, isTyping }: KeyStroke,
  bindings: readonly Binding[],
  nowMs: number,
): { leader: Leader | null; action: ShortcutAction | null } => {
  if (isTyping && !isCommand(keys)) return { leader: null, action: null }
  const isSecondKey = leader !== null && nowMs - leader.atMs <= leaderTimeoutMs
  const bound =
    (isSecondKey && bindings.find((each) => each.keys === `${leader.keys} ${keys}`)) ||
    bindings.find((each) => each.keys === keys)
  if (bound) return { leader: null, action: bound.action }
  const isLeader = bindings.some((each) => each.keys.startsWith(`${keys} `))
  return { leader: isLeader ? { keys, atMs: nowMs } : null, action: null }
}

let leader: Leader | null = null

/** Whether a key may be the second one of a shortcut, which other handlers then leave alone. */
export const followsLeader = (): boolean => leader !== null && performance.now() - leader.atMs <= leaderTimeoutMs

/** Handles global shortcuts. While `isCovered` by a dialog, only the palette's own shortcut works. */
export const useShortcuts = (open: (what: 'palette' | 'help') => void, isCovered: boolean) => {
  const router = useRouter()
  const latest = useRef({ open, isCovered, router })
  useEffect(() => {
    latest.current = { open, isCovered, router }
  })
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const keys = combinationOf(event)
      if (keys === null || event.defaultPrevented || event.isComposing || belongsToTerminal(event.target)) return
      const stroke = { keys, isTyping: isTyping(document.activeElement) || !hasLetterKeys() }
      const next = nextShortcut(leader, stroke, bindings(), performance.now())
      leader = next.leader
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
