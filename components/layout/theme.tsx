'use client'
import type { LucideIcon } from 'lucide-react'
import { Monitor, Moon, Sun, SunMoon } from 'lucide-react'
import { type BrowserChoice, showChoice, useChoice } from '#components/ui/choice/browser-choice.ts'
import { DropdownMenu } from '#components/ui/dropdown-menu.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { type Theme, themeOf, themes } from '#lib/browser/frame/preferences.ts'
import { savePreference } from './save-preference.ts'

export const themeLabels: Record<Theme, { label: string; icon: LucideIcon }> = {
  system: { label: 'System theme', icon: Monitor },
  light: { label: 'Light theme', icon: Sun },
  dark: { label: 'Dark theme', icon: Moon },
}

export const ThemeMenu = () => {
  const current = useTheme()
  return (
    <DropdownMenu
      label="Theme"
      trigger={<IconButton icon={SunMoon} label="Theme" />}
      items={themes.map((theme) => ({
        ...themeLabels[theme],
        checked: theme === current,
        onSelect: () => setTheme(theme),
      }))}
    />
  )
}

export const applyPreference = (name: BrowserChoice, value: string): void => {
  showChoice(name, value)
  savePreference(name, value)
}

/** The system's theme is stored as its absence. */
export const setTheme = (theme: Theme): void => applyPreference('theme', theme === 'system' ? '' : theme)

export const useTheme = (): Theme => themeOf(useChoice('theme'))
