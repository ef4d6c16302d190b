import { cache, type ReactNode } from 'react'
import { DevboxDetail } from '#components/devboxes/detail.tsx'
import { devboxQueries } from '#components/devboxes/queries.ts'
import { requireSession } from '#lib/gateway/accounts/session.ts'
import { type DetailPageProps, readDetailPage, titledByName } from '../../read-page.tsx'

/** Fetched once per request, for the title and the page. */
const readDevbox = cache(async (id: string) => (await requireSession()).api.devboxes.get({ params: { id } }))

export const generateMetadata = titledByName('Devbox', readDevbox)

export default async function DevboxLayout({
  params,
  children,
}: Pick<DetailPageProps, 'params'> & { children: ReactNode }) {
  const { service } = await requireSession()
  const { id } = await params
  return readDetailPage(
    id,
    { ...devboxQueries.get(id), queryFn: () => readDevbox(id) },
    <DevboxDetail id={id} serviceUrl={service.url}>
      {children}
    </DevboxDetail>,
  )
}
