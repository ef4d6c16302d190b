import { toast } from '#components/ui/toast.tsx'
import type { TerminalState } from '#lib/terminal/page/page-terminal.ts'
import { paneOf } from '#lib/terminal/page/requests.ts'
import type { OpenedTerminal } from '../pane/opened-terminal.ts'
import { useServing } from '../terminal-requests.tsx'

/** Null if the terminal can be reset. */
export const resetRefusal = ({ connection, role }: TerminalState): string | null => {
  if (connection.phase !== 'open') return 'The terminal is not connected'
  return role === 'watcher' ? 'Take over the terminal first' : null
}

/** Handles reset requests from the palette and menus. */
export const ResetTerminal = ({ opened }: { opened: OpenedTerminal }) => {
  const { session } = opened
  useServing(paneOf(opened), 'reset', () => {
    const refusal = resetRefusal(session.state)
    if (refusal) toast.attention('The terminal was not reset', { description: `${refusal}.` })
    else session.request({ t: 'reset' })
    opened.focus()
  })
  return null
}
