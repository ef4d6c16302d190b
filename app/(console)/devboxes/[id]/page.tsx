import { redirect } from 'next/navigation'
import { DevboxOverview } from '#components/devboxes/overview/devbox-overview.tsx'
import { paths } from '#lib/browser/address/paths.ts'
import { type DetailPageProps, idOf } from '../../read-page.tsx'

const tabs = ['terminal', 'commands', 'files', 'log', 'snapshots']

export default async function DevboxPage({ params, searchParams }: DetailPageProps) {
  const { tab, ...query } = await searchParams
  // Tabs used to be named by `?tab=`.
  if (typeof tab === 'string' && tabs.includes(tab)) redirect(paths.devbox(await idOf(params), tab, query))
  return <DevboxOverview />
}
