import { useEffect } from 'react'
import type { OpenedTerminal } from './opened-terminal.ts'

/** Scrolls to the cursor when watching a terminal larger than the pane, unless the user has scrolled away. */
export const useCursorInSight = ({ terminal, element }: OpenedTerminal, isWatching: boolean): void => {
  useEffect(() => {
    const pane = element.querySelector('.terminal-screen')
    const cells = element.querySelector('.xterm-screen')
    if (!isWatching || !pane || !cells) return
    let isFollowed = true
    let frame = 0

    /** Distance of the cursor from the visible area, 0 if visible. */
    const distance = () => {
      const { cursorX, cursorY } = terminal.buffer.active
      const around = pane.getBoundingClientRect()
      const screen = cells.getBoundingClientRect()
      const width = screen.width / terminal.cols
      const height = screen.height / terminal.rows
      const left = screen.left + cursorX * width
      const top = screen.top + cursorY * height
      return {
        left: beyond(left, left + width, around.left, around.right),
        top: beyond(top, top + height, around.top, around.bottom),
      }
    }
    const follow = () => {
      cancelAnimationFrame(frame)
      frame = requestAnimationFrame(() => {
        if (isFollowed) pane.scrollBy(distance())
      })
    }
    const scrolled = () => {
      const { left, top } = distance()
      isFollowed = left === 0 && top === 0
    }
    follow()
    const listeners = [terminal.onCursorMove(follow), terminal.onResize(follow)]
    pane.addEventListener('scroll', scrolled)
    return () => {
      cancelAnimationFrame(frame)
      for (const listener of listeners) listener.dispose()
      pane.removeEventListener('scroll', scrolled)
    }
  }, [terminal, element, isWatching])
}

const beyond = (from: number, to: number, least: number, most: number): number => {
  if (from < least) return Math.floor(from - least)
  return to > most ? Math.ceil(to - most) : 0
}
