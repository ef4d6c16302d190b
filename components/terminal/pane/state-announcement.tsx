'use client'
import { useRef } from 'react'
import { describeExit } from '#lib/browser/frame/exit-status.ts'
import type { TerminalState } from '#lib/terminal/page/page-terminal.ts'

/** Announces state changes to screen readers, without countdowns. */
export const StateAnnouncement = ({ state, refusal }: { state: TerminalState; refusal: string | null }) => {
  const wasLost = useRef(false)
  const { phase } = state.connection
  if (phase === 'lost') wasLost.current = true
  return (
    <p role="status" className="sr-only">
      {refusal ?? words(state, wasLost.current)}
    </p>
  )
}

const words = ({ connection, role, writer, upstreamLost, unsent, refusedKeys }: TerminalState, wasLost: boolean) => {
  switch (connection.phase) {
    case 'connecting':
      return ''
    case 'lost':
      return connection.isOffline ? 'Connection lost. This browser is offline.' : 'Connection lost. Reconnecting…'
    case 'ended':
      return describeExit(connection.exitCode, connection.reason)
    case 'taken':
      return 'Opened in another window'
    case 'refused':
      return 'The terminal could not be opened'
    case 'open':
      if (upstreamLost) return 'The console lost its connection to the service'
      if (role === 'watcher')
        return `You are watching. ${writer ? `${writer.name} is typing` : 'Nobody is typing'}${refusedKeys > 0 ? '; your input is ignored' : ''}`
      return `${wasLost ? 'Reconnected' : ''}${unsent.text ? '; unsent input is waiting' : ''}`
  }
}
