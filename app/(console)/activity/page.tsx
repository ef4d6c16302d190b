import type { Metadata } from 'next'
import { ActivityPage } from '#components/activity/activity-page.tsx'
import { requireSession } from '#lib/gateway/accounts/session.ts'
import { t } from '#lib/language/translate.ts'

export const generateMetadata = (): Metadata => ({ title: t('Activity') })

export default async function Page() {
  await requireSession()
  return <ActivityPage />
}
