import { useSyncExternalStore } from 'react'
import type { PageTerminal, TerminalState } from '#lib/terminal/page/page-terminal.ts'

/** What there is to say about a terminal, as it changes. */
export const useTerminalState = (session: PageTerminal): TerminalState =>
  useSyncExternalStore(
    session.subscribe,
    () => session.state,
    () => session.state,
  )
