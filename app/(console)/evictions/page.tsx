import type { Metadata } from 'next'
import { EvictionsPage } from '#components/alerts/evictions-page.tsx'
import { requireSession } from '#lib/gateway/accounts/session.ts'

export const generateMetadata = (): Metadata => ({ title: 'Evictions' })

export default async function Evictions({ searchParams }: { searchParams: Promise<{ alert?: string | string[] }> }) {
  const { account, service } = await requireSession()
  const { alert } = await searchParams
  return <EvictionsPage linkedId={[alert].flat()[0]} isLocal={service.embedded} account={account.id} />
}
