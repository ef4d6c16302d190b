import { Eye, Keyboard, Users } from 'lucide-react'
import { RelativeTime } from '#components/ui/relative-time.tsx'
import { VisibleText } from '#components/ui/visible-text.tsx'
import type { OpenedTerminal } from '../pane/opened-terminal.ts'
import { useTerminalState } from '../pane/use-terminal-state.ts'
import { StatusPopover } from './status-popover.tsx'

export const TerminalViewers = ({ opened }: { opened: OpenedTerminal }) => {
  const { viewers, you, writer } = useTerminalState(opened.session)
  if (viewers.length < 2) return null
  return (
    <StatusPopover
      label="Viewers of this terminal"
      icon={Users}
      name={`${viewers.length} viewers of this terminal`}
      figure={viewers.length}
    >
      <ul className="space-y-1.5">
        {viewers.map(({ id, name, follower, since_ms }) => {
          const isWriter = id === writer?.id
          const Icon = isWriter ? Keyboard : Eye
          return (
            <li key={id} className="flex items-start gap-2">
              <Icon aria-hidden className="mt-0.5 size-3.5 shrink-0 text-muted" />
              <div className="min-w-0 flex-1">
                <VisibleText max={60}>{name}</VisibleText>
                {id === you && <span className="text-muted"> (you)</span>}
                <p className="text-sm text-muted">
                  {isWriter ? 'Typing' : follower ? 'Watching by link' : 'Watching'}, joined{' '}
                  <RelativeTime ms={since_ms} />
                </p>
              </div>
            </li>
          )
        })}
      </ul>
    </StatusPopover>
  )
}
