'use client'
import { useRouter } from 'next/navigation'
import { type ReactNode, useEffect, useId, useRef, useState } from 'react'
import { classes } from '#components/ui/classes.ts'
import { toast } from '#components/ui/toast.tsx'
import { paths } from '#lib/console/address/paths.ts'
import { type Direction, neighbourOf, placeTree } from '#lib/terminal/layout/geometry.ts'
import type { WorkspaceMove } from '#lib/terminal/layout/keys.ts'
import { maxTerminals, panesOf } from '#lib/terminal/layout/layout.ts'
import {
  activatePane,
  breakOut,
  moveTab,
  renameTab,
  setShares,
  shownTab,
  showTab,
  terminalsOf,
} from '#lib/terminal/layout/moves.ts'
import { paneOf } from '#lib/terminal/page/requests.ts'
import type { PaneStatus } from '../pane/pane-status.ts'
import { TerminalPane } from '../pane/terminal-pane.tsx'
import { useServing, useTerminalRequests } from '../terminal-requests.tsx'
import { PaneActions } from '../tools/pane-actions.tsx'
import { PortsDialog } from '../tools/ports-dialog.tsx'
import { useDevboxPort } from '../tools/use-devbox-port.tsx'
import { TerminalRoom } from './terminal-room.tsx'
import { type PanePlace, TerminalSplits } from './terminal-splits.tsx'
import { type TabFace, TerminalTabs } from './terminal-tabs.tsx'
import { useFullWindow } from './use-full-window.ts'
import { useIsNarrow } from './use-is-narrow.ts'
import { useNoStrayDrops } from './use-no-stray-drops.ts'
import { usePaneStatuses } from './use-pane-statuses.ts'
import { useTerminalLayout } from './use-terminal-layout.ts'
import { useWorkspaceActions } from './use-workspace-actions.ts'
import { useWorkspaceKeys } from './use-workspace-keys.ts'
import { WorkspaceMenu } from './workspace-menu.tsx'

export interface TerminalWorkspaceProps {
  devboxId: string
  /** Why the devbox has no shell to offer now; null while it runs. */
  refusal: string | null
  revive?: ReactNode
  onNotRunning: () => void
}

const unknown: PaneStatus = { phase: 'connecting', exitCode: null, unseen: null }

/** The terminals of a devbox in tabs and splits. What is shown is in the address; the shells outlive all of it. */
export const TerminalWorkspace = ({ devboxId, refusal, revive, onNotRunning }: TerminalWorkspaceProps) => {
  const router = useRouter()
  const panelId = useId()
  const { layout, refused, hasOwnWindow, change, latest } = useTerminalLayout(devboxId)
  const { statuses, titles, setStatus, setTitle } = usePaneStatuses(layout)
  const [renaming, setRenaming] = useState(-1)
  const [maximised, setMaximised] = useState<string | null>(null)
  const [isAtPorts, setIsAtPorts] = useState(false)
  const isNarrow = useIsNarrow()
  const port = useDevboxPort(devboxId)
  const { element, isFull, isFullScreen, toggleFullScreen } = useFullWindow(hasOwnWindow)
  const requests = useTerminalRequests()
  const actions = useWorkspaceActions({
    devboxId,
    latest,
    change,
    isRunning: (name) => statuses[name]?.phase !== 'ended',
  })

  const tab = shownTab(layout)
  const panes = panesOf(tab.tree)
  const isAlone = panes.length === 1
  const alone = !isAlone && (isNarrow || maximised === tab.active) ? tab.active : null

  // Those nobody sees yet connect after those somebody waits for.
  const [isSettled, setIsSettled] = useState(false)
  const isWaitedFor = (name: string) => (statuses[name] ?? unknown).phase === 'connecting'
  if (!isSettled && !(alone ? [alone] : panes).some(isWaitedFor)) setIsSettled(true)

  useEffect(() => {
    if (refused.length > 0) tellRefused(refused)
  }, [refused])
  useNoStrayDrops()
  const active = () => paneOf({ devboxId, name: shownTab(latest.current).active })
  useServing(devboxId, 'new-tab', () => void actions.open())
  useServing(devboxId, 'split', (way) => void actions.split(way))
  useServing(devboxId, 'reopen', actions.reopen)
  useServing(devboxId, 'prompt', (text) => requests.ask(active(), 'prompt', text))

  const go = (direction: Direction) => {
    const next = alone ? undefined : neighbourOf(placeTree(tab.tree).panes, tab.active, direction)
    if (next) return change((now) => activatePane(now, next), 'replace')
    const step = { left: -1, right: 1, up: 0, down: 0 }[direction]
    const count = layout.tabs.length
    if (step !== 0) change((now) => showTab(now, (now.active + step + count) % count))
  }
  const perform = (move: WorkspaceMove) => {
    switch (move.kind) {
      case 'go':
        return go(move.direction)
      case 'tab':
        return change((now) => showTab(now, move.index))
      case 'new-tab':
        return void actions.open()
      case 'split':
        return split(move.way)
      case 'maximise':
        return setMaximised(maximised === tab.active ? null : tab.active)
    }
  }
  const split = (way: 'right' | 'down', pane?: string) => {
    setMaximised(null)
    void actions.split(way, pane)
  }
  useWorkspaceKeys(element, perform)

  // The screen a terminal begins with is no output that was missed.
  const wasSeen = useRef(new Set<string>())
  useEffect(() => {
    for (const name of alone ? [alone] : panes) wasSeen.current.add(name)
  })
  const statusOf = (name: string): PaneStatus => {
    const status = statuses[name] ?? unknown
    return status.unseen === 'output' && !wasSeen.current.has(name) ? { ...status, unseen: null } : status
  }
  const faces = layout.tabs.map(({ label, tree, active }): TabFace => {
    const names = panesOf(tree)
    return {
      key: names[0] as string,
      label,
      title: label || titles[active] || active,
      status: together(
        names.map((name) => statusOf(name)),
        statusOf(active),
      ),
      panes: names.length,
    }
  })

  const renderPane = (name: string, { isVisible, isActive }: PanePlace) =>
    (isVisible || isSettled || statuses[name]) && (
      <TerminalPane
        devboxId={devboxId}
        name={name}
        isVisible={isVisible}
        isActive={isVisible && isActive}
        refusal={refusal}
        revive={revive}
        onNotRunning={onNotRunning}
        onTitle={(title) => setTitle(name, title)}
        onStatus={(status) => setStatus(name, status)}
        onFocus={() => isVisible && change((now) => activatePane(now, name), 'replace')}
        onClose={() => (terminalsOf(layout).length > 1 ? actions.closePane(name) : router.push(paths.devbox(devboxId)))}
        actions={
          <PaneActions
            panes={panes}
            name={name}
            isFull={terminalsOf(layout).length >= maxTerminals}
            isMaximised={maximised === name}
            isNarrow={isNarrow}
            onSplit={(way) => split(way, name)}
            onMaximise={() => {
              setMaximised(maximised === name ? null : name)
              change((now) => activatePane(now, name), 'replace')
              requests.ask(paneOf({ devboxId, name }), 'focus')
            }}
            onShow={(other) => change((now) => activatePane(now, other), 'replace')}
            onClose={() => actions.closePane(name)}
          />
        }
      />
    )

  return (
    <>
      <TerminalRoom>
        <div
          ref={element}
          className={classes('flex h-full min-h-0 flex-col', isFull && 'fixed inset-0 z-30 h-auto bg-surface-0 p-1.5')}
        >
          <div className="flex items-end gap-1">
            <TerminalTabs
              faces={faces}
              active={layout.active}
              panelId={panelId}
              renaming={renaming}
              onRenaming={setRenaming}
              onShow={(index) => {
                change((now) => showTab(now, index))
                requests.ask(active(), 'focus')
              }}
              onMove={(from, to) => change((now) => moveTab(now, from, to), 'replace')}
              onRename={(index, label) => change((now) => renameTab(now, index, label), 'replace')}
              onClose={layout.tabs.length > 1 ? actions.closeTab : undefined}
            />
            <WorkspaceMenu
              devboxId={devboxId}
              layout={layout}
              isFullScreen={isFullScreen}
              hasOwnWindow={hasOwnWindow}
              ownWindowHref={paths.terminals(devboxId, layout, !hasOwnWindow)}
              onNew={() => void actions.open()}
              onSplit={split}
              onRename={() => setRenaming(layout.active)}
              onMove={(step) => change((now) => moveTab(now, now.active, now.active + step), 'replace')}
              onBreakOut={() => change((now) => breakOut(now, tab.active))}
              onReopen={actions.reopen}
              onAttach={actions.attach}
              onPorts={() => setIsAtPorts(true)}
              onFullScreen={toggleFullScreen}
            />
          </div>
          <TerminalSplits
            layout={layout}
            alone={alone}
            panelId={panelId}
            renderPane={renderPane}
            onShares={(path, shares) => change((now) => setShares(now, now.active, path, shares), 'replace')}
          />
        </div>
      </TerminalRoom>
      {isAtPorts && <PortsDialog devboxId={devboxId} onOpenPort={port.open} onClose={() => setIsAtPorts(false)} />}
      {port.dialog}
    </>
  )
}

/** A tab says what its active pane is, unless another one needs somebody more. */
const together = (all: readonly PaneStatus[], active: PaneStatus): PaneStatus => {
  const worst = all.find(({ phase }) => phase === 'lost') ?? active
  const unseen = all.find((each) => each.unseen === 'bell') ?? all.find((each) => each.unseen)
  return { ...worst, unseen: unseen?.unseen ?? null }
}

const tellRefused = (names: readonly string[]) =>
  toast.attention(`A page shows at most ${maxTerminals} terminals`, {
    id: 'terminals-refused',
    description: `The address names ${names.length} more: ${names.slice(0, 3).join(', ').slice(0, 120)}${names.length > 3 ? ' …' : ''}. They were left out.`,
  })
