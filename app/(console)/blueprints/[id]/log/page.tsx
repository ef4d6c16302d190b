import { BuildLog } from '#components/blueprints/build-log.tsx'
import { requireSession } from '#lib/gateway/accounts/session.ts'
import { type DetailPageProps, idOf } from '../../../read-page.tsx'

export default async function BlueprintLogPage({ params }: DetailPageProps) {
  await requireSession()
  return <BuildLog id={await idOf(params)} />
}
