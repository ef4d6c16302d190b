import type { Metadata } from 'next'
import { EvictionsPage } from '#components/evictions/evictions-page.tsx'
import { requireSession } from '#lib/gateway/accounts/session.ts'
import { t } from '#lib/language/translate.ts'

export const generateMetadata = (): Metadata => ({ title: t('Evictions') })

export default async function Evictions({ searchParams }: { searchParams: Promise<{ alert?: string | string[] }> }) {
  const { account, service } = await requireSession()
  const { alert } = await searchParams
  return <EvictionsPage shownId={[alert].flat()[0]} isLocal={service.embedded} account={account.id} />
}
