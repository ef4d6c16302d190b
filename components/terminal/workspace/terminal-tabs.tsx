import { Bell, CircleDashed, CircleDot, Eye, type LucideIcon, Pin, Square, TriangleAlert, X } from 'lucide-react'
import { type ComponentProps, type DragEvent, type KeyboardEvent, useEffect, useRef, useState } from 'react'
import { classes } from '#components/ui/classes.ts'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { maxLabelLength, panesOf, type TerminalTab } from '#lib/terminal/layout/layout.ts'
import { moveTab, pinTab, renameTab } from '#lib/terminal/layout/moves.ts'
import type { PaneStatus } from '../pane/use-pane-wiring.ts'
import type { Workspace } from './use-workspace.ts'

/** Arrow keys only move focus, because showing a tab focuses its terminal. With Shift they move the tab. */
export const TerminalTabs = ({ workspace, panelId }: { workspace: Workspace; panelId: string }) => {
  const { layout, change, renaming, setRenaming } = workspace
  const { active } = layout
  const faces = layout.tabs.map((tab) => faceOf(tab, workspace))
  const closeOf = (index: number) =>
    faces.length > 1 && !faces[index]?.isPinned ? () => workspace.closeTab(index) : undefined
  const list = useRef<HTMLDivElement>(null)
  const [focused, setFocused] = useState<number>()
  const [said, setSaid] = useState('')
  const reachable = focused !== undefined && focused < faces.length ? focused : active

  // biome-ignore lint/correctness/useExhaustiveDependencies: whenever another one is shown, or they are more
  useEffect(() => {
    const shown = list.current?.querySelector('[aria-selected=true]')
    shown?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }, [active, faces.length])

  const show = (index: number) => {
    workspace.show(index)
    workspace.focus(layout.tabs[index]?.active ?? '')
  }
  const focusTab = (index: number) => {
    setFocused(index)
    // In the next frame, because the tab may be moving.
    requestAnimationFrame(() => list.current?.querySelectorAll<HTMLElement>('[role=tab]')[index]?.focus())
  }
  const move = (from: number, to: number): boolean => {
    // Pinned tabs stay left of the others.
    if (!faces[from] || faces[to]?.isPinned !== faces[from].isPinned) return false
    change((now) => moveTab(now, from, to), 'replace')
    setSaid(`${faces[from].title} is now tab ${to + 1} of ${faces.length}`)
    return true
  }
  const pin = (index: number) => {
    const isPinned = !faces[index]?.isPinned
    change((now) => pinTab(now, index, isPinned), 'replace')
    setSaid(`${faces[index]?.title} is now ${isPinned ? 'pinned' : 'unpinned'}`)
  }
  const rename = (index: number, label: string | null, byKey: boolean) => {
    if (label !== null) change((now) => renameTab(now, index, label), 'replace')
    setRenaming(-1)
    // Restores focus to where renaming started.
    if (byKey && index === active) show(index)
    else if (byKey) focusTab(index)
  }
  const onKeyDown = (event: KeyboardEvent, index: number) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return
    const last = faces.length - 1
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
    if (step && event.shiftKey) {
      if (move(index, index + step)) focusTab(index + step)
    } else if (step) focusTab((index + step + faces.length) % faces.length)
    else if (event.key === 'Home') focusTab(0)
    else if (event.key === 'End') focusTab(last)
    else if (event.key === 'F2') setRenaming(index)
    else if (event.key === 'p') {
      pin(index)
      focusTab(faces.filter((each, other) => each.isPinned && other !== index).length)
    } else if (event.key === 'Delete' && faces[index]?.isPinned) setSaid('Pinned. Press P to unpin it first')
    else if (event.key === 'Delete' && faces.length > 1) {
      workspace.closeTab(index)
      focusTab(Math.max(0, Math.min(index, last - 1)))
    } else return
    event.preventDefault()
  }
  const dragged = useTabDrag(move)

  return (
    <>
      <div
        ref={list}
        role="tablist"
        aria-label="Terminals"
        className="flex min-w-0 items-stretch gap-px overflow-x-auto [scrollbar-width:none]"
      >
        {faces.map((face, index) => {
          const isActive = index === active
          const isRenamed = index === renaming
          const { look, ...drag } = dragged(index, face.key)
          const close = closeOf(index)
          return (
            <div
              key={face.key}
              role="presentation"
              draggable={!isRenamed}
              {...drag}
              onAuxClick={(event) => event.button === 1 && close?.()}
              className={classes(
                'group relative flex max-w-60 min-w-24 shrink-0 items-center rounded-t-md border border-b-0',
                isActive ? 'border-line bg-surface-1' : 'border-transparent text-muted hover:bg-surface-1',
                look,
              )}
            >
              {isRenamed ? (
                <LabelInput
                  label={face.label}
                  placeholder={face.title}
                  onLeave={(label, byKey) => rename(index, label, byKey)}
                />
              ) : (
                <TabButton
                  face={face}
                  aria-selected={isActive}
                  aria-controls={panelId}
                  tabIndex={index === reachable ? 0 : -1}
                  onClick={() => show(index)}
                  onDoubleClick={() => setRenaming(index)}
                  onFocus={() => setFocused(index)}
                  onBlur={() => setFocused(undefined)}
                  onKeyDown={(event) => onKeyDown(event, index)}
                />
              )}
              {face.isPinned && !isRenamed && (
                <TabMark icon={Pin} title="Unpin tab" isShown onClick={() => pin(index)} />
              )}
              {close && !isRenamed && (
                <TabMark icon={X} title="Close tab (the shell keeps running)" isShown={isActive} onClick={close} />
              )}
            </div>
          )
        })}
      </div>
      <span role="status" className="sr-only">
        {said}
      </span>
    </>
  )
}

const faceOf = ({ label, tree, active, isPinned }: TerminalTab, { titleOf, statusOf }: Workspace): TabFace => {
  const names = panesOf(tree)
  return {
    key: names[0] as string,
    label,
    title: label || titleOf(active) || active,
    status: together(names.map(statusOf), statusOf(active)),
    panes: names.length,
    isPinned,
  }
}

/** The active pane's status, unless another pane is disconnected or has unseen activity. */
const together = (all: readonly PaneStatus[], active: PaneStatus): PaneStatus => {
  const worst = all.find(({ phase }) => phase === 'lost') ?? active
  const unseen = all.find((each) => each.unseen === 'bell') ?? all.find((each) => each.unseen)
  return { ...worst, unseen: unseen?.unseen ?? null }
}

/** Reorders tabs by drag and drop. Returns the props for each tab. */
const useTabDrag = (move: (from: number, to: number) => void) => {
  const [dragged, setDragged] = useState<{ from: number; to: number }>()
  return (index: number, key: string) => ({
    onDragStart: ({ dataTransfer }: DragEvent) => {
      dataTransfer.effectAllowed = 'move'
      // Some browsers require data.
      dataTransfer.setData('application/x-devdeck-terminal-tab', key)
      setDragged({ from: index, to: index })
    },
    onDragOver: (event: DragEvent) => {
      if (!dragged) return
      event.preventDefault()
      if (dragged.to !== index) setDragged({ ...dragged, to: index })
    },
    onDrop: (event: DragEvent) => {
      if (!dragged) return
      event.preventDefault()
      // `dragged.to` may not be up to date yet.
      if (dragged.from !== index) move(dragged.from, index)
      setDragged(undefined)
    },
    onDragEnd: () => setDragged(undefined),
    look: dragged && dragClass(dragged, index),
  })
}

const dragClass = ({ from, to }: { from: number; to: number }, index: number): string | undefined => {
  if (index === from) return 'opacity-50'
  if (index !== to) return undefined
  return from > to ? 'shadow-[inset_2px_0_var(--accent)]' : 'shadow-[inset_-2px_0_var(--accent)]'
}

interface TabFace {
  key: string
  label: string
  title: string
  status: PaneStatus
  panes: number
  isPinned: boolean
}

const TabButton = ({ face, ...button }: { face: TabFace } & ComponentProps<'button'>) => (
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
    {face.isPinned && <span className="sr-only">, pinned</span>}
    <Unseen status={face.status} />
  </button>
)

interface TabMarkProps {
  icon: LucideIcon
  title: string
  isShown: boolean
  onClick: () => void
}

/** For the mouse; the keyboard has Delete and P. Not a button, because a tablist may only contain tabs. */
const TabMark = ({ icon: Icon, title, isShown, onClick }: TabMarkProps) => (
  <span
    aria-hidden
    title={title}
    onMouseDown={(event) => event.preventDefault()}
    onClick={onClick}
    className={classes(
      'absolute right-1 flex size-6 cursor-pointer items-center justify-center rounded-sm text-muted hover:bg-surface-3 hover:text-text',
      !isShown && 'opacity-0 group-focus-within:opacity-100 group-hover:opacity-100',
    )}
  >
    <Icon className="size-3.5" />
  </span>
)

interface LabelInputProps {
  label: string
  placeholder: string
  onLeave: (label: string | null, byKey: boolean) => void
}

const LabelInput = ({ label, placeholder, onLeave }: LabelInputProps) => {
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
  unopened: { icon: CircleDashed, tone: 'text-neutral', word: 'not open' },
  ended: { icon: Square, tone: 'text-neutral', word: 'ended' },
}

const statusLabel = ({ phase, exitCode }: PaneStatus): string =>
  phase === 'ended' && exitCode !== null ? `ended ${exitCode}` : looks[phase].word

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
      {unseen === 'bell' ? (
        <Bell aria-hidden className="size-3" />
      ) : (
        <span aria-hidden className="size-1.5 rounded-full bg-current" />
      )}
      <span className="sr-only">{unseen === 'bell' ? 'rang' : 'new output'}</span>
    </span>
  )
