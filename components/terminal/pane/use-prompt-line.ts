import { useEffect, useRef } from 'react'
import { toast } from '#components/ui/toast.tsx'
import { promptText } from '#lib/terminal/page/paste.ts'
import { paneOf } from '#lib/terminal/page/requests.ts'
import { useServing } from '../terminal-requests.tsx'
import type { OpenedTerminal } from './opened-terminal.ts'

/** A new shell enables bracketed paste with its first prompt; some never do. */
const promptTimeoutMs = 1_500
const connectTimeoutMs = 30_000

/** Inserts text at the prompt with the checks of a paste. */
export const usePromptLine = (opened: OpenedTerminal, offer: (text: string) => void) => {
  const leaving = useRef(new AbortController())
  useEffect(() => {
    leaving.current = new AbortController()
    return () => leaving.current.abort()
  }, [])
  useServing(paneOf(opened), 'prompt', async (text) => {
    const problem = await write(opened, text, offer, leaving.current.signal)
    if (problem) toast.attention('Nothing was sent to the terminal', { description: problem })
  })
}

/** Waits for a prompt and inserts the text without running it. Returns why it could not. */
const write = async (opened: OpenedTerminal, text: string, offer: (text: string) => void, signal: AbortSignal) => {
  const { session, terminal } = opened
  await until(() => session.isLive, session.subscribe, AbortSignal.any([signal, AbortSignal.timeout(connectTimeoutMs)]))
  if (signal.aborted) return undefined
  if (!session.isLive) return 'It is not connected.'
  if (session.state.role === 'watcher') return 'You are only watching. Take over first.'
  const soon = AbortSignal.any([signal, AbortSignal.timeout(promptTimeoutMs)])
  const isAsking = () => terminal.modes.bracketedPasteMode
  const onParsed = (changed: () => void) => {
    const listener = terminal.onWriteParsed(changed)
    return () => listener.dispose()
  }
  await until(isAsking, onParsed, soon)
  if (signal.aborted) return undefined
  const put = promptText(text, { bracketedPaste: isAsking() })
  if (put === null) return 'Each line would run immediately. Paste the text yourself to do that.'
  opened.focus()
  offer(put)
  return undefined
}

const until = (
  isTrue: () => boolean,
  subscribe: (changed: () => void) => () => void,
  signal: AbortSignal,
): Promise<void> =>
  new Promise((resolve) => {
    if (isTrue() || signal.aborted) return resolve()
    const finish = () => {
      if (!isTrue() && !signal.aborted) return
      stop()
      signal.removeEventListener('abort', finish)
      resolve()
    }
    const stop = subscribe(finish)
    signal.addEventListener('abort', finish)
  })
