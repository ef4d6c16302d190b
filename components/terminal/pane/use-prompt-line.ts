import { useCallback, useEffect, useRef } from 'react'
import { toast } from '#components/ui/toast.tsx'
import { promptText } from '#lib/console/terminal-send.ts'
import type { OpenedTerminal } from './opened-terminal.ts'
import { offerPaste } from './pane-commands.ts'

/** A shell that has just started tells a paste from typing as soon as it prompts; not every shell ever does. */
const promptWithinMs = 1_500

/** Later nobody expects it any more. */
const liveWithinMs = 30_000

/** The terminals of a page by the name of their session, and text for the prompt lines of those that are not there yet. */
export const usePromptLine = () => {
  const panes = useRef(new Map<string, OpenedTerminal>())
  const waiting = useRef(new Map<string, string[]>())
  const leaving = useRef(new AbortController())
  useEffect(() => {
    leaving.current = new AbortController()
    return () => leaving.current.abort()
  }, [])

  const hold = useCallback((opened: OpenedTerminal) => {
    panes.current.set(opened.name, opened)
    const texts = waiting.current.get(opened.name) ?? []
    waiting.current.delete(opened.name)
    for (const text of texts) void write(opened, text, leaving.current.signal)
    return () => {
      if (panes.current.get(opened.name) === opened) panes.current.delete(opened.name)
    }
  }, [])

  const put = useCallback((name: string, text: string) => {
    const opened = panes.current.get(name)
    if (opened) void write(opened, text, leaving.current.signal)
    else waiting.current.set(name, [...(waiting.current.get(name) ?? []), text])
  }, [])

  const opened = useCallback((name: string) => panes.current.get(name), [])
  return { hold, put, opened }
}

/** Puts text on the prompt line once there is one. It is never run: that takes an Enter, which is the person's. */
const write = async (opened: OpenedTerminal, text: string, signal: AbortSignal) => {
  const { session, terminal } = opened
  await until(() => session.isLive, session.subscribe, AbortSignal.any([signal, AbortSignal.timeout(liveWithinMs)]))
  if (signal.aborted) return
  if (!session.isLive)
    return void toast.attention('Nothing was sent to the terminal', { description: 'It is not connected.' })
  if (session.state.role === 'watcher')
    return void toast.attention('Nothing was sent to the terminal', {
      description: 'This page only watches it. Take it over first.',
    })
  const soon = AbortSignal.any([signal, AbortSignal.timeout(promptWithinMs)])
  const isAsking = () => terminal.modes.bracketedPasteMode
  await until(isAsking, (changed) => disposing(terminal.onWriteParsed(changed)), soon)
  if (signal.aborted) return
  const put = promptText(text, { bracketedPaste: isAsking() })
  if (put === null)
    return void toast.attention('Nothing was sent to the terminal', {
      description:
        'What runs in it would take each of the lines as a command at once. Paste them yourself if that is wanted.',
    })
  opened.focus()
  offerPaste(opened, put)
}

const disposing = (subscription: { dispose(): void }) => () => subscription.dispose()

/** Resolves when `isTrue`, or the signal aborts; `subscribe` tells when it may have become so. */
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
