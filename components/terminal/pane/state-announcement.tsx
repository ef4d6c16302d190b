'use client'
import { useRef } from 'react'
import { exitWords } from '#lib/browser/frame/exit-words.ts'
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
      return connection.isOffline
        ? 'Connection lost, this browser is offline'
        : 'Connection lost, the terminal is reconnecting'
    case 'ended':
      return exitWords(connection.exitCode, connection.reason)
    case 'taken':
      return 'This terminal was opened elsewhere'
    case 'refused':
      return 'The terminal was refused'
    case 'open':
      if (upstreamLost) return 'The console has lost the service'
      if (role === 'watcher')
        return `You are watching, ${writer?.name ?? 'nobody'} types here${refusedKeys > 0 ? '; what you type goes nowhere' : ''}`
      return `${wasLost ? 'Connected again' : ''}${unsent.text ? '; what you typed meanwhile waits to be sent' : ''}`
  }
}
