import { useSyncExternalStore } from 'react'
import type { PageTerminal, TerminalState } from '#lib/terminal/page/page-terminal.ts'

export const useTerminalState = (session: PageTerminal): TerminalState =>
  useSyncExternalStore(
    session.subscribe,
    () => session.state,
    () => session.state,
  )
