import { BuildLog } from '#components/blueprints/build-log.tsx'
import { requireSession } from '#lib/gateway/accounts/session.ts'
import type { DetailPageProps } from '../../../read-page.tsx'

export default async function BlueprintLogPage({ params }: DetailPageProps) {
  await requireSession()
  return <BuildLog id={(await params).id} />
}
