import { useEffect, useEffectEvent, useState } from 'react'
import type { TerminalState } from '#lib/terminal/page/page-terminal.ts'
import type { OpenedTerminal } from './opened-terminal.ts'

/** Status of a terminal as shown on its tab. */
export interface PaneStatus {
  phase: 'connecting' | 'open' | 'watching' | 'lost' | 'ended'
  exitCode: number | null
  /** Since the pane was last visible. */
  unseen: 'bell' | 'output' | null
}

/** Reports the pane's status to the workspace on each change. */
export const usePaneStatus = (
  opened: OpenedTerminal,
  state: TerminalState,
  { isVisible, onStatus }: { isVisible: boolean; onStatus: (status: PaneStatus) => void },
): void => {
  const unseen = useUnseen(opened, isVisible)
  const phase = phaseOf(state)
  const exitCode = state.connection.phase === 'ended' ? state.connection.exitCode : null
  const report = useEffectEvent(onStatus)
  useEffect(() => report({ phase, exitCode, unseen }), [phase, exitCode, unseen])
}

export const phaseOf = ({ connection: { phase }, role, upstreamLost }: TerminalState): PaneStatus['phase'] => {
  if (phase === 'connecting' || phase === 'ended') return phase
  if (phase !== 'open' || upstreamLost) return 'lost'
  return role === 'watcher' ? 'watching' : 'open'
}

const useUnseen = ({ terminal }: OpenedTerminal, isVisible: boolean): PaneStatus['unseen'] => {
  const [unseen, setUnseen] = useState<PaneStatus['unseen']>(null)
  useEffect(() => {
    const isSeen = () => isVisible && document.visibilityState === 'visible'
    const happened = (what: 'bell' | 'output') => () => {
      if (!isSeen()) setUnseen((before) => (before === 'bell' ? before : what))
    }
    const look = () => {
      if (isSeen()) setUnseen(null)
    }
    look()
    const listeners = [terminal.onBell(happened('bell')), terminal.onWriteParsed(happened('output'))]
    document.addEventListener('visibilitychange', look)
    return () => {
      for (const each of listeners) each.dispose()
      document.removeEventListener('visibilitychange', look)
    }
  }, [terminal, isVisible])
  return unseen
}
