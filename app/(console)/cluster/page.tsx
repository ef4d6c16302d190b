import type { Metadata } from 'next'
import { ClusterPage } from '#components/cluster/cluster-page.tsx'
import { requireSession } from '#lib/gateway/accounts/session.ts'

export const generateMetadata = (): Metadata => ({ title: 'Cluster' })

export default async function Cluster({ searchParams }: { searchParams: Promise<{ node?: string | string[] }> }) {
  await requireSession()
  const { node } = await searchParams
  return <ClusterPage linkedNode={[node].flat()[0]} />
}
