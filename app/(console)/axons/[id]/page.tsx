import { cache } from 'react'
import { AxonDetail } from '#components/axons/axon-detail.tsx'
import { axonTabOf } from '#components/axons/axon-tab.ts'
import { axonQueries } from '#lib/browser/queries/axons.ts'
import { requireSession } from '#lib/gateway/accounts/session.ts'
import { type DetailPageProps, readDetailPage, titledByName } from '../../read-page.tsx'

/** Once per request, for the title and for the page. */
const readAxon = cache(async (id: string) => (await requireSession()).api.axons.get({ params: { id } }))

export const generateMetadata = titledByName('Axon', readAxon)

export default async function AxonPage({ params, searchParams }: DetailPageProps) {
  const { id } = await params
  const tab = axonTabOf((await searchParams).tab)
  return readDetailPage(id, { ...axonQueries.get(id), queryFn: () => readAxon(id) }, <AxonDetail id={id} tab={tab} />)
}
