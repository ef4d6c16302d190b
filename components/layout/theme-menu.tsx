'use client'
import { SunMoon } from 'lucide-react'
import { DropdownMenu } from '#components/ui/dropdown-menu.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import { themes } from '#lib/console/frame/preferences.ts'
import { t } from '#lib/language/translate.ts'
import { setTheme, themeLooks, useTheme } from './theme.ts'

export const ThemeMenu = () => {
  const current = useTheme()
  return (
    <DropdownMenu
      label={t('Theme')}
      trigger={<IconButton icon={SunMoon} label={t('Theme')} />}
      items={themes.map((theme) => ({
        ...themeLooks[theme],
        label: t(themeLooks[theme].label),
        checked: theme === current,
        onSelect: () => setTheme(theme),
      }))}
    />
  )
}
