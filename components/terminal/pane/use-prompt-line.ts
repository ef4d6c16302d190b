import { useEffect, useRef } from 'react'
import { toast } from '#components/ui/toast.tsx'
import { quotePath } from '#lib/protocol/shell-words.ts'
import { promptText } from '#lib/terminal/page/paste.ts'
import { paneOf } from '#lib/terminal/page/requests.ts'
import { useServing, useTerminalRequests } from '../terminal-requests.tsx'
import type { OpenedTerminal } from './opened-terminal.ts'

/** A new shell enables bracketed paste with its first prompt; some never do. */
const promptTimeoutMs = 1_500
const connectTimeoutMs = 30_000
/** For a new shell, whose startup files may take longer. */
const newShellTimeoutMs = 5_000

/** Inserts text at the prompt with the checks of a paste. */
export const usePromptLine = (opened: OpenedTerminal, offer: (text: string) => void) => {
  const leaving = useRef(new AbortController())
  useEffect(() => {
    leaving.current = new AbortController()
    return () => leaving.current.abort()
  }, [])
  const requests = useTerminalRequests()
  const write = async (
    request: 'prompt' | 'folder',
    detail: string,
    text: string,
    put: (text: string, isAtPrompt: boolean) => void,
    waitMs?: number,
  ) => {
    const { signal } = leaving.current
    const problem = await writeAtPrompt(opened, text, put, waitMs, signal)
    // The pane was closed first, or React mounted it twice.
    if (signal.aborted) requests.ask(paneOf(opened), request, detail)
    else if (problem) toast.attention('Nothing was sent to the terminal', { description: problem })
  }
  useServing(paneOf(opened), 'prompt', (text) => void write('prompt', text, text, offer))
  useServing(paneOf(opened), 'folder', (folder) => {
    const change = (text: string, isAtPrompt: boolean) => {
      // One quoted word of a known command can run by itself, unless it looks different from what it is.
      if (!isAtPrompt || /[\p{Cc}\p{Cf}]/u.test(text)) return offer(text)
      opened.paste(text)
      opened.terminal.input('\r')
    }
    void write('folder', folder, `cd -- ${quotePath(folder)}`, change, newShellTimeoutMs)
  })
}

/** Waits for a prompt and passes the text on. Returns why it could not. */
const writeAtPrompt = async (
  opened: OpenedTerminal,
  text: string,
  put: (text: string, isAtPrompt: boolean) => void,
  waitMs: number | undefined,
  signal: AbortSignal,
) => {
  const { session, terminal } = opened
  await until(() => session.isLive, session.subscribe, AbortSignal.any([signal, AbortSignal.timeout(connectTimeoutMs)]))
  if (signal.aborted) return undefined
  if (!session.isLive) return 'It is not connected.'
  if (session.state.role === 'watcher') return 'You are only watching. Take over first.'
  const soon = AbortSignal.any([signal, AbortSignal.timeout(waitMs ?? promptTimeoutMs)])
  const isAsking = () => terminal.modes.bracketedPasteMode
  const onParsed = (changed: () => void) => {
    const listener = terminal.onWriteParsed(changed)
    return () => listener.dispose()
  }
  await until(isAsking, onParsed, soon)
  if (signal.aborted) return undefined
  const clean = promptText(text, { bracketedPaste: isAsking() })
  if (clean === null) return 'Each line would run immediately. Paste the text yourself to do that.'
  opened.focus()
  put(clean, isAsking())
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
