import type { Metadata } from 'next'
import { RecordingList } from '#components/recordings/recording-list.tsx'
import { requireSession } from '#lib/gateway/accounts/session.ts'
import { t } from '#lib/language/translate.ts'

export const generateMetadata = (): Metadata => ({ title: t('Recordings') })

export default async function RecordingsPage() {
  await requireSession()
  return <RecordingList />
}
