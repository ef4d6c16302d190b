import type { Metadata } from 'next'
import { RecordingList } from '#components/recordings/recording-list.tsx'
import { requireSession } from '#lib/gateway/accounts/session.ts'

export const generateMetadata = (): Metadata => ({ title: 'Recordings' })

export default async function RecordingsPage() {
  await requireSession()
  return <RecordingList />
}
