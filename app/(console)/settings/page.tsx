import type { Metadata } from 'next'
import { SettingsPage } from '#components/settings/settings-page.tsx'
import { requireSession } from '#lib/gateway/accounts/session.ts'

export const generateMetadata = (): Metadata => ({ title: 'Settings' })

export default async function Settings() {
  const { account, service } = await requireSession()
  return <SettingsPage session={{ account, service }} />
}
