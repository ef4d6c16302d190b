import { type RefObject, useEffect, useEffectEvent } from 'react'
import { type WorkspaceMove, workspaceMove } from '#lib/terminal/layout/keys.ts'

/** Handles tab and pane shortcuts before the terminal, and also while nothing has focus. */
export const useWorkspaceKeys = (workspace: RefObject<HTMLElement | null>, perform: (move: WorkspaceMove) => void) => {
  const press = useEffectEvent((event: KeyboardEvent) => {
    const { target } = event
    const isOurs = target === document.body || (target instanceof Node && workspace.current?.contains(target))
    const move = isOurs ? workspaceMove(event) : null
    if (!move || event.isComposing || isField(target)) return
    event.preventDefault()
    event.stopPropagation()
    if (!event.repeat || move.kind === 'go') perform(move)
  })
  useEffect(() => {
    const listening = new AbortController()
    window.addEventListener('keydown', (event) => press(event), { capture: true, signal: listening.signal })
    return () => listening.abort()
  }, [])
}

/** These shortcuts select words in text fields, except in the terminal's own. */
const isField = (target: EventTarget | null) =>
  target instanceof Element && target.matches('input, textarea:not(.xterm-helper-textarea)')
