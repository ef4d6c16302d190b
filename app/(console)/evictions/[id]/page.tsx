import type { Metadata } from 'next'
import { notFound } from 'next/navigation'
import { cache } from 'react'
import { AlertPage } from '#components/alerts/alert-page.tsx'
import { alertsName } from '#components/alerts/people/alerts-name.ts'
import { alertQueries } from '#components/alerts/queries.ts'
import { openSession, requireSession } from '#lib/gateway/accounts/session.ts'
import { storedAlerts } from '#lib/gateway/alerts/alert-books.ts'
import { type DetailPageProps, idOf, readPage } from '../../read-page.tsx'

type Props = Pick<DetailPageProps, 'params'>

const readAlert = cache(async (id: string) => {
  const session = await openSession()
  if (!session) return undefined
  const { store, account } = storedAlerts(session)
  return store.get(account, id)
})

export const generateMetadata = async (props: Props): Promise<Metadata> => {
  const alert = await readAlert(await idOf(props.params))
  return { title: alert ? `Alert: ${alertsName([alert])}` : 'Alert' }
}

export default async function AlertDetails(props: Props) {
  const { service } = await requireSession()
  const id = await idOf(props.params)
  const alert = await readAlert(id)
  if (!alert) return notFound()
  return readPage(
    async (client) => client.setQueryData(alertQueries.get(id).queryKey, alert),
    <AlertPage id={id} isLocal={service.embedded} />,
  )
}
