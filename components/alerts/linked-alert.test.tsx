import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { renderToStaticMarkup } from 'react-dom/server'
import { expect, it } from 'vitest'
import { alertQueries } from '#lib/browser/queries/alerts.ts'
import type { Alert } from '#lib/protocol/alerts.ts'
import { LinkedAlert } from './linked-alert.tsx'

const over: Alert = {
  id: 'dbx_1@1700000000000',
  kind: 'eviction',
  devbox_id: 'dbx_1',
  devbox_name: 'worker',
  metadata: {},
  deadline_ms: 1_700_000_000_000,
  state: 'ended',
  first_heard_ms: 1,
  raised_ms: 1,
  alarms: 1,
  found_late: false,
  acknowledged_by: 'ada',
  acknowledged_ms: 2,
  closed_ms: 3,
}

const textOf = (id: string, known: readonly Alert[]) => {
  const client = new QueryClient()
  client.setQueryData(alertQueries.ofDevbox(id.split(/[@:]/)[0] ?? '').queryKey, known)
  const page = renderToStaticMarkup(
    <QueryClientProvider client={client}>
      <LinkedAlert id={id} />
    </QueryClientProvider>,
  )
  return page.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ')
}

it('tells what became of an alert that a link leads to too late', () => {
  expect(textOf(over.id, [{ ...over, id: 'dbx_1@2', state: 'moved' }, over])).toMatch(/worker .*Evicted .*by ada/)
  expect(textOf('dbx_1:failure', [{ ...over, id: 'dbx_1:failure', kind: 'failure', state: 'seen' }])).toMatch(
    /worker Failure, .*Seen/,
  )
})

it('says that it does not know an alert', () => {
  expect(textOf('dbx_1@5', [over])).toContain('This console does not know it')
})
