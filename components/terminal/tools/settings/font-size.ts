import { useRef } from 'react'
import { defaultTerminalSettings, terminalLimits, terminalSettings } from '#lib/terminal/page/settings.ts'
import type { OpenedTerminal } from '../../pane/opened-terminal.ts'
import { shortcutOf } from '../../pane/platform.ts'
import { useListener, usePaneKeys } from '../use-pane-events.ts'

/** Changes the font size with Ctrl or ⌘ and +, - and 0 while a terminal has focus, and by pinching. */
export const FontSize = ({ opened }: { opened: OpenedTerminal }) => {
  usePaneKeys(opened, (event) => {
    switch (shortcutOf(event, false)) {
      case 'larger':
        return () => changeTo(terminalSettings.get().fontSize + 1)
      case 'smaller':
        return () => changeTo(terminalSettings.get().fontSize - 1)
      case 'own-size':
        return () => changeTo(defaultTerminalSettings.fontSize)
      default:
        return null
    }
  })
  const pinch = useRef<{ apart: number; fontSize: number }>(undefined)
  const begin = ({ touches }: TouchEvent) => {
    pinch.current =
      touches.length === 2 ? { apart: distance(touches), fontSize: terminalSettings.get().fontSize } : undefined
  }
  useListener(opened.element, 'touchstart', begin)
  useListener(opened.element, 'touchend', begin)
  useListener(opened.element, 'touchmove', (event) => {
    if (!pinch.current || event.touches.length !== 2) return
    // Prevents page zoom.
    event.preventDefault()
    changeTo(Math.round((pinch.current.fontSize * distance(event.touches)) / pinch.current.apart))
  })
  return null
}

const changeTo = (size: number) => {
  const { min, max } = terminalLimits.fontSize
  const fontSize = Math.min(max, Math.max(min, size))
  if (fontSize !== terminalSettings.get().fontSize) terminalSettings.change({ fontSize })
}

const distance = (touches: TouchList): number => {
  const [a, b] = [touches[0], touches[1]]
  return a && b ? Math.max(1, Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY)) : 1
}
