import type { Metadata } from 'next'
import { RecordingDetail } from '#components/recordings/recording-detail.tsx'
import { requireSession } from '#lib/gateway/accounts/session.ts'

export const metadata: Metadata = { title: 'Recording' }

export default async function RecordingPage({ params }: { params: Promise<{ id: string }> }) {
  await requireSession()
  return <RecordingDetail id={(await params).id} />
}
