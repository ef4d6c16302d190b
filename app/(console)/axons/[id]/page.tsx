import { redirect } from 'next/navigation'
import { AxonOverview } from '#components/axons/axon-detail.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { toSearchParams } from '#lib/browser/address/url-query.ts'
import { requireSession } from '#lib/gateway/accounts/session.ts'
import { type DetailPageProps, idOf } from '../../read-page.tsx'

export default async function AxonOverviewPage({ params, searchParams }: DetailPageProps) {
  await requireSession()
  const id = await idOf(params)
  const { tab, ...rest } = await searchParams
  // Tabs were addressed by ?tab= before 0.2.
  if (tab === 'events' || tab === 'sql') {
    const search = toSearchParams(rest).toString()
    redirect(`${paths.axon(id, tab)}${search && `?${search}`}`)
  }
  return <AxonOverview id={id} />
}
