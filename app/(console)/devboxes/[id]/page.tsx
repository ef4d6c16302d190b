import { cache } from 'react'
import { DevboxDetail } from '#components/devboxes/devbox-detail.tsx'
import { devboxTabOf } from '#components/devboxes/devbox-tab.ts'
import { devboxQueries } from '#components/devboxes/queries.ts'
import { requireSession } from '#lib/gateway/accounts/session.ts'
import { type DetailPageProps, readDetailPage, titledByName } from '../../read-page.tsx'

/** Once per request, for the title and for the page. */
const readDevbox = cache(async (id: string) => (await requireSession()).api.devboxes.get({ params: { id } }))

export const generateMetadata = titledByName('Devbox', readDevbox)

export default async function DevboxPage({ params, searchParams }: DetailPageProps) {
  const { service } = await requireSession()
  const { id } = await params
  const query = { ...devboxQueries.get(id), queryFn: () => readDevbox(id) }
  const page = <DevboxDetail id={id} tab={devboxTabOf((await searchParams).tab)} serviceUrl={service.url} />
  return readDetailPage(id, query, page)
}
