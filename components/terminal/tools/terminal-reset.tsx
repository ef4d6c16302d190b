import { toast } from '#components/ui/toast.tsx'
import { paneOf } from '#lib/terminal/page/requests.ts'
import { type OpenedTerminal, writingRefusal } from '../pane/opened-terminal.ts'
import { useServing } from '../terminal-requests.tsx'

/** Resets the terminal or clears its scrollback on every page. The shell and its programs are not affected. */
export const TerminalReset = ({ opened }: { opened: OpenedTerminal }) => {
  const { session } = opened
  const request = (t: 'reset' | 'clear_scrollback', failure: string) => () => {
    const refusal = writingRefusal(session.state)
    if (refusal) toast.attention(failure, { description: `${refusal}.` })
    else session.request({ t })
    opened.focus()
  }
  useServing(paneOf(opened), 'reset', request('reset', 'The terminal was not reset'))
  useServing(paneOf(opened), 'clear-scrollback', request('clear_scrollback', 'The scrollback was not cleared'))
  return null
}
