import { describe, expect, it } from 'vitest'
import { type AxonSearch, readAxonSearch, writeAxonSearch } from './search-text.ts'

const id = `axn_${'0'.repeat(26)}`
const env: AxonSearch['metadata'] = [{ key: 'env', op: 'eq', value: 'prod' }]

describe('readAxonSearch', () => {
  it.each<[text: string, filters: AxonSearch]>([
    ['', {}],
    ['  ', {}],
    ['run-6', { search: 'run-6' }],
    ['two  words', { search: 'two words' }],
    ['"two  words"', { search: 'two  words' }],
    ['axn_part', { search: 'axn_part' }],
    [id, { id }],
    ['id:axn_x', { id: 'axn_x' }],
    ['name:run', { name: 'run' }],
    ['name:a,b', { name: 'a,b' }],
    ['env:prod', { metadata: env }],
    ['env:prod run', { metadata: env, search: 'run' }],
    ['env:prod,dev', { metadata: [{ key: 'env', op: 'in', values: ['dev', 'prod'] }] }],
    ['env:prod,', { metadata: [{ key: 'env', op: 'in', values: ['prod'] }] }],
    ['url:http://a:1', { metadata: [{ key: 'url', op: 'eq', value: 'http://a:1' }] }],
    ['metadata.name:x', { metadata: [{ key: 'name', op: 'eq', value: 'x' }] }],
    ['"a key":"a, \\"value\\""', { metadata: [{ key: 'a key', op: 'eq', value: 'a, "value"' }] }],
    ['"env:prod"', { search: 'env:prod' }],
    ['"unclosed: te', { search: 'unclosed: te' }],
    [':prod', { search: ':prod' }],
  ])('%s', (text, filters) => {
    expect(readAxonSearch(text)).toEqual({ filters, problem: null })
  })

  it.each([
    ['env:', {}, 'env: has no value yet'],
    ['run env:', { search: 'run' }, 'env: has no value yet'],
    ['id:nonsense', {}, 'An axon ID looks like axn_…'],
    ['a][b:c', {}, 'A key must not contain "]["'],
    ['x'.repeat(257), {}, 'Search for at most 256 characters'],
  ])('reports the problem in %s', (text, filters, problem) => {
    expect(readAxonSearch(text)).toEqual({ filters, problem })
  })
})

it.each<AxonSearch>([
  {},
  { search: 'run 6' },
  { search: 'run  6 ' },
  { search: 'a:b "c" \\' },
  { search: id.slice(0, 10), id },
  { search: 'x', name: 'a b:"', id: 'axn_x' },
  {
    metadata: [
      { key: 'id', op: 'eq', value: 'a,b' },
      { key: 'metadata.name', op: 'in', values: ['one'] },
      { key: 'a "key":', op: 'in', values: ['\\', 'a b', 'c'] },
      { key: 'env', op: 'eq', value: ',' },
    ],
  },
])('writes text that parses to the same filters: %j', (filters) => {
  expect(readAxonSearch(writeAxonSearch(filters))).toEqual({ filters, problem: null })
})
