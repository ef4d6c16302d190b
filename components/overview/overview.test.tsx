import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { renderToStaticMarkup } from 'react-dom/server'
import { expect, it } from 'vitest'
import { overviewQueries } from '#lib/console/queries/overview.ts'
import { Overview } from './overview.tsx'

it('says how old its figures are once they cannot be read again', () => {
  const client = new QueryClient()
  const { queryKey } = overviewQueries.devboxes()
  client.setQueryData(queryKey, { pages: [], pageParams: [] })
  const shown = () =>
    renderToStaticMarkup(
      <QueryClientProvider client={client}>
        <Overview serviceUrl="http://127.0.0.1:1" />
      </QueryClientProvider>,
    )
  expect(shown()).not.toContain('What is shown is old')
  const error = new Error('The service did not answer')
  client.getQueryCache().find({ queryKey })?.setState({ status: 'error', error })
  expect(shown()).toContain('What is shown is old')
})
