import { describe, expect, it } from 'vitest'
import type { Axon } from '#lib/contract/axons.ts'
import { parseQuery } from '#lib/contract/query-string.ts'
import { AxonSearchParams, axonFilter, axonsPath, readRange, writeRange } from './search-params.ts'

const read = (path: string) => parseQuery(AxonSearchParams, path.split('?')[1] ?? '')

describe('the address of the list', () => {
  it('is readable and reads back as the same parameters', () => {
    const params: AxonSearchParams = {
      search: 'run',
      metadata: [{ key: 'env', op: 'in', values: ['prod', 'staging'] }],
      include_total_count: true,
      state: 'deleted',
      created: '2026-11-01..2026-11-02T1030',
      sort: '-name',
      columns: 'name:320,state,metadata.env',
    }
    const path = axonsPath(params)
    expect(path).toBe(
      '/axons?search=run&metadata[env][in]=prod,staging&state=deleted&created=2026-11-01..2026-11-02T1030&sort=-name&columns=name:320,state,metadata.env',
    )
    expect(read(path)).toEqual({ ok: true, value: params })
  })

  it('does not depend on the order of parameters', () => {
    expect(axonsPath({ sort: 'id', search: 'a', state: 'active', name: 'b' })).toBe(
      axonsPath({ name: 'b', state: 'active', search: 'a', sort: 'id' }),
    )
  })

  it('leaves out defaults', () => {
    expect(axonsPath({ include_total_count: true, search: undefined })).toBe('/axons')
    expect(read('/axons')).toEqual({ ok: true, value: { include_total_count: true } })
  })

  it('reports each invalid value', () => {
    const parsed = read('/axons?state=removed&created=yesterday&limit=0&id=x')
    expect(parsed.ok ? [] : parsed.problems.map(({ field }) => field).sort()).toEqual([
      'created',
      'id',
      'limit',
      'state',
    ])
  })
})

describe('created', () => {
  it.each(['2026-11-01..', '..2026-11-02', '2026-11-01T0930..2026-11-01T1000'])('reads back %s', (text) => {
    expect(writeRange(readRange(text) ?? {})).toBe(text)
  })

  it('is in UTC, to the minute', () => {
    expect(readRange('2026-11-01T0930..')).toEqual({ fromMs: Date.UTC(2026, 10, 1, 9, 30), beforeMs: undefined })
    expect(writeRange({ fromMs: Date.UTC(2026, 10, 1, 9, 30, 59) })).toBe('2026-11-01T0930..')
    expect(writeRange({})).toBeUndefined()
  })

  it.each(['..', '', '2026-11-01', '2026-13-01..', '2026-11-01..2026-11-02..', 'x..'])('refuses %j', (text) => {
    expect(readRange(text)).toBeNull()
  })
})

it('filters by state and creation time, whose range excludes its end', () => {
  const axon = (id: string, created_at_ms: number, deleted_at_ms: number | null): Axon => ({
    id,
    name: null,
    created_at_ms,
    deleted_at_ms,
    metadata: {},
  })
  const axons = [axon('old', 60_000, null), axon('deleted', 120_000, 1)]
  const ids = (params: Parameters<typeof axonFilter>[0]) => axons.filter(axonFilter(params)).map(({ id }) => id)
  expect(ids({})).toEqual(['old', 'deleted'])
  expect(ids({ state: 'active' })).toEqual(['old'])
  expect(ids({ state: 'deleted' })).toEqual(['deleted'])
  expect(ids({ created: '1970-01-01T0001..1970-01-01T0002' })).toEqual(['old'])
  expect(ids({ created: '1970-01-01T0002..' })).toEqual(['deleted'])
})
