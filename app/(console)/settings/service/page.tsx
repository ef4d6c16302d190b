import type { Metadata } from 'next'
import { ServiceSupportPage } from '#components/settings/service-support.tsx'
import { requireSession } from '#lib/gateway/accounts/session.ts'
import { listedOperations } from '#lib/gateway/support/listed-operations.ts'

export const metadata: Metadata = { title: 'What this service offers' }

export default async function ServicePage() {
  const { service } = await requireSession()
  return <ServiceSupportPage serviceUrl={service.url} operations={listedOperations} />
}
