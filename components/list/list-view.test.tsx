import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { renderToStaticMarkup } from 'react-dom/server'
import { expect, it } from 'vitest'
import { ListView, type ListViewProps } from './list-view.tsx'

const loaded = [{ id: 'a' }, { id: 'b' }, { id: 'c' }]
const list = {
  data: { pages: [{ total_count: 43 }], pageParams: [undefined] },
  hasNextPage: true,
  isPlaceholderData: false,
  isRefetchError: false,
  isFetching: false,
  status: 'success',
  error: null,
} as unknown as ListViewProps['list']

const shown = (props: Partial<ListViewProps>) =>
  renderToStaticMarkup(
    <QueryClientProvider client={new QueryClient()}>
      <ListView
        noun="devbox"
        nouns="devboxes"
        list={list}
        rows={[]}
        loaded={loaded}
        columns={3}
        filters={[]}
        clearHref="/devboxes"
        none="No devboxes yet"
        {...props}
      >
        The table
      </ListView>
    </QueryClientProvider>,
  )

it('shows no empty state while more pages are searched for rows that match', () => {
  for (const filters of [[], [{ text: 'name contains a', hrefWithout: '/devboxes' }]]) {
    expect(shown({ isSearching: true, filters })).toContain('Loading devboxes')
    expect(shown({ isSearching: true, filters })).not.toMatch(/No devbox/)
    expect(shown({ filters })).toMatch(/No devbox/)
  }
})

it('says that rows are filtered in the browser, and claims no total of a service that ignores a filter', () => {
  const text = shown({ rows: loaded.slice(0, 1), matching: 1, unmatched: 2 })
  expect(text).toContain('Filtered in the browser')
  expect(text).toContain('Showing 1 of 3 loaded, more exist')
  expect(text).not.toContain('43')
  expect(shown({ rows: loaded, matching: 3 })).toContain('Showing 3 of 43')
})
