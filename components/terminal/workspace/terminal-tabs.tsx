import { type KeyboardEvent, useEffect, useRef, useState } from 'react'
import { classes } from '#components/ui/classes.ts'
import { panesOf, type TerminalTab } from '#lib/terminal/layout/layout.ts'
import { moveTab, renameTab } from '#lib/terminal/layout/moves.ts'
import type { PaneStatus } from '../pane/pane-status.ts'
import { CloseMark, LabelInput, TabButton, type TabFace } from './terminal-tab.tsx'
import { useTabDrag } from './use-tab-drag.ts'
import type { Workspace } from './use-workspace.ts'

interface TerminalTabsProps {
  workspace: Workspace
  panelId: string
}

/** Arrow keys only move focus, because showing a tab focuses its terminal. With Shift they move the tab. */
export const TerminalTabs = ({ workspace, panelId }: TerminalTabsProps) => {
  const { layout, change, renaming, setRenaming } = workspace
  const { active } = layout
  const faces = layout.tabs.map((tab) => faceOf(tab, workspace))
  const close = faces.length > 1 ? workspace.closeTab : undefined
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
  const move = (from: number, to: number) => {
    if (to < 0 || to >= faces.length) return
    change((now) => moveTab(now, from, to), 'replace')
    setSaid(`${faces[from]?.title} is tab ${to + 1} of ${faces.length} now`)
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
          return (
            <div
              key={face.key}
              role="presentation"
              draggable={!isRenamed}
              {...drag}
              onAuxClick={(event) => event.button === 1 && close?.(index)}
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
              {close && !isRenamed && <CloseMark isActive={isActive} onClose={() => close(index)} />}
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

/** Keyed by the first pane. */
const faceOf = ({ label, tree, active }: TerminalTab, { titleOf, statusOf }: Workspace): TabFace => {
  const names = panesOf(tree)
  return {
    key: names[0] as string,
    label,
    title: label || titleOf(active) || active,
    status: together(names.map(statusOf), statusOf(active)),
    panes: names.length,
  }
}

/** The active pane's status, unless another pane is disconnected or has unseen activity. */
const together = (all: readonly PaneStatus[], active: PaneStatus): PaneStatus => {
  const worst = all.find(({ phase }) => phase === 'lost') ?? active
  const unseen = all.find((each) => each.unseen === 'bell') ?? all.find((each) => each.unseen)
  return { ...worst, unseen: unseen?.unseen ?? null }
}
