import type { Metadata } from 'next'
import { Connection } from '#components/settings/connection.tsx'
import { ConnectionTest } from '#components/settings/connection-test.tsx'
import { Preferences } from '#components/settings/preferences.tsx'
import { ShareLinkSettings } from '#components/settings/share-links.tsx'
import { StorageSection } from '#components/settings/storage.tsx'
import { PageHeader } from '#components/ui/page-header.tsx'
import { requireSession } from '#lib/gateway/accounts/session.ts'

export const metadata: Metadata = { title: 'Settings' }

export default async function SettingsPage() {
  const { api: _, ...session } = await requireSession()
  return (
    <>
      <PageHeader title="Settings" description="Connection details and preferences of this browser." />
      <div className="grid max-w-5xl gap-x-12 gap-y-10 lg:grid-cols-2 lg:grid-rows-[auto_1fr]">
        <Connection session={session} />
        <div className="min-w-0 space-y-10 lg:row-span-2">
          <ConnectionTest />
          <StorageSection />
        </div>
        <Preferences />
        <ShareLinkSettings />
      </div>
    </>
  )
}
