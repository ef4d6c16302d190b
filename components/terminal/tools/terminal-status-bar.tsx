import { CornerUpLeft, Power } from 'lucide-react'
import { type ReactNode, type Ref, useState } from 'react'
import { Keys } from '#components/layout/keys.tsx'
import { ConfirmDialog } from '#components/ui/confirm-dialog.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import type { OpenedTerminal } from '../pane/opened-terminal.ts'
import { PaneTools } from '../pane/pane-features.tsx'
import { useTerminalState } from '../pane/use-terminal-state.ts'
import { TerminalLatency } from './terminal-latency.tsx'
import { TerminalShare } from './terminal-share.tsx'
import { TerminalViewers } from './terminal-viewers.tsx'

interface TerminalStatusBarProps {
  opened: OpenedTerminal
  hintId: string
  /** Receives focus when the user leaves the terminal by keyboard. */
  way: Ref<HTMLButtonElement>
  isFollower: boolean
  actions: ReactNode
}

export const TerminalStatusBar = ({ opened, hintId, way, isFollower, actions }: TerminalStatusBarProps) => (
  <div className="flex min-h-9 items-center gap-x-1 border-t border-line bg-surface-1 py-1 pr-1.5 pl-3">
    <p id={hintId} className="hidden min-w-0 items-center gap-1.5 truncate text-sm text-muted @2xl:flex">
      <Keys keys={['Ctrl', 'Shift', 'X']} /> <span className="truncate">to leave the terminal</span>
    </p>
    <IconButton ref={way} size="sm" icon={CornerUpLeft} label="Back to the terminal" onClick={opened.focus} />
    {/* Scrolls in narrow panes. */}
    <div className="-my-1 flex min-w-0 flex-1 items-center gap-x-1 overflow-x-auto py-1 [scrollbar-width:none]">
      <span className="flex-1" />
      <TerminalViewers opened={opened} />
      <TerminalLatency opened={opened} />
      {!isFollower && <TerminalShare opened={opened} />}
      <PaneTools opened={opened} />
      {!isFollower && <EndShell opened={opened} />}
    </div>
    {actions}
  </div>
)

const EndShell = ({ opened }: { opened: OpenedTerminal }) => {
  const { connection, role } = useTerminalState(opened.session)
  const [isEnding, setIsEnding] = useState(false)
  return (
    <>
      <IconButton
        size="sm"
        icon={Power}
        label="End shell"
        disabledReason={
          connection.phase !== 'open'
            ? 'there is no open shell'
            : role === 'watcher'
              ? 'Another window is typing'
              : null
        }
        onClick={() => setIsEnding(true)}
      />
      <ConfirmDialog
        open={isEnding}
        onOpenChange={setIsEnding}
        title="End the shell?"
        consequence="Programs running in it will be terminated. The devbox keeps running, and you can start a new shell."
        confirmLabel="End shell"
        onConfirm={() => {
          setIsEnding(false)
          opened.session.request({ t: 'close' })
        }}
      />
    </>
  )
}
