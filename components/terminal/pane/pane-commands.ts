import { useEffect, useRef } from 'react'
import type { OpenedTerminal } from './opened-terminal.ts'

/** What one part of a pane asks of another: buttons, menus and keys open what is drawn elsewhere in it. */
export type PaneCommand = 'find' | 'settings' | 'links'

export const tellPane = ({ element }: OpenedTerminal, command: PaneCommand): void =>
  void element.dispatchEvent(new CustomEvent(`pane-${command}`))

export const usePaneCommand = ({ element }: OpenedTerminal, command: PaneCommand, run: () => void): void => {
  const latest = useRef(run)
  latest.current = run
  useEffect(() => {
    const listen = () => latest.current()
    element.addEventListener(`pane-${command}`, listen)
    return () => element.removeEventListener(`pane-${command}`, listen)
  }, [element, command])
}

/** Text of the console's own for what runs in a terminal, with the guards of a paste. */
export const offerPaste = ({ element }: OpenedTerminal, text: string): void =>
  void element.dispatchEvent(new CustomEvent('pane-paste', { detail: text }))

export const useOfferedPaste = ({ element }: OpenedTerminal, take: (text: string) => void): void => {
  const latest = useRef(take)
  latest.current = take
  useEffect(() => {
    const listen = ({ detail }: Event & { detail?: unknown }) => latest.current(String(detail))
    element.addEventListener('pane-paste', listen)
    return () => element.removeEventListener('pane-paste', listen)
  }, [element])
}
