import type { Metadata } from 'next'
import { ActivityPage } from '#components/activity/activity-page.tsx'
import { requireSession } from '#lib/gateway/accounts/session.ts'

export const generateMetadata = (): Metadata => ({ title: 'Activity' })

export default async function Page() {
  await requireSession()
  return <ActivityPage />
}
