'use client'
import { useEffect } from 'react'
import { defaultTerminalSettings, terminalLimits, terminalSettings } from '#lib/terminal/page/settings.ts'
import type { OpenedTerminal } from '../../pane/opened-terminal.ts'
import { shortcutOf } from '../../pane/platform.ts'

/** Ctrl or ⌘ with +, - and 0 change the text of terminals while one has the focus; elsewhere they are the browser's. */
export const FontSizeKeys = ({ opened }: { opened: OpenedTerminal }) => {
  useEffect(
    () =>
      opened.onKey((event) => {
        const shortcut = shortcutOf(event, false)
        if (shortcut !== 'larger' && shortcut !== 'smaller' && shortcut !== 'own-size') return false
        event.preventDefault()
        if (event.type !== 'keydown') return true
        const { min, max } = terminalLimits.fontSize
        const step = shortcut === 'larger' ? 1 : -1
        const fontSize =
          shortcut === 'own-size' ? defaultTerminalSettings.fontSize : terminalSettings.get().fontSize + step
        terminalSettings.change({ fontSize: Math.min(max, Math.max(min, fontSize)) })
        return true
      }),
    [opened],
  )
  return null
}
