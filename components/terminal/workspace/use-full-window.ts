import { type RefObject, useEffect, useRef, useState } from 'react'
import { toast } from '#components/ui/toast.tsx'

/** Chrome and Edge only; missing in TypeScript's DOM types. */
interface KeyboardLock {
  keyboard?: { lock?: () => Promise<void>; unlock?: () => void }
}

export interface FullWindow {
  element: RefObject<HTMLDivElement | null>
  isFull: boolean
  isFullScreen: boolean
  toggleFullScreen: () => void
}

/** Lets an element fill the window. Full screen also locks the keyboard, so that Ctrl+W and Esc reach the shell. */
export const useFullWindow = (hasOwnWindow: boolean): FullWindow => {
  const element = useRef<HTMLDivElement>(null)
  const [isFullScreen, setIsFullScreen] = useState(false)
  const isFull = hasOwnWindow || isFullScreen

  useEffect(() => {
    const look = () => setIsFullScreen(document.fullscreenElement !== null)
    document.addEventListener('fullscreenchange', look)
    return () => {
      document.removeEventListener('fullscreenchange', look)
      if (document.fullscreenElement) void leave()
    }
  }, [])

  // Covered elements must not take focus. Dialogs and toasts are outside the frame.
  useEffect(() => {
    if (!isFull) return
    const covered: HTMLElement[] = []
    for (let at: HTMLElement | null = element.current; at?.parentElement; at = at.parentElement) {
      if (at.parentElement === document.body) break
      for (const other of at.parentElement.children)
        if (other !== at && other instanceof HTMLElement && !other.inert) covered.push(other)
    }
    for (const each of covered) each.inert = true
    return () => {
      for (const each of covered) each.inert = false
    }
  }, [isFull])

  const toggleFullScreen = () => {
    if (document.fullscreenElement) return void leave()
    enter().catch(() => toast.attention('The browser blocked full screen'))
  }
  return { element, isFull, isFullScreen, toggleFullScreen }
}

const enter = async () => {
  // The whole page, so that dialogs and toasts stay visible.
  await document.documentElement.requestFullscreen({ navigationUI: 'hide' })
  const isLocked = await (navigator as KeyboardLock).keyboard?.lock?.().then(
    () => true,
    () => false,
  )
  toast.info('Full screen', {
    description: isLocked
      ? 'All keys go to the terminal. Hold Esc to leave.'
      : 'This browser keeps Esc, Ctrl+W and Ctrl+T. Press Esc to leave.',
  })
}

const leave = async () => {
  ;(navigator as KeyboardLock).keyboard?.unlock?.()
  // Fails if the user has just left full screen.
  await document.exitFullscreen().catch(() => undefined)
}
