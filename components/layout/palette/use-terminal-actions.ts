import { useQuery } from '@tanstack/react-query'
import type { LucideIcon } from 'lucide-react'
import { Columns2, Plus, RotateCcw, Rows2, SendHorizontal, SquareTerminal } from 'lucide-react'
import { usePathname } from 'next/navigation'
import { executionQueries } from '#components/commands/queries.ts'
import { useTerminalRequest } from '#components/terminal/workspace/use-terminal-request.ts'

export interface TerminalAction {
  label: string
  icon: LucideIcon
  run: () => void
}

/** Terminal actions of the devbox shown on this page; empty on other pages. */
export const useTerminalActions = (): readonly TerminalAction[] => {
  const devboxId = /^\/devboxes\/([A-Za-z0-9_-]+)(\/|$)/.exec(usePathname())?.[1] ?? ''
  const ask = useTerminalRequest(devboxId)
  const { data: runs } = useQuery(executionQueries.startedHere(devboxId))
  if (devboxId === '') return []
  const last = runs[0]?.command
  return [
    { label: 'Open terminal', icon: SquareTerminal, run: () => ask() },
    { label: 'New terminal tab', icon: Plus, run: () => ask('new-tab') },
    { label: 'Split terminal right', icon: Columns2, run: () => ask('split', 'right') },
    { label: 'Split terminal down', icon: Rows2, run: () => ask('split', 'down') },
    { label: 'Reset terminal', icon: RotateCcw, run: () => ask('reset') },
    ...(last === undefined
      ? []
      : [{ label: 'Send last command to terminal', icon: SendHorizontal, run: () => ask('prompt', last) }]),
  ]
}
