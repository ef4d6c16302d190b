// @vitest-environment happy-dom
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { cleanup, render, screen, within } from '@testing-library/react'
import { afterEach, expect, it } from 'vitest'
import type { Receivers as ReceiverList } from '#lib/protocol/alerts.ts'
import { receiverOf } from '#lib/protocol/testing.ts'
import { receiverQueries } from './queries.ts'
import { Receivers } from './receivers.tsx'

afterEach(cleanup)

const show = (list: Partial<ReceiverList>) => {
  const client = new QueryClient({ defaultOptions: { queries: { staleTime: Number.POSITIVE_INFINITY } } })
  client.setQueryData(receiverQueries.list().queryKey, {
    receivers: [],
    add_refusal: null,
    watches_alone: true,
    ...list,
  })
  render(
    <QueryClientProvider client={client}>
      <Receivers />
    </QueryClientProvider>,
  )
  return screen.queryAllByRole('listitem').map(({ textContent }) => textContent)
}

it("says why an account can't add receivers", () => {
  show({ add_refusal: 'Only the operator can add receivers' })
  expect(screen.getByRole('button', { name: /Add receiver/ }).textContent).toContain('Only the operator')
})

it('shows the state, filter and origin of each receiver', () => {
  const failure = { since_ms: Date.now() - 3_600_000, answer: 'HTTP 500' }
  const filter = { kinds: ['eviction', 'watch'], min_severity: 'critical', metadata: { team: 'core' } } as const
  const rows = show({
    receivers: [
      receiverOf({
        failure,
        waiting: 12,
        next_try_ms: Date.now() + 90_000,
        filter: { ...filter, kinds: [...filter.kinds] },
      }),
      receiverOf({ id: 'environment', source: 'environment' }),
      receiverOf({ id: 'rcv_2', waiting: 2, is_paused: true }),
      receiverOf({ id: 'rcv_3', format: 'heartbeat', every_seconds: 120, next_try_ms: Date.now() + 90_000 }),
      receiverOf({ id: 'rcv_4', format: 'heartbeat', every_seconds: 60 }),
    ],
  })
  expect(rows[0]).toMatch(
    /Failing.*eviction, outage; critical only; team=core.*Failing since 1 h ago: HTTP 500.*12 waiting, next try in 01:/,
  )
  expect(rows[1]).toContain('all alerts. Set by DEVDECK_WEBHOOK_URL.')
  expect(rows[2]).toContain('Paused')
  expect(rows[2]).not.toContain('Retry now')
  expect(rows[3]).toMatch(/Nothing sent yet.*every 2 min/)
  expect(rows[4]).toContain("Stopped while the console can't see evictions")
  const [first] = screen.getAllByRole('listitem')
  expect(within(first as HTMLElement).getByRole('button', { name: 'Retry now' })).toBeTruthy()
})
