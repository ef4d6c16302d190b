import { Bell, CircleDashed, CircleDot, Eye, type LucideIcon, Square, TriangleAlert, X } from 'lucide-react'
import { type KeyboardEvent, useEffect, useRef, useState } from 'react'
import { classes } from '#components/ui/classes.ts'
import { VisibleText } from '#components/ui/visible-text.tsx'
import { maxLabelLength, panesOf, type TerminalTab } from '#lib/terminal/layout/layout.ts'
import { moveTab, renameTab } from '#lib/terminal/layout/moves.ts'
import type { PaneStatus } from '../pane/pane-status.ts'
import type { Workspace } from './use-workspace.ts'

interface TerminalTabsProps {
  workspace: Workspace
  /** Of the element the tabs show their terminals in. */
  panelId: string
}

/**
 * The tabs of a devbox's terminals. Arrows move the focus only, as showing a tab takes the focus into its terminal;
 * with Shift they move the tab itself.
 */
export const TerminalTabs = ({ workspace, panelId }: TerminalTabsProps) => {
  const { layout, change, renaming, setRenaming } = workspace
  const { active } = layout
  const faces = layout.tabs.map((tab) => faceOf(tab, workspace))
  const close = faces.length > 1 ? workspace.closeTab : undefined
  const show = (index: number) => {
    workspace.show(index)
    workspace.focus(layout.tabs[index]?.active ?? '')
  }
  const list = useRef<HTMLDivElement>(null)
  const [focused, setFocused] = useState<number>()
  const [dragged, setDragged] = useState<{ from: number; to: number }>()
  const [said, setSaid] = useState('')
  const reachable = focused !== undefined && focused < faces.length ? focused : active

  // biome-ignore lint/correctness/useExhaustiveDependencies: whenever another one is shown, or they are more
  useEffect(() => {
    const shown = list.current?.querySelector('[aria-selected=true]')
    shown?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }, [active, faces.length])

  const focusTab = (index: number) => {
    setFocused(index)
    // After the tab has moved, if it does.
    requestAnimationFrame(() => list.current?.querySelectorAll<HTMLElement>('[role=tab]')[index]?.focus())
  }
  const move = (from: number, to: number) => {
    if (to < 0 || to >= faces.length) return
    change((now) => moveTab(now, from, to), 'replace')
    setSaid(`${faces[from]?.title} is tab ${to + 1} of ${faces.length} now`)
  }
  const onKeyDown = (event: KeyboardEvent, index: number) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return
    const last = faces.length - 1
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
    if (step && event.shiftKey) {
      move(index, index + step)
      focusTab(Math.min(last, Math.max(0, index + step)))
    } else if (step) focusTab((index + step + faces.length) % faces.length)
    else if (event.key === 'Home') focusTab(0)
    else if (event.key === 'End') focusTab(last)
    else if (event.key === 'F2') setRenaming(index)
    else if (event.key === 'Delete' && close) {
      close(index)
      focusTab(Math.max(0, Math.min(index, last - 1)))
    } else return
    event.preventDefault()
  }

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
          return (
            // biome-ignore lint/a11y/noStaticElementInteractions: dragging has the arrow keys of the tab beside it
            <div
              key={face.key}
              role="presentation"
              draggable={renaming !== index}
              onDragStart={({ dataTransfer }) => {
                dataTransfer.effectAllowed = 'move'
                // Some browsers drag nothing that carries no data.
                dataTransfer.setData('application/x-devdeck-terminal-tab', face.key)
                setDragged({ from: index, to: index })
              }}
              onDragOver={(event) => {
                if (!dragged) return
                event.preventDefault()
                if (dragged.to !== index) setDragged({ ...dragged, to: index })
              }}
              onDrop={(event) => {
                if (!dragged) return
                event.preventDefault()
                if (dragged.from !== dragged.to) move(dragged.from, dragged.to)
                setDragged(undefined)
              }}
              onDragEnd={() => setDragged(undefined)}
              onAuxClick={(event) => event.button === 1 && close?.(index)}
              className={classes(
                'group relative flex max-w-60 min-w-24 shrink-0 items-center rounded-t-md border border-b-0',
                isActive ? 'border-line bg-surface-1' : 'border-transparent text-muted hover:bg-surface-1',
                dragged?.from === index && 'opacity-50',
                dragged && dragged.to === index && dragged.from > index && 'shadow-[inset_2px_0_var(--accent)]',
                dragged && dragged.to === index && dragged.from < index && 'shadow-[inset_-2px_0_var(--accent)]',
              )}
            >
              {renaming === index ? (
                <LabelInput
                  label={face.label}
                  placeholder={face.title}
                  onLeave={(label, byKey) => {
                    if (label !== null) change((now) => renameTab(now, index, label), 'replace')
                    setRenaming(-1)
                    // Back to where it was asked for.
                    if (byKey && isActive) show(index)
                    else if (byKey) focusTab(index)
                  }}
                />
              ) : (
                <button
                  type="button"
                  role="tab"
                  aria-selected={isActive}
                  aria-controls={panelId}
                  tabIndex={index === reachable ? 0 : -1}
                  title={`${face.title} (${statusWords(face.status)})`}
                  onClick={() => show(index)}
                  onDoubleClick={() => setRenaming(index)}
                  onFocus={() => setFocused(index)}
                  onBlur={() => setFocused(undefined)}
                  onKeyDown={(event) => onKeyDown(event, index)}
                  className="flex h-8 min-w-0 flex-1 items-center gap-1.5 rounded-t-md pr-7 pl-2.5 -outline-offset-2"
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
              )}
              {close && renaming !== index && (
                // Delete on the tab does the same; a button among tabs would be none to a screen reader.
                <span
                  aria-hidden
                  title="Close tab; its shell goes on"
                  onMouseDown={(event) => event.preventDefault()}
                  onClick={() => close(index)}
                  className={classes(
                    'absolute right-1 flex size-6 cursor-pointer items-center justify-center rounded-sm text-muted hover:bg-surface-3 hover:text-text',
                    !isActive && 'opacity-0 group-focus-within:opacity-100 group-hover:opacity-100',
                  )}
                >
                  <X className="size-3.5" />
                </span>
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

/** A tab as it is drawn; its first pane names it for as long as it is there. */
const faceOf = ({ label, tree, active }: TerminalTab, { titleOf, statusOf }: Workspace) => {
  const names = panesOf(tree)
  return {
    key: names[0] as string,
    label,
    title: label || titleOf(active) || active,
    status: together(names.map(statusOf), statusOf(active)),
    panes: names.length,
  }
}

/** A tab says what its active pane is, unless another one needs somebody more. */
const together = (all: readonly PaneStatus[], active: PaneStatus): PaneStatus => {
  const worst = all.find(({ phase }) => phase === 'lost') ?? active
  const unseen = all.find((each) => each.unseen === 'bell') ?? all.find((each) => each.unseen)
  return { ...worst, unseen: unseen?.unseen ?? null }
}

interface LabelInputProps {
  label: string
  placeholder: string
  /** Null when nothing is to change. */
  onLeave: (label: string | null, byKey: boolean) => void
}

const LabelInput = ({ label, placeholder, onLeave }: LabelInputProps) => {
  const leftBy = useRef<string>(undefined)
  return (
    <input
      // biome-ignore lint/a11y/noAutofocus: it takes the place of the tab that had the focus
      autoFocus
      aria-label="Name of the tab"
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

const statusWords = ({ phase, exitCode }: PaneStatus): string =>
  phase === 'ended' && exitCode !== null ? `ended ${exitCode}` : looks[phase].word

/** What is normal is a mark; what is not is also said. */
const StatusMark = ({ status }: { status: PaneStatus }) => {
  const { icon: Icon, tone } = looks[status.phase]
  const hasFailed = status.phase === 'ended' && status.exitCode !== null && status.exitCode !== 0
  const isNormal = status.phase === 'open' || status.phase === 'connecting'
  return (
    <span className={classes('inline-flex shrink-0 items-center gap-1 text-xs', hasFailed ? 'text-danger' : tone)}>
      <Icon aria-hidden className="size-3" strokeWidth={2.25} />
      <span className={isNormal ? 'sr-only' : undefined}>{statusWords(status)}</span>
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
