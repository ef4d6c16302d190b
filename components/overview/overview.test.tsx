import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { AppRouterContext } from 'next/dist/shared/lib/app-router-context.shared-runtime'
import { renderToStaticMarkup } from 'react-dom/server'
import { expect, it } from 'vitest'
import { Overview } from './overview.tsx'
import { type DevboxTotals, overviewQueries } from './queries.ts'

const shownWith = (client: QueryClient) =>
  renderToStaticMarkup(
    <QueryClientProvider client={client}>
      <AppRouterContext value={{} as never}>
        <Overview serviceUrl="http://127.0.0.1:1" account="acc_1" demo={{ state: 'none', items: [], problem: null }} />
      </AppRouterContext>
    </QueryClientProvider>,
  )
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')

it('marks figures that could not be refreshed as out of date', () => {
  const client = new QueryClient()
  const { queryKey } = overviewQueries.devboxes()
  client.setQueryData(queryKey, { pages: [], pageParams: [] })
  expect(shownWith(client)).not.toContain('This data is out of date')
  client
    .getQueryCache()
    .find({ queryKey })
    ?.setState({ status: 'error', error: new Error('No response') })
  expect(shownWith(client)).toContain('This data is out of date')
})

it('shows counts of the whole account, and none while they load', () => {
  const client = new QueryClient()
  const pending = shownWith(client)
  expect(pending).toContain('Devboxes running –')
  expect(pending).not.toContain('All clear')
  const counts = { running: 4, suspended: 0, failed: 1, shutDown: 900, moving: 0 }
  const totals: DevboxTotals = { counts, trials: 346, isPartial: false }
  client.setQueryData(overviewQueries.totals().queryKey, totals)
  expect(shownWith(client)).toMatch(/Devboxes running 4 .*346 trial devboxes not counted/)
})

it('lists jobs that failed or timed out within a day as needing attention, but not completed ones', () => {
  const client = new QueryClient()
  const job = (name: string, state: string, create_time_ms = Date.now()) => ({ id: name, name, state, create_time_ms })
  const jobs = [
    job('one', 'completed'),
    job('two', 'failed'),
    job('three', 'timeout'),
    job('four', 'cancelled'),
    job('five', 'failed', Date.now() - 48 * 3_600_000),
  ]
  client.setQueryData(overviewQueries.jobs().queryKey, {
    pages: [{ jobs, has_more: false }],
    pageParams: [undefined],
  } as never)
  const text = shownWith(client)
  expect(text).toMatch(/two Job failed .*three Job timed out/)
  expect(text).not.toMatch(/one Job|four|five/)
})
