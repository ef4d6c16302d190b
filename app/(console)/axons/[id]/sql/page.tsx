import { SqlPanel } from '#components/axons/sql-panel.tsx'
import { requireSession } from '#lib/gateway/accounts/session.ts'
import { type DetailPageProps, idOf } from '../../../read-page.tsx'

export default async function AxonSqlPage({ params }: DetailPageProps) {
  await requireSession()
  return <SqlPanel id={await idOf(params)} />
}
