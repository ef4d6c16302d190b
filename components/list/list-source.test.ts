import { expect, it } from 'vitest'
import { paths } from '#lib/browser/address/paths.ts'
import type { DevboxListQuery } from '#lib/contract/devboxes.ts'
import { activeFilters, withoutFilters } from './list-source.ts'

const list = {
  path: (params: Partial<DevboxListQuery>) => paths.devboxes(params),
  filters: { search: 'id or name contains …', status: 'state is …', name: 'name contains …' },
} as const
const params = {
  limit: 50,
  include_total_count: true,
  starting_after: 'dbx_1',
  // `$&` is special in String.replace.
  search: '$&…',
  status: 'running' as const,
  metadata: [
    { key: 'env', op: 'eq' as const, value: 'dev' },
    { key: 'team', op: 'in' as const, values: ['a', 'b'] },
  ],
}

it('describes each filter, and links to the list without it', () => {
  expect([0, -1].map((at) => activeFilters(list, params).at(at))).toEqual([
    {
      text: 'id or name contains $&…',
      hrefWithout: '/devboxes?limit=50&status=running&metadata[env]=dev&metadata[team][in]=a,b',
    },
    {
      text: 'team is a or b',
      hrefWithout: '/devboxes?limit=50&search=%24%26%E2%80%A6&status=running&metadata[env]=dev',
    },
  ])
})

it('keeps other parameters when all filters are cleared', () => {
  expect(withoutFilters(list, params)).toBe('/devboxes?limit=50')
})

it('accepts a function as text, whose null means no filter', () => {
  const list = {
    path: (params: Partial<DevboxListQuery>) => paths.devboxes(params),
    filters: { status: (text: string) => (text === 'running' ? null : `is ${text}`) },
  }
  const page = { limit: 20, include_total_count: true }
  expect(activeFilters(list, { ...page, status: 'running' })).toEqual([])
  expect(activeFilters(list, { ...page, status: 'suspended' })).toEqual([
    { text: 'is suspended', hrefWithout: '/devboxes' },
  ])
  expect(withoutFilters(list, { ...page, status: 'running' })).toBe('/devboxes?status=running')
})
