import { useEffect, useEffectEvent } from 'react'
import type { OpenedTerminal } from '../pane/opened-terminal.ts'

/** Listens in the capture phase, before xterm. */
export const useListener = <Type extends keyof HTMLElementEventMap>(
  element: HTMLElement,
  type: Type,
  handler: (event: HTMLElementEventMap[Type]) => void,
): void => {
  const listener = useEffectEvent(handler)
  useEffect(() => {
    const listening = new AbortController()
    element.addEventListener(type, (event) => listener(event), { capture: true, signal: listening.signal })
    return () => listening.abort()
  }, [element, type])
}

/** Handles keys before the terminal. `actionOf` returns the action of a key, or null to pass it on. */
export const usePaneKeys = (opened: OpenedTerminal, actionOf: (event: KeyboardEvent) => (() => void) | null): void => {
  const take = useEffectEvent((event: KeyboardEvent) => {
    const action = event.isComposing ? null : actionOf(event)
    if (!action) return false
    event.preventDefault()
    if (event.type === 'keydown') action()
    return true
  })
  useEffect(() => opened.onKey((event) => take(event)), [opened])
}
