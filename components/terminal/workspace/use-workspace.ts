import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { terminalQueries } from '#components/terminal/queries.ts'
import { useRefusal } from '#components/ui/refusals.ts'
import { cutEnd } from '#components/ui/text.ts'
import { toast } from '#components/ui/toast.tsx'
import { useMedia } from '#lib/browser/frame/use-media.ts'
import { type Direction, neighborOf, placeTree } from '#lib/terminal/layout/geometry.ts'
import {
  maxTerminals,
  panesOf,
  type SplitDirection,
  singleTab,
  type TerminalLayout,
  type TerminalTab,
} from '#lib/terminal/layout/layout.ts'
import {
  activatePane,
  closePane,
  closeTab,
  freeName,
  openTab,
  shownTab,
  showTab,
  splitPane,
  terminalsOf,
} from '#lib/terminal/layout/moves.ts'
import { paneOf } from '#lib/terminal/page/requests.ts'
import type { PaneStatus } from '../pane/use-pane-wiring.ts'
import { useServing, useTerminalRequests } from '../terminal-requests.tsx'
import { useNewFolder } from './use-new-folder.ts'
import { type ChangeLayout, useTerminalLayout } from './use-terminal-layout.ts'
import type { WorkspaceMove } from './workspace-keys.ts'

export type Workspace = ReturnType<typeof useWorkspace>

export const useWorkspace = (devboxId: string) => {
  const { layout, refused, hasOwnWindow, change, latest } = useTerminalLayout(devboxId)
  // Phones show one pane at a time.
  const isNarrow = useMedia('(width < 40rem)')
  const [maximized, setMaximized] = useState<string | null>(null)
  const [renaming, setRenaming] = useState(-1)
  const requests = useTerminalRequests()

  const tab = shownTab(layout)
  const panes = panesOf(tab.tree)
  const alone = panes.length > 1 && (isNarrow || maximized === tab.active) ? tab.active : null
  const statuses = usePaneStatuses(layout)
  const actions = useWorkspaceActions({
    devboxId,
    latest,
    change,
    isRunning: (name) => statuses.statusOf(name).phase !== 'ended',
  })

  useEffect(() => {
    if (refused.length === 0) return
    toast.attention(`A page can show ${maxTerminals} terminals`, {
      id: 'terminals-refused',
      description: `The address lists ${refused.length} more: ${cutEnd(refused.join(', '), 120)}. They were not opened.`,
    })
  }, [refused])

  const focus = (name: string) => requests.ask(paneOf({ devboxId, name }), 'focus')
  const show = (index: number) => change((now) => showTab(now, index))
  const activate = (name: string) => change((now) => activatePane(now, name), 'replace')
  const split = (way: SplitDirection, pane?: string) => {
    setMaximized(null)
    actions.split(way, pane)
  }
  const go = (direction: Direction) => {
    const next = alone ? undefined : neighborOf(placeTree(tab.tree).panes, tab.active, direction)
    if (next) return activate(next)
    const step = { left: -1, right: 1, up: 0, down: 0 }[direction]
    const count = layout.tabs.length
    if (step !== 0) show((layout.active + step + count) % count)
  }
  const toggleMaximized = (name: string) => setMaximized(maximized === name ? null : name)
  const perform = (move: WorkspaceMove) => {
    switch (move.kind) {
      case 'go':
        return go(move.direction)
      case 'tab':
        return show(move.index)
      case 'new-tab':
        return actions.open()
      case 'split':
        return split(move.way)
      case 'maximize':
        return toggleMaximized(tab.active)
    }
  }
  const isOpeningFolder = useNewFolder(devboxId, { change, add: actions.add }, (name, folder) =>
    requests.ask(paneOf({ devboxId, name }), 'folder', folder),
  )
  useServing(devboxId, 'new-tab', actions.open)
  useServing(devboxId, 'split', split)
  const focusedPane = () => paneOf({ devboxId, name: shownTab(latest.current).active })
  const reset = () => requests.ask(focusedPane(), 'reset')
  useServing(devboxId, 'reset', reset)
  useServing(devboxId, 'prompt', (text) => requests.ask(focusedPane(), 'prompt', text))

  return {
    devboxId,
    layout,
    hasOwnWindow,
    isOpeningFolder,
    tab,
    panes,
    alone,
    isNarrow,
    maximized,
    renaming,
    setRenaming,
    tooMany: terminalsOf(layout).length >= maxTerminals ? `A page can show ${maxTerminals} terminals` : null,
    change,
    perform,
    focus,
    show,
    activate,
    toggleMaximized,
    reset,
    ...statuses,
    ...actions,
    split,
  }
}

const unknown: PaneStatus = { phase: 'connecting', exitCode: null, unseen: null }

const usePaneStatuses = (layout: TerminalLayout) => {
  const [known, setKnown] = useState<Record<string, { status?: PaneStatus; title?: string }>>({})
  const set = (name: string, part: { status: PaneStatus } | { title: string }) =>
    setKnown((before) => ({ ...before, [name]: { ...before[name], ...part } }))

  // Forget closed terminals: a new shell may reuse the name.
  const shown = terminalsOf(layout).join(' ')
  useEffect(() => {
    const names = shown.split(' ')
    setKnown((before) => Object.fromEntries(Object.entries(before).filter(([name]) => names.includes(name))))
  }, [shown])
  return {
    isKnown: (name: string) => known[name]?.status !== undefined,
    statusOf: (name: string) => known[name]?.status ?? unknown,
    titleOf: (name: string) => known[name]?.title,
    setStatus: (name: string, status: PaneStatus) => set(name, { status }),
    setTitle: (name: string, title: string) => set(name, { title }),
  }
}

/** Time until the console notices that a page has left. */
const detachNoticeMs = 500

interface ActionOptions {
  devboxId: string
  latest: { current: TerminalLayout }
  change: ChangeLayout
  isRunning: (name: string) => boolean
}

/** Opens and closes terminals. Closing only detaches: the shell keeps running for a while. */
const useWorkspaceActions = ({ devboxId, latest, change, isRunning }: ActionOptions) => {
  const queryClient = useQueryClient()
  const heldQuery = terminalQueries.held(devboxId)
  const notAllowed = useRefusal('/api/terminals')
  const changeIfRoom = (
    added: number,
    how: (now: TerminalLayout) => TerminalLayout,
    step?: 'push' | 'replace',
  ): boolean => {
    const hasRoom = terminalsOf(latest.current).length + added <= maxTerminals
    if (hasRoom) change(how, step)
    else
      toast.attention(`A page can show ${maxTerminals} terminals`, {
        description: 'Close one first. Its shell keeps running.',
      })
    return hasRoom
  }
  const openExisting = (tab: TerminalTab) => void changeIfRoom(panesOf(tab.tree).length, (now) => openTab(now, tab))

  /** Adds a terminal under an unused name, so that it doesn't show a running shell. Returns the name if there was room. */
  const add = async (how: (now: TerminalLayout, name: string) => TerminalLayout, step?: 'push' | 'replace') => {
    if (notAllowed !== null) return void toast.attention(notAllowed)
    const held = await queryClient.fetchQuery({ ...heldQuery, staleTime: 0 }).catch(() => [])
    const name = freeName([...terminalsOf(latest.current), ...held.map((each) => each.name)])
    return changeIfRoom(1, (now) => how(now, name), step) ? name : undefined
  }

  const close = (tab: TerminalTab, how: (now: TerminalLayout) => TerminalLayout) => {
    const before = terminalsOf(latest.current).length
    change(how)
    const left = panesOf(tab.tree).filter(isRunning)
    if (terminalsOf(latest.current).length === before || left.length === 0) return
    setTimeout(() => void queryClient.invalidateQueries({ queryKey: heldQuery.queryKey }), detachNoticeMs)
    const isOne = left.length === 1
    toast.info(isOne ? `${left[0]} was closed` : `${left.length} terminals were closed`, {
      description: isOne ? 'Its shell keeps running for a while.' : 'Their shells keep running for a while.',
      action: { label: 'Reopen', onClick: () => openExisting(tab) },
      durationMs: 8_000,
    })
  }

  return {
    add,
    open: () => void add((now, name) => openTab(now, singleTab(name))),
    split: (way: SplitDirection, pane?: string) =>
      void add((now, name) => splitPane(now, pane ?? shownTab(now).active, way, name)),
    attach: (name: string) => openExisting(singleTab(name)),
    closeTab: (index: number) => {
      const tab = latest.current.tabs[index]
      if (tab) close(tab, (now) => closeTab(now, index))
    },
    closePane: (name: string) => {
      const tab = latest.current.tabs.find(({ tree }) => tree === name)
      close(tab ?? singleTab(name), (now) => closePane(now, name))
    },
  }
}
