'use client'
import { type ReactNode, useEffect, useState } from 'react'
import { classes } from '#components/ui/classes.ts'
import { ConnectionNotice } from './connection-notice.tsx'
import type { OpenedTerminal } from './opened-terminal.ts'
import { UnsentInputNotice } from './unsent-input-notice.tsx'
import { useTerminalState } from './use-terminal-state.ts'

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
