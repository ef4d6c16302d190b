'use client'
import { Eye, Keyboard, Users } from 'lucide-react'
import { Popover } from '#components/ui/popover.tsx'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import type { TerminalViewer } from '#lib/wire/terminals.ts'
import type { OpenedTerminal } from '../pane/opened-terminal.ts'
import { useTerminalState } from '../pane/use-terminal-state.ts'
import { StatusButton } from './status-button.tsx'

/** How many look at this terminal, and who; nothing while nobody else does. */
export const TerminalPeople = ({ opened }: { opened: OpenedTerminal }) => {
  const { viewers, you, writer } = useTerminalState(opened.session)
  if (viewers.length < 2) return null
  return (
    <Popover
      label="Who looks at this terminal"
      trigger={
        <StatusButton icon={Users} label={`${viewers.length} people look at this terminal`}>
          {viewers.length}
        </StatusButton>
      }
    >
      <ul className="space-y-1.5">
        {viewers.map((viewer) => (
          <li key={viewer.id}>
            <Person viewer={viewer} isYou={viewer.id === you} isWriter={viewer.id === writer?.id} />
          </li>
        ))}
      </ul>
    </Popover>
  )
}

interface PersonProps {
  viewer: TerminalViewer
  isYou: boolean
  isWriter: boolean
}

const Person = ({ viewer, isYou, isWriter }: PersonProps) => {
  const Icon = isWriter ? Keyboard : Eye
  return (
    <div className="flex items-start gap-2">
      <Icon aria-hidden className="mt-0.5 size-3.5 shrink-0 text-muted" />
      <div className="min-w-0 flex-1">
        <VisibleText max={60}>{viewer.name}</VisibleText>
        {isYou && <span className="text-muted"> (you)</span>}
        <p className="text-sm text-muted">
          {isWriter ? 'Types' : viewer.follower ? 'Watches by link' : 'Watches'}, came{' '}
          <RelativeTime ms={viewer.since_ms} />
        </p>
      </div>
    </div>
  )
}
