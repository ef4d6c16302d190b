// @vitest-environment happy-dom
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { cleanup, render, screen } from '@testing-library/react'
import type { ReactNode } from 'react'
import { afterEach, expect, it, vi } from 'vitest'
import type { Alert } from '#lib/protocol/alerts.ts'
import { alertOf } from '#lib/protocol/testing.ts'
import { AlertBadge, AlertBar } from './alert-bar.tsx'
import { emptyAlertFeed } from './alert-feed.ts'
import { LinkedAlert } from './evictions-page.tsx'
import { alertQueries } from './queries.ts'

vi.mock('next/navigation', () => ({ usePathname: () => '/' }))

const deadline_ms = 1_700_000_000_000
const alert = alertOf({ devbox_name: 'worker', deadline_ms })
const noop = () => undefined

afterEach(() => {
  cleanup()
  vi.useRealTimers()
})

const renderText = (node: ReactNode, client: QueryClient) => {
  const { container } = render(<QueryClientProvider client={client}>{node}</QueryClientProvider>)
  const text = container.textContent
  cleanup()
  return text
}

const textWith = (leftMs: number, change: Partial<Alert> = {}, node = <AlertBar onCollapse={noop} />) => {
  vi.useFakeTimers({ now: deadline_ms - leftMs, toFake: ['Date'] })
  const client = new QueryClient()
  client.setQueryData(alertQueries.feed().queryKey, { ...emptyAlertFeed, open: [{ ...alert, ...change }] })
  return renderText(node, client)
}

it('shows the time left, then "now", then how long the alert is overdue', () => {
  expect(textWith(91_000)).toContain('will be evicted in 01:31')
  expect(textWith(-500)).toContain('is being evicted')
  expect(textWith(-3_600_000)).toContain('was due to be evicted 1 h ago')
  expect(textWith(-3_600_000, { kind: 'end' })).toContain('was due to be deleted 1 h ago')
})

it('shows the devboxes of a drained node as one alert', () => {
  vi.useFakeTimers({ now: deadline_ms - 720_000, toFake: ['Date'] })
  const client = new QueryClient()
  const open = ['a', 'b', 'c'].map((id) => ({ ...alert, id, devbox_id: id, node: 'node-2' }))
  const later = { ...alert, id: 'd', devbox_id: 'd', node: 'node-2', deadline_ms: deadline_ms + 1000 }
  client.setQueryData(alertQueries.feed().queryKey, { ...emptyAlertFeed, open: [...open, later] })
  const text = renderText(<AlertBar onCollapse={noop} />, client)
  expect(text).toMatch(/^3 devboxes on node-2will be evicted in 12:00.*1 more.*Acknowledge 4/)
})

it('shows no countdown in the collapsed bar after the deadline', () => {
  const badge = <AlertBadge onExpand={noop} />
  expect(textWith(91_000, {}, badge)).toContain('1alert, in01:31')
  expect(textWith(-500, {}, badge)).not.toContain('00:00')
})

it.each([
  [{ state: 'ended' }, /worker.*Evicted.*by ada/],
  [{ kind: 'failure', state: 'seen', id: 'dbx_1:failure' }, /worker.*Failure, .*Seen/],
] as [Partial<Alert>, RegExp][])('shows the outcome of a linked alert: %o', (change, expected) => {
  const linked = { ...alert, acknowledged_by: 'ada', acknowledged_ms: 2, closed_ms: 3, ...change }
  const client = new QueryClient()
  client.setQueryData(alertQueries.ofDevbox('dbx_1').queryKey, [{ ...linked, id: 'dbx_1@2', state: 'moved' }, linked])
  expect(renderText(<LinkedAlert id={linked.id} />, client)).toMatch(expected)
})

it('reports an unknown linked alert', () => {
  const client = new QueryClient()
  client.setQueryData(alertQueries.ofDevbox('dbx_1').queryKey, [alert])
  render(
    <QueryClientProvider client={client}>
      <LinkedAlert id="dbx_1@5" />
    </QueryClientProvider>,
  )
  expect(screen.getByText(/Alert not found/)).toBeTruthy()
})
