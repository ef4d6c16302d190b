import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { pageIdentity } from '#lib/browser/frame/page-identity.ts'
import { type OpenedTerminal, openTerminal } from './opened-terminal.ts'

const loadXterm = () => import('./draw-terminal.ts')
if (typeof window === 'object') loadXterm().catch(() => undefined)

interface Options {
  devboxId: string
  name: string
  followToken?: string | undefined
  isVisible: boolean
}

/** Creates and connects a terminal once `screen` is visible, and keeps it until unmount. */
export const useOpenedTerminal = (
  pane: RefObject<HTMLElement | null>,
  screen: RefObject<HTMLElement | null>,
  { devboxId, name, followToken, isVisible }: Options,
): { opened: OpenedTerminal | undefined; failure: string | undefined; tryAgain: () => void } => {
  const [opened, setOpened] = useState<OpenedTerminal>()
  const [failure, setFailure] = useState<string>()
  const [attempt, setAttempt] = useState(0)
  const visible = useRef(isVisible)
  visible.current = isVisible
  // Waits while hidden, because the shell would start with the wrong size.
  const [isWanted, setIsWanted] = useState(isVisible)
  if (isVisible && !isWanted) setIsWanted(true)
  useLayoutEffect(() => {
    if (screen.current?.clientWidth) setIsWanted(true)
  }, [screen])

  // biome-ignore lint/correctness/useExhaustiveDependencies: each attempt begins from the start
  useEffect(() => {
    if (!isWanted) return
    let isGone = false
    setFailure(undefined)
    let close = () => {}
    const start = async (element: HTMLElement, screen: HTMLElement) => {
      const [{ drawTerminal }, page] = await Promise.all([loadXterm(), pageIdentity()])
      if (isGone) return
      const drawn = await drawTerminal(screen)
      if (isGone) return drawn.close()
      const made = openTerminal(drawn, {
        element,
        screen,
        page,
        devboxId,
        name,
        followToken,
        isVisible: () => visible.current,
      })
      close = () => {
        made.close()
        setOpened(undefined)
      }
      made.opened.fit()
      made.opened.session.connect()
      // Synchronous, so that all features listen before the socket delivers anything.
      flushSync(() => setOpened(made.opened))
    }
    if (pane.current && screen.current)
      start(pane.current, screen.current).catch((error: unknown) => setFailure(String(error)))
    return () => {
      isGone = true
      close()
    }
  }, [pane, screen, devboxId, name, followToken, isWanted, attempt])

  useEffect(() => {
    if (isVisible) opened?.fit()
  }, [opened, isVisible])
  return { opened, failure, tryAgain: () => setAttempt((before) => before + 1) }
}
