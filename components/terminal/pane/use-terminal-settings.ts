import { useSyncExternalStore } from 'react'
import { defaultTerminalSettings, type TerminalSettings, terminalSettings } from '#lib/terminal/page/settings.ts'

export const useTerminalSettings = (): TerminalSettings =>
  useSyncExternalStore(terminalSettings.subscribe, terminalSettings.get, () => defaultTerminalSettings)
