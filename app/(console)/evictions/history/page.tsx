import type { Metadata } from 'next'
import { AlertHistory } from '#components/alerts/alert-history.tsx'
import { requireSession } from '#lib/gateway/accounts/session.ts'

export const metadata: Metadata = { title: 'Eviction history' }

export default async function EvictionHistoryPage() {
  await requireSession()
  return <AlertHistory />
}
