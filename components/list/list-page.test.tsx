// @vitest-environment happy-dom
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { cleanup, render, screen } from '@testing-library/react'
import { afterEach, expect, it } from 'vitest'
import { ListView, type ListViewProps } from './list-page.tsx'

const loaded = [{ id: 'a' }, { id: 'b' }, { id: 'c' }]
const query = {
  data: { pages: [{ total_count: 43 }], pageParams: [undefined] },
  hasNextPage: true,
  isPlaceholderData: false,
  isRefetchError: false,
  isFetching: false,
  status: 'success',
  error: null,
} as unknown as ListViewProps['list']['query']
const filters = [{ text: 'name contains a', hrefWithout: '/devboxes' }]

afterEach(cleanup)
const show = (list: Partial<ListViewProps['list']>) =>
  render(
    <QueryClientProvider client={new QueryClient()}>
      <ListView
        list={{ noun: 'devbox', nouns: 'devboxes', query, rows: [], loaded, clearHref: '/devboxes', ...list }}
        empty="No devboxes yet"
      >
        The table
      </ListView>
    </QueryClientProvider>,
  )

it.each([{ filters: [] }, { filters }])('shows no empty state while more pages are searched: %j', ({ filters }) => {
  show({ isSearching: true, filters })
  expect(screen.getByText('Loading devboxes')).toBeTruthy()
})

it('distinguishes an empty list from one without matches', () => {
  show({})
  expect(screen.getByText('No devboxes yet')).toBeTruthy()
  cleanup()
  show({ filters })
  expect(screen.getByRole('heading', { name: 'None of the 3 loaded devboxes match' })).toBeTruthy()
  expect(screen.getByRole('link', { name: 'Clear filters' })).toBeTruthy()
})

it('reports the total, unless the service ignored a filter', () => {
  show({ rows: loaded, matching: 3 })
  expect(screen.getByRole('status').textContent).toBe('Showing 3 of 43')
  cleanup()
  show({ rows: loaded.slice(0, 1), matching: 1, unmatched: 2 })
  expect(screen.getByText(/^Filtered in the browser/)).toBeTruthy()
  expect(screen.getByRole('status').textContent).toBe('Showing 1 of 3 loaded, more exist')
})
