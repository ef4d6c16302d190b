'use client'
import { Eye, Keyboard, Send, Trash2 } from 'lucide-react'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { Button } from '#components/ui/button.tsx'
import { classes } from '#components/ui/classes.ts'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { formatCountOf } from '#lib/browser/format.ts'
import { describeExit } from '#lib/browser/frame/exit-status.ts'
import type { TerminalState } from '#lib/terminal/page/page-terminal.ts'
import { maxUnsentBytes, typedSigns } from '#lib/terminal/page/typed-input.ts'
import { ConnectionNotice, NoticeBar } from './connection-notice.tsx'
import { type OpenedTerminal, useTerminalState, writingRefusal } from './opened-terminal.ts'

interface PaneNoticesProps {
  opened: OpenedTerminal
  refusal: string | null
  revive: ReactNode
  onClose: () => void
}

/** Overlays the screen, because taking room from it would resize the shell. */
export const PaneNotices = ({ opened, refusal, revive, onClose }: PaneNoticesProps) => {
  const { session, terminal, focus } = opened
  const state = useTerminalState(session)
  const { phase } = state.connection
  const [isBelow, setIsBelow] = useState(false)
  // Must not cover the cursor line.
  // biome-ignore lint/correctness/useExhaustiveDependencies: once per notice
  useEffect(() => setIsBelow(terminal.buffer.active.cursorY < terminal.rows / 2), [terminal, phase, refusal])
  return (
    <div
      className={classes(
        'animate-appear-late absolute inset-x-0 z-10 max-h-full overflow-y-auto',
        isBelow ? 'bottom-0 border-t border-line' : 'top-0 border-b border-line',
      )}
      key={`${phase} ${refusal}`}
    >
      <ConnectionNotice
        state={state}
        refusal={refusal}
        revive={revive}
        onClose={onClose}
        onConnect={() => {
          session.connect()
          focus()
        }}
      />
      <UnsentInputNotice opened={opened} />
    </div>
  )
}

const UnsentInputNotice = ({ opened }: { opened: OpenedTerminal }) => {
  const { session, focus } = opened
  const state = useTerminalState(session)
  const { unsent } = state
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
            disabledReason={state.upstreamLost ? 'The connection is lost' : writingRefusal(state)}
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

export const WatchingBar = ({ opened, isFollower }: { opened: OpenedTerminal; isFollower: boolean }) => {
  const { session, focus } = opened
  const { role, connection, writer, takenBy, refusedKeys } = useTerminalState(session)
  if (role !== 'watcher' || connection.phase !== 'open') return null
  const isTaken = takenBy !== null && writer?.id === takenBy.id
  const take = () => {
    session.request({ t: 'takeover' })
    focus()
  }
  return (
    <NoticeBar
      tone={isTaken ? 'attention' : 'progress'}
      icon={Eye}
      actions={
        !isFollower && (
          <Button size="sm" onClick={take}>
            {isTaken ? 'Take back' : writer ? 'Take over' : 'Type here'}
          </Button>
        )
      }
    >
      {writer === null ? (
        'You are watching. Nobody is typing.'
      ) : isTaken ? (
        <>
          Taken over by <VisibleText max={60}>{writer.name}</VisibleText>
        </>
      ) : (
        <>
          <VisibleText max={60}>{writer.name}</VisibleText> is typing, joined <RelativeTime ms={writer.since_ms} />
        </>
      )}
      {refusedKeys > 0 && <span className="text-muted"> Your input is ignored while you watch.</span>}
    </NoticeBar>
  )
}

/** Announces state changes to screen readers, without countdowns. */
export const StateAnnouncement = ({ state, refusal }: { state: TerminalState; refusal: string | null }) => {
  const wasLost = useRef(false)
  const { phase } = state.connection
  if (phase === 'lost') wasLost.current = true
  return (
    <p role="status" className="sr-only">
      {refusal ?? words(state, wasLost.current)}
    </p>
  )
}

const words = ({ connection, role, writer, upstreamLost, unsent, refusedKeys }: TerminalState, wasLost: boolean) => {
  switch (connection.phase) {
    case 'connecting':
      return ''
    case 'lost':
      return connection.isOffline ? 'Connection lost. This browser is offline.' : 'Connection lost. Reconnecting…'
    case 'ended':
      return describeExit(connection.exitCode, connection.reason)
    case 'taken':
      return 'Opened in another window'
    case 'refused':
      return 'The terminal could not be opened'
    case 'open':
      if (upstreamLost) return 'The console lost its connection to the service'
      if (role === 'watcher')
        return `You are watching. ${writer ? `${writer.name} is typing` : 'Nobody is typing'}${refusedKeys > 0 ? '; your input is ignored' : ''}`
      return `${wasLost ? 'Reconnected' : ''}${unsent.text ? '; unsent input is waiting' : ''}`
  }
}
