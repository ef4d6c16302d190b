'use client'
import { usePathname } from 'next/navigation'
import { Tabs } from '#components/ui/tabs.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { useSettingsDestinations } from './navigation.ts'

export const SettingsNavigation = () => {
  const pathname = usePathname()
  const pages = [
    { label: 'General', href: paths.settings() },
    { label: 'Keyboard shortcuts', href: paths.shortcuts() },
    ...useSettingsDestinations(),
    { label: 'Service', href: paths.service() },
  ]
  const current = pages.findLast(({ href }) => pathname === href || pathname.startsWith(`${href}/`))
  return (
    <div className="mb-5">
      <Tabs
        label="Settings"
        current={current?.href ?? ''}
        tabs={pages.map(({ label, href }) => ({ id: href, label, href }))}
      />
    </div>
  )
}
