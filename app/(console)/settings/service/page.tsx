import type { Metadata } from 'next'
import { ServiceSupportPage } from '#components/settings/service-support.tsx'
import { endpoints } from '#lib/contract/index.ts'
import { requireSession } from '#lib/gateway/accounts/session.ts'
import { isExtension } from '#lib/protocol/support.ts'

export const metadata: Metadata = { title: 'What this service offers' }

// Passed as data, so that the page doesn't load every schema of the contract.
const operations = endpoints
  .filter(({ scope }) => scope !== 'local')
  .map(({ id, method, path }) => ({ id, method, path, isExtension: isExtension(id) }))

export default async function ServicePage() {
  const { service } = await requireSession()
  return <ServiceSupportPage serviceUrl={service.url} operations={operations} />
}
