import { Bell, CircleDashed, CircleDot, Eye, type LucideIcon, Square, TriangleAlert, X } from 'lucide-react'
import { type ComponentProps, useRef } from 'react'
import { classes } from '#components/ui/classes.ts'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { maxLabelLength } from '#lib/terminal/layout/layout.ts'
import type { PaneStatus } from '../pane/pane-status.ts'

export interface TabFace {
  key: string
  /** Custom name; empty to use the terminal's title. */
  label: string
  title: string
  status: PaneStatus
  panes: number
}

export const TabButton = ({ face, ...button }: { face: TabFace } & ComponentProps<'button'>) => (
  <button
    type="button"
    role="tab"
    title={`${face.title} (${statusLabel(face.status)})`}
    className="flex h-8 min-w-0 flex-1 items-center gap-1.5 rounded-t-md pr-7 pl-2.5 -outline-offset-2"
    {...button}
  >
    <StatusMark status={face.status} />
    <span className="min-w-0 truncate">
      <VisibleText max={60}>{face.title}</VisibleText>
    </span>
    {face.panes > 1 && (
      <span className="tabular text-xs text-muted">
        {face.panes}
        <span className="sr-only"> panes</span>
      </span>
    )}
    <Unseen status={face.status} />
  </button>
)

/** For the mouse; Delete closes by keyboard. Not a button, because a tablist may only contain tabs. */
export const CloseMark = ({ isActive, onClose }: { isActive: boolean; onClose: () => void }) => (
  <span
    aria-hidden
    title="Close tab (the shell keeps running)"
    onMouseDown={(event) => event.preventDefault()}
    onClick={onClose}
    className={classes(
      'absolute right-1 flex size-6 cursor-pointer items-center justify-center rounded-sm text-muted hover:bg-surface-3 hover:text-text',
      !isActive && 'opacity-0 group-focus-within:opacity-100 group-hover:opacity-100',
    )}
  >
    <X className="size-3.5" />
  </span>
)

interface LabelInputProps {
  label: string
  placeholder: string
  /** Null if nothing changed. */
  onLeave: (label: string | null, byKey: boolean) => void
}

export const LabelInput = ({ label, placeholder, onLeave }: LabelInputProps) => {
  const leftBy = useRef<string>(undefined)
  return (
    <input
      // biome-ignore lint/a11y/noAutofocus: it takes the place of the tab that had the focus
      autoFocus
      aria-label="Tab name"
      defaultValue={label}
      placeholder={placeholder.slice(0, maxLabelLength)}
      maxLength={maxLabelLength}
      spellCheck={false}
      autoComplete="off"
      onFocus={({ target }) => target.select()}
      onBlur={({ target }) => onLeave(leftBy.current === 'Escape' ? null : target.value, leftBy.current !== undefined)}
      onKeyDown={(event) => {
        if (event.nativeEvent.isComposing || (event.key !== 'Enter' && event.key !== 'Escape')) return
        event.preventDefault()
        leftBy.current = event.key
        event.currentTarget.blur()
      }}
      className="h-8 w-40 min-w-0 rounded-t-md bg-surface-0 px-2.5 -outline-offset-2"
    />
  )
}

const looks: Record<PaneStatus['phase'], { icon: LucideIcon; tone: string; word: string }> = {
  connecting: { icon: CircleDashed, tone: 'text-progress', word: 'connecting' },
  open: { icon: CircleDot, tone: 'text-ok', word: 'running' },
  watching: { icon: Eye, tone: 'text-neutral', word: 'watching' },
  lost: { icon: TriangleAlert, tone: 'text-attention', word: 'connection lost' },
  ended: { icon: Square, tone: 'text-neutral', word: 'ended' },
}

const statusLabel = ({ phase, exitCode }: PaneStatus): string =>
  phase === 'ended' && exitCode !== null ? `ended ${exitCode}` : looks[phase].word

/** Icon, with text unless the status is normal. */
const StatusMark = ({ status }: { status: PaneStatus }) => {
  const { icon: Icon, tone } = looks[status.phase]
  const hasFailed = status.phase === 'ended' && status.exitCode !== null && status.exitCode !== 0
  const isNormal = status.phase === 'open' || status.phase === 'connecting'
  return (
    <span className={classes('inline-flex shrink-0 items-center gap-1 text-xs', hasFailed ? 'text-danger' : tone)}>
      <Icon aria-hidden className="size-3" strokeWidth={2.25} />
      <span className={isNormal ? 'sr-only' : undefined}>{statusLabel(status)}</span>
    </span>
  )
}

const Unseen = ({ status: { unseen } }: { status: PaneStatus }) =>
  unseen && (
    <span className="inline-flex shrink-0 text-accent">
      {unseen === 'bell' ? <Bell aria-hidden className="size-3" /> : <Dot />}
      <span className="sr-only">{unseen === 'bell' ? 'rang' : 'new output'}</span>
    </span>
  )

const Dot = () => <span aria-hidden className="size-1.5 rounded-full bg-current" />
