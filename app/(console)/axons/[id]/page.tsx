import { AxonDetail } from '#components/axons/axon-detail.tsx'
import { axonTabOf } from '#components/axons/axon-tab.ts'
import { axonQueries } from '#lib/console/queries/axons.ts'
import { requireSession } from '#lib/gateway/accounts/session.ts'
import { type DetailPageProps, readDetailPage, titledById } from '../../read-page.tsx'

export const generateMetadata = titledById('Axon')

export default async function AxonPage({ params, searchParams }: DetailPageProps) {
  const { api } = await requireSession()
  const { id } = await params
  const tab = axonTabOf((await searchParams).tab)
  return readDetailPage(id, axonQueries.get(id, api), <AxonDetail id={id} tab={tab} />)
}
