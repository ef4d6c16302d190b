import { BlueprintOverview } from '#components/blueprints/overview.tsx'
import { requireSession } from '#lib/gateway/accounts/session.ts'
import { type DetailPageProps, idOf } from '../../read-page.tsx'

export default async function BlueprintOverviewPage({ params }: DetailPageProps) {
  await requireSession()
  return <BlueprintOverview id={await idOf(params)} />
}
