import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { renderToStaticMarkup } from 'react-dom/server'
import { expect, it } from 'vitest'
import { Overview } from './overview.tsx'
import { overviewQueries } from './queries.ts'

const shownWith = (client: QueryClient) =>
  renderToStaticMarkup(
    <QueryClientProvider client={client}>
      <Overview serviceUrl="http://127.0.0.1:1" />
    </QueryClientProvider>,
  )

it('says how old its figures are once they cannot be read again', () => {
  const client = new QueryClient()
  const { queryKey } = overviewQueries.devboxes()
  client.setQueryData(queryKey, { pages: [], pageParams: [] })
  expect(shownWith(client)).not.toContain('This data is out of date')
  const error = new Error('The service did not answer')
  client.getQueryCache().find({ queryKey })?.setState({ status: 'error', error })
  expect(shownWith(client)).toContain('This data is out of date')
})

it('shows counts of the whole account, lower bounds as such, and none while they load', () => {
  const client = new QueryClient()
  const counts = { running: 4, suspended: 0, failed: 1, shutDown: 900, moving: 0 }
  const show = (totals: { trials: number; countedNewest: number | null }) => {
    client.setQueryData(overviewQueries.totals().queryKey, { counts, isPaged: false, ...totals })
    return shownWith(client)
      .replace(/<[^>]*>/g, ' ')
      .replace(/\s+/g, ' ')
  }
  const exact = show({ trials: 346, countedNewest: null })
  expect(exact).toMatch(/Devboxes running 4 /)
  expect(exact).toContain('346 trial devboxes not counted')
  expect(exact).not.toMatch(/At least|Only the newest/)
  const partial = show({ trials: 346, countedNewest: 2_000 })
  expect(partial).toMatch(/Devboxes running ≥ At least 4 /)
  expect(partial).toContain('Only the newest 2,000 devboxes are counted.')
  client.clear()
  const pending = shownWith(client)
  expect(pending).not.toMatch(/>0</)
  expect(pending).not.toContain('All clear')
})
