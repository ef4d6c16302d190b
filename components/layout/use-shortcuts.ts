'use client'
import { useRouter } from 'next/navigation'
import { useEffect, useRef } from 'react'
import { hasLetterKeys } from '#components/ui/choice/browser-choice.ts'
import { isTyping } from '#components/ui/is-typing.ts'
import { paths } from '#lib/browser/address/paths.ts'
import { nextShortcut, type ShortcutAction, type ShortcutState } from '#lib/browser/frame/shortcuts.ts'

/**
 * Listens for the frame's keys while it is mounted. `open` shows the palette or the help. While `isCovered`, something
 * that `open` shows is there or is being downloaded, and only the palette's own key still acts.
 */
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
      const stroke = {
        key: event.key,
        command: event.ctrlKey || event.metaKey,
        alt: event.altKey,
        // Letters that are turned off are text to the frame.
        isTyping: isTyping(document.activeElement) || !hasLetterKeys(),
      }
      const next = nextShortcut(state, stroke, Date.now())
      state = next.state
      const isBehindDialog = latest.current.isCovered || document.querySelector('[role=dialog]') !== null
      if (!next.action || (next.action !== 'palette' && isBehindDialog)) return
      event.preventDefault()
      perform(next.action, latest.current)
    }
    document.addEventListener('keydown', listen)
    return () => document.removeEventListener('keydown', listen)
  }, [])
}

/** Ctrl+K cuts a line in a shell. */
const belongsToTerminal = (target: EventTarget | null) =>
  target instanceof Element && target.closest('[data-takes-keys]') !== null

interface Means {
  open: (what: 'palette' | 'help') => void
  router: ReturnType<typeof useRouter>
}

const perform = (action: ShortcutAction, { open, router }: Means): void => {
  if (action === 'palette' || action === 'help') open(action)
  else if (action === 'filter') document.querySelector<HTMLInputElement>('[data-filter-input]')?.focus()
  else router.push(paths[action]())
}
