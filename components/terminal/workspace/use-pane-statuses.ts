import { useEffect, useRef, useState } from 'react'
import type { TerminalLayout } from '#lib/terminal/layout/layout.ts'
import { terminalsOf } from '#lib/terminal/layout/moves.ts'
import type { PaneStatus } from '../pane/pane-status.ts'

/** Limits title updates, which a program may send thousands of times per second. */
const titlePauseMs = 200

const unknown: PaneStatus = { phase: 'connecting', exitCode: null, unseen: null }

/** Status and title of each terminal, by session name. */
export const usePaneStatuses = (layout: TerminalLayout, inView: readonly string[]) => {
  const [statuses, setStatuses] = useState<Record<string, PaneStatus>>({})
  const [titles, setTitles] = useState<Record<string, string>>({})
  const pendingTitles = useRef<Record<string, string>>({})
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])

  // Forget closed terminals: a new shell may reuse the name.
  const shown = terminalsOf(layout).join(' ')
  useEffect(() => {
    const names = shown.split(' ')
    const kept = <T>(all: Record<string, T>): Record<string, T> =>
      Object.fromEntries(Object.entries(all).filter(([name]) => names.includes(name)))
    pendingTitles.current = kept(pendingTitles.current)
    setStatuses(kept)
    setTitles(kept)
  }, [shown])

  const setStatus = (name: string, status: PaneStatus) => setStatuses((before) => ({ ...before, [name]: status }))
  const setTitle = (name: string, title: string) => {
    pendingTitles.current[name] = title
    timer.current ??= setTimeout(() => {
      timer.current = undefined
      const changed = pendingTitles.current
      pendingTitles.current = {}
      setTitles((before) => ({ ...before, ...changed }))
    }, titlePauseMs)
  }

  // A terminal's initial screen doesn't count as unseen output.
  const wasSeen = useRef(new Set<string>())
  useEffect(() => {
    for (const name of inView) wasSeen.current.add(name)
  })
  const statusOf = (name: string): PaneStatus => {
    const status = statuses[name] ?? unknown
    return status.unseen === 'output' && !wasSeen.current.has(name) ? { ...status, unseen: null } : status
  }
  return {
    isKnown: (name: string) => name in statuses,
    statusOf,
    titleOf: (name: string) => titles[name],
    setStatus,
    setTitle,
  }
}
