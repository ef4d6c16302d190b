'use client'
import { SunMoon } from 'lucide-react'
import { DropdownMenu } from '#components/ui/dropdown-menu.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { themes } from '#lib/browser/frame/preferences.ts'
import { setTheme, themeLooks, useTheme } from './theme.ts'

export const ThemeMenu = () => {
  const current = useTheme()
  return (
    <DropdownMenu
      label="Theme"
      trigger={<IconButton icon={SunMoon} label="Theme" />}
      items={themes.map((theme) => ({
        ...themeLooks[theme],
        label: themeLooks[theme].label,
        checked: theme === current,
        onSelect: () => setTheme(theme),
      }))}
    />
  )
}
