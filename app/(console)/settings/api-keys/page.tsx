import type { Metadata } from 'next'
import { ApiKeysPage } from '#components/api-keys/api-keys-page.tsx'
import { PageHeader } from '#components/ui/page-header.tsx'
import { requireSession } from '#lib/gateway/accounts/session.ts'

export const metadata: Metadata = { title: 'API keys' }

export default async function Page() {
  const { service } = await requireSession()
  return (
    <>
      <PageHeader title="API keys" />
      <ApiKeysPage serviceUrl={service.url} isEmbedded={service.embedded} />
    </>
  )
}
