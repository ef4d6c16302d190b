import { useQueryClient } from '@tanstack/react-query'
import { useRef } from 'react'
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
import { rememberClosed, takeClosed } from './layout-memory.ts'
import type { ChangeLayout } from './use-terminal-layout.ts'

/** Longest wait for the list of running shells. */
const listTimeoutMs = 1_500
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
  const adding = useRef(0)
  const fetchOpen = () =>
    queryClient.fetchQuery({ ...terminalQueries.held(devboxId), staleTime: 0 }).catch(() => undefined)

  /** Adds a terminal under an unused name, so that it doesn't show a running shell. */
  const add = async (how: (now: TerminalLayout, name: string) => TerminalLayout) => {
    if (terminalsOf(latest.current).length + adding.current >= maxTerminals)
      return void toast.attention(`A page can show ${maxTerminals} terminals`, {
        description: 'Close one first. Its shell keeps running.',
      })
    adding.current++
    const held = await Promise.race([fetchOpen(), pause(listTimeoutMs)])
    adding.current--
    // Computed at the last moment, so that concurrent additions get different names.
    change((now) => how(now, freeName([...terminalsOf(now), ...(held ?? []).map(({ name }) => name)])))
  }

  const reopen = () => {
    const shown = terminalsOf(latest.current)
    const closed = takeClosed(devboxId, ({ tree }) => {
      const names = panesOf(tree)
      return names.every((name) => !shown.includes(name)) && names.length + shown.length <= maxTerminals
    })
    if (closed) change((now) => openTab(now, closed))
    else toast.info('No closed terminal to reopen')
  }

  const close = (tab: TerminalTab, how: (now: TerminalLayout) => TerminalLayout) => {
    const before = latest.current
    change(how)
    if (latest.current === before || terminalsOf(latest.current).length === terminalsOf(before).length) return
    const left = panesOf(tab.tree).filter(isRunning)
    if (left.length === 0) return
    rememberClosed(devboxId, tab)
    void showDetached(left, fetchOpen, reopen)
  }

  return {
    open: () => void add((now, name) => openTab(now, singleTab(name))),
    split: (way: SplitDirection, pane?: string) =>
      void add((now, name) => splitPane(now, pane ?? shownTab(now).active, way, name)),
    attach: (name: string) => {
      const closed = takeClosed(devboxId, ({ tree }) => tree === name)
      change((now) => openTab(now, closed ?? singleTab(name)))
    },
    reopen,
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

/** Reports that the shells keep running, and for how long. */
const showDetached = async (
  names: readonly string[],
  fetchOpen: () => Promise<readonly { name: string; ends_at_ms: number | null }[] | undefined>,
  reopen: () => void,
) => {
  const title = names.length === 1 ? `${names[0]} was closed` : `${names.length} terminals were closed`
  const goOn = names.length === 1 ? 'Its shell keeps running' : 'Their shells keep running'
  const options = { action: { label: 'Reopen', onClick: reopen }, id: `left-${names.join('-')}`, durationMs: 8_000 }
  toast.info(title, { ...options, description: `${goOn}.` })
  await pause(detachNoticeMs)
  const held = await fetchOpen()
  const ends = held?.find(({ name }) => name === names[0])?.ends_at_ms
  if (ends == null) return
  const minutes = Math.max(1, Math.round((ends - Date.now()) / 60_000))
  toast.info(title, { ...options, description: `${goOn} for ${minutes} min.` })
}

const pause = (ms: number) => new Promise<undefined>((resolve) => setTimeout(resolve, ms))
