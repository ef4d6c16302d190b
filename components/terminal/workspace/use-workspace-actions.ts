import { useQueryClient } from '@tanstack/react-query'
import { terminalQueries } from '#components/terminal/queries.ts'
import { toast } from '#components/ui/toast.tsx'
import {
  maxTerminals,
  panesOf,
  type SplitDirection,
  singleTab,
  type TerminalLayout,
  type TerminalTab,
} from '#lib/terminal/layout/layout.ts'
import { closePane, closeTab, freeName, openTab, shownTab, splitPane, terminalsOf } from '#lib/terminal/layout/moves.ts'
import type { ChangeLayout } from './use-terminal-layout.ts'

/** Time until the console notices that a page has left. */
const detachNoticeMs = 500

interface Options {
  devboxId: string
  latest: { current: TerminalLayout }
  change: ChangeLayout
  isRunning: (name: string) => boolean
}

/** Opens and closes terminals. Closing only detaches: the shell keeps running for a while. */
export const useWorkspaceActions = ({ devboxId, latest, change, isRunning }: Options) => {
  const queryClient = useQueryClient()
  const heldQuery = terminalQueries.held(devboxId)
  const changeIfRoom = (added: number, how: (now: TerminalLayout) => TerminalLayout) => {
    if (terminalsOf(latest.current).length + added <= maxTerminals) change(how)
    else
      toast.attention(`A page can show ${maxTerminals} terminals`, {
        description: 'Close one first. Its shell keeps running.',
      })
  }
  const openExisting = (tab: TerminalTab) => changeIfRoom(panesOf(tab.tree).length, (now) => openTab(now, tab))

  /** Adds a terminal under an unused name, so that it doesn't show a running shell. */
  const add = async (how: (now: TerminalLayout, name: string) => TerminalLayout) => {
    const held = await queryClient.fetchQuery({ ...heldQuery, staleTime: 0 }).catch(() => [])
    changeIfRoom(1, (now) => how(now, freeName([...terminalsOf(now), ...held.map(({ name }) => name)])))
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
