'use client'
import { Eye } from 'lucide-react'
import { useEffect, useRef } from 'react'
import { Button } from '#components/ui/button.tsx'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { NoticeBar } from './notice-bar.tsx'
import type { OpenedTerminal } from './opened-terminal.ts'
import { useTerminalState } from './use-terminal-state.ts'

/** Names the writer and offers to take over. Highlights when a key is pressed. */
export const WatchingBar = ({ opened, isFollower }: { opened: OpenedTerminal; isFollower: boolean }) => {
  const { session, focus } = opened
  const { role, connection, writer, takenBy, refusedKeys } = useTerminalState(session)
  const bar = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (refusedKeys === 0) return
    bar.current?.animate(
      [{ boxShadow: 'inset 0 0 0 2px var(--focus)' }, { boxShadow: 'inset 0 0 0 2px transparent' }],
      {
        duration: 900,
        easing: 'ease-in',
      },
    )
  }, [refusedKeys])
  if (role !== 'watcher' || connection.phase !== 'open') return null
  const isTaken = takenBy !== null && writer?.id === takenBy.id
  const take = () => {
    session.request({ t: 'takeover' })
    focus()
  }
  return (
    <NoticeBar
      ref={bar}
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
