'use client'
import { useRouter } from 'next/navigation'
import { useEffect, useRef } from 'react'
import { hasLetterKeys } from '#components/ui/choice/browser-choice.ts'
import { isTyping } from '#components/ui/is-typing.ts'
import { paths } from '#lib/browser/address/paths.ts'
import { nextShortcut, type ShortcutState } from './shortcuts.ts'

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
      const next = nextShortcut(state, keyStroke, Date.now())
      state = next.state
      const { open, isCovered, router } = latest.current
      const { action } = next
      if (!action || (action !== 'palette' && (isCovered || document.querySelector('[role=dialog]')))) return
      event.preventDefault()
      if (action === 'palette' || action === 'help') open(action)
      else if (action === 'filter') document.querySelector<HTMLInputElement>('[data-filter-input]')?.focus()
      else router.push(paths[action]())
    }
    document.addEventListener('keydown', listen)
    return () => document.removeEventListener('keydown', listen)
  }, [])
}

const belongsToTerminal = (target: EventTarget | null) =>
  target instanceof Element && target.closest('[data-takes-keys]') !== null
