'use client'
import { Keyboard, Send, Trash2 } from 'lucide-react'
import { Button } from '#components/ui/button.tsx'
import { formatCountOf } from '#lib/browser/format.ts'
import { maxUnsentBytes, typedSigns } from '#lib/terminal/page/unsent-input.ts'
import { NoticeBar } from './notice-bar.tsx'
import type { OpenedTerminal } from './opened-terminal.ts'
import { useTerminalState } from './use-terminal-state.ts'

export const UnsentInputNotice = ({ opened }: { opened: OpenedTerminal }) => {
  const { session, focus } = opened
  const { unsent, role, connection, upstreamLost } = useTerminalState(session)
  if (unsent.text === '' && !unsent.isFull) return null
  const signs = typedSigns(unsent.text)
  const amount = formatCountOf(signs.length, 'character')
  const andReturn = (what: () => void) => () => {
    what()
    focus()
  }
  return (
    <NoticeBar
      tone="attention"
      icon={Keyboard}
      actions={
        <>
          <Button
            size="sm"
            icon={Send}
            disabledReason={
              connection.phase !== 'open' || upstreamLost
                ? 'The connection is lost'
                : role === 'watcher'
                  ? 'Another window is typing'
                  : signs.length === 0
                    ? 'Nothing to send'
                    : null
            }
            onClick={andReturn(session.sendUnsent)}
          >
            {unsent.mayHaveArrived ? 'Send again' : 'Send'} {amount}
          </Button>
          <Button size="sm" variant="ghost" icon={Trash2} onClick={andReturn(session.discardUnsent)}>
            Discard
          </Button>
        </>
      }
    >
      <span>{unsent.mayHaveArrived ? 'May not have arrived: ' : 'Not sent: '}</span>
      <code className="font-mono text-sm break-all whitespace-pre-wrap text-muted">
        {signs.map(({ sign, isControl }, index) =>
          isControl ? (
            // biome-ignore lint/suspicious/noArrayIndexKey: what was typed only grows
            <kbd key={index} className="mx-px rounded-sm bg-surface-3 px-1 font-mono text-xs">
              {sign}
            </kbd>
          ) : (
            sign
          ),
        )}
      </code>
      {unsent.isFull && <span className="text-attention"> Limited to {maxUnsentBytes} bytes.</span>}
      {unsent.isForAnotherShell && <span className="text-attention"> You typed this for a previous shell.</span>}
    </NoticeBar>
  )
}
