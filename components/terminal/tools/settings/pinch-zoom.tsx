'use client'
import { useEffect } from 'react'
import { terminalLimits, terminalSettings } from '#lib/terminal/page/settings.ts'
import type { OpenedTerminal } from '../../pane/opened-terminal.ts'

/** Two fingers on the screen change the font size, of this and every other terminal. */
export const PinchZoom = ({ opened: { element } }: { opened: OpenedTerminal }) => {
  useEffect(() => {
    let start: { apart: number; fontSize: number } | undefined
    const begin = ({ touches }: TouchEvent) => {
      start = touches.length === 2 ? { apart: distance(touches), fontSize: terminalSettings.get().fontSize } : undefined
    }
    const move = (event: TouchEvent) => {
      if (!start || event.touches.length !== 2) return
      // Not the page's own zoom.
      event.preventDefault()
      const { min, max } = terminalLimits.fontSize
      const fontSize = Math.round(
        Math.min(max, Math.max(min, (start.fontSize * distance(event.touches)) / start.apart)),
      )
      if (fontSize !== terminalSettings.get().fontSize) terminalSettings.change({ fontSize })
    }
    element.addEventListener('touchstart', begin, { passive: true })
    element.addEventListener('touchmove', move, { passive: false })
    element.addEventListener('touchend', begin, { passive: true })
    return () => {
      element.removeEventListener('touchstart', begin)
      element.removeEventListener('touchmove', move)
      element.removeEventListener('touchend', begin)
    }
  }, [element])
  return null
}

const distance = (touches: TouchList): number => {
  const [a, b] = [touches[0], touches[1]]
  return a && b ? Math.max(1, Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY)) : 1
}
