import { EventPanel } from '#components/axons/event-panel.tsx'
import { requireSession } from '#lib/gateway/accounts/session.ts'
import { type DetailPageProps, idOf } from '../../../read-page.tsx'

export default async function AxonEventsPage({ params }: DetailPageProps) {
  await requireSession()
  return <EventPanel id={await idOf(params)} />
}
