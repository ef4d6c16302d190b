import { useEffect, useEffectEvent } from 'react'
import type { OpenedTerminal } from '../pane/opened-terminal.ts'

/** Hears the events of an element before what lies in it does, such as xterm. */
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

/**
 * Takes keys before the terminal does. `actionOf` answers what a key does, or null for a key of somebody else; the
 * action runs when the key goes down, and neither the shell nor the browser is told of it.
 */
export const usePaneKeys = (opened: OpenedTerminal, actionOf: (event: KeyboardEvent) => (() => void) | null): void => {
  const take = useEffectEvent((event: KeyboardEvent) => {
    const action = actionOf(event)
    if (!action) return false
    event.preventDefault()
    if (event.type === 'keydown') action()
    return true
  })
  useEffect(() => opened.onKey((event) => take(event)), [opened])
}
