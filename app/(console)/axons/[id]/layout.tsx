import type { ReactNode } from 'react'
import { cache } from 'react'
import { AxonDetail } from '#components/axons/axon-detail.tsx'
import { axonQueries } from '#components/axons/queries.ts'
import { requireSession } from '#lib/gateway/accounts/session.ts'
import { readDetailPage, titledByName } from '../../read-page.tsx'

/** Shared by the title and the page within one request. */
const getAxon = cache(async (id: string) => (await requireSession()).api.axons.get({ params: { id } }))

export const generateMetadata = titledByName('Axon', getAxon)

interface AxonLayoutProps {
  params: Promise<{ id: string }>
  children: ReactNode
}

export default async function AxonLayout({ params, children }: AxonLayoutProps) {
  const { id } = await params
  const query = { ...axonQueries.get(id), queryFn: () => getAxon(id) }
  return readDetailPage(id, query, <AxonDetail id={id}>{children}</AxonDetail>)
}
