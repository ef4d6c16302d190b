'use client'
import type { LucideIcon as Icon } from 'lucide-react'
import { Monitor, Moon, Sun } from 'lucide-react'
import { useSyncExternalStore } from 'react'
import { type BrowserChoice, showChoice } from '#components/ui/choice/browser-choice.ts'
import { type Theme, themeOf } from '#lib/browser/frame/preferences.ts'
import { remember } from './remember.ts'

export const themeLooks: Record<Theme, { label: string; icon: Icon }> = {
  system: { label: 'Theme of the system', icon: Monitor },
  light: { label: 'Light theme', icon: Sun },
  dark: { label: 'Dark theme', icon: Moon },
}

/** What the root of the document holds, kept in a cookie for the next page. */
export const choose = (name: BrowserChoice, value: string): void => {
  showChoice(name, value)
  remember(name, value)
}

/** The document's root holds the theme; the cookie holds it for the next page. */
export const setTheme = (theme: Theme): void => {
  if (theme === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme
  remember('theme', theme)
  for (const listener of listeners) listener()
}

export const useTheme = (): Theme =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => themeOf(document.documentElement.dataset.theme),
    () => 'system',
  )

const listeners = new Set<() => void>()
