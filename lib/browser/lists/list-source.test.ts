import { expect, it } from 'vitest'
import { paths } from '../address/paths.ts'
import { activeFilters, withoutFilters } from './list-source.ts'

const list = {
  path: paths.devboxes,
  filters: { search: 'id or name contains …', status: 'state is …', name: 'name contains …' },
} as const
const view = {
  limit: 50,
  include_total_count: true,
  starting_after: 'dbx_1',
  // A dollar sign means something to String.replace.
  search: '$&…',
  status: 'running' as const,
  metadata: [
    { key: 'env', op: 'eq' as const, value: 'dev' },
    { key: 'team', op: 'in' as const, values: ['a', 'b'] },
  ],
}

it('tells each filter in words, with the list without it from its newest row on', () => {
  expect(activeFilters(list, view)).toEqual([
    {
      text: 'id or name contains $&…',
      hrefWithout: '/devboxes?limit=50&status=running&metadata[env]=dev&metadata[team][in]=a,b',
    },
    {
      text: 'state is running',
      hrefWithout: '/devboxes?limit=50&search=%24%26%E2%80%A6&metadata[env]=dev&metadata[team][in]=a,b',
    },
    {
      text: 'env=dev',
      hrefWithout: '/devboxes?limit=50&search=%24%26%E2%80%A6&status=running&metadata[team][in]=a,b',
    },
    {
      text: 'team is a or b',
      hrefWithout: '/devboxes?limit=50&search=%24%26%E2%80%A6&status=running&metadata[env]=dev',
    },
  ])
})

it('keeps what is no filter when all of them are cleared', () => {
  expect(withoutFilters(list, view)).toBe('/devboxes?limit=50')
})

it('tells a filter by its own words, and a value that leaves nothing out not at all', () => {
  const list = {
    path: paths.devboxes,
    filters: { status: (text: string) => (text === 'running' ? null : `is ${text}`) },
  }
  const page = { limit: 20, include_total_count: true }
  expect(activeFilters(list, { ...page, status: 'running' })).toEqual([])
  expect(activeFilters(list, { ...page, status: 'suspended' })).toEqual([
    { text: 'is suspended', hrefWithout: '/devboxes' },
  ])
  expect(withoutFilters(list, { ...page, status: 'running' })).toBe('/devboxes?status=running')
})
