import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Axon } from '#lib/contract/axons.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'
import type { AxonFilter, ColumnId } from '../address/axon-view.ts'
import { matcherOf, refines, shownBy, sortAxons } from './axon-rows.ts'

const axon = (id: string, part: Partial<Axon> = {}): Axon => ({
  id,
  name: null,
  created_at_ms: 0,
  deleted_at_ms: null,
  metadata: {},
  ...part,
})
const filter = (part: Partial<AxonFilter>): AxonFilter => ({ include_total_count: true, ...part })

const filters: AxonFilter[] = [
  {},
  { name: 'Run' },
  { name: 'run' },
  { search: 'RUN' },
  { search: 'straße' },
  { search: '%' },
  { metadata: [{ key: 'env', op: 'eq' as const, value: 'prod' }] },
  { metadata: [{ key: 'env', op: 'in' as const, values: ['prod', 'dev'] }] },
  {
    metadata: [
      { key: 'env', op: 'in' as const, values: ['prod', 'dev'] },
      { key: 'team', op: 'eq' as const, value: 'a,b' },
    ],
  },
  { search: 'run', metadata: [{ key: '__proto__', op: 'eq' as const, value: 'x' }] },
].map(filter)

describe('matching here', () => {
  let service: TestService
  let all: Axon[]
  beforeAll(async () => {
    service = await startService({ isolation: 'none' })
    const { create, list } = service.client.axons
    await create({ body: { name: 'run-1', metadata: { env: 'prod', team: 'a,b' } } })
    await create({ body: { name: 'Run-2', metadata: { env: 'dev', team: 'a,b' } } })
    await create({ body: { name: 'Straße 100%', metadata: { env: 'Prod' } } })
    await create({ body: { metadata: JSON.parse('{"__proto__":"x","env":"dev"}') } })
    await create({ body: { name: 'the last run', metadata: JSON.parse('{"__proto__":"x"}') } })
    all = (await list({ query: { limit: 100 } })).axons
  })
  afterAll(() => service.close())

  it.each(filters)('answers as the service does: %j', async (each) => {
    const { axons } = await service.client.axons.list({ query: { ...each, limit: 100 } })
    expect(all.filter(matcherOf(each)).map(({ id }) => id)).toEqual(axons.map(({ id }) => id))
  })

  it('is only called finer when nothing it matches is missing from the wider', () => {
    for (const wide of filters)
      for (const narrow of filters) {
        if (!refines(wide, narrow)) continue
        const within = all.filter(matcherOf(wide))
        expect(all.filter(matcherOf(narrow)).filter((each) => !within.includes(each))).toEqual([])
      }
  })
})

describe('refines', () => {
  it.each([
    [{}, { search: 'a' }],
    [{ search: 'a' }, { search: 'bAb' }],
    [{ name: 'a' }, { name: 'ab', search: 'x' }],
    [
      { metadata: [{ key: 'k', op: 'in' as const, values: ['a', 'b'] }] },
      { metadata: [{ key: 'k', op: 'eq' as const, value: 'a' }] },
    ],
  ])('%j holds all of %j', (wide, narrow) => {
    expect(refines(filter(wide), filter(narrow))).toBe(true)
    expect(refines(filter(narrow), filter(wide))).toBe(false)
  })

  it('never answers for another start of the list', () => {
    expect(refines(filter({}), filter({ starting_after: 'axn_1' }))).toBe(false)
  })
})

describe('shownBy', () => {
  it('tells active from deleted, and includes the start of a range but not its end', () => {
    const [old, gone] = [
      axon('old', { created_at_ms: 60_000 }),
      axon('gone', { created_at_ms: 120_000, deleted_at_ms: 1 }),
    ]
    const shown = (part: Parameters<typeof shownBy>[0]) => [old, gone].filter(shownBy(part)).map(({ id }) => id)
    expect(shown({})).toEqual(['old', 'gone'])
    expect(shown({ state: 'active' })).toEqual(['old'])
    expect(shown({ state: 'deleted' })).toEqual(['gone'])
    expect(shown({ created: '1970-01-01T0001..1970-01-01T0002' })).toEqual(['old'])
    expect(shown({ created: '1970-01-01T0002..' })).toEqual(['gone'])
  })
})

describe('sortAxons', () => {
  const ids = (rows: Axon[], column: ColumnId, descending = false) =>
    sortAxons(rows, { column, descending }).map(({ id }) => id)

  it('puts numbers in names in their own order, and what has no name last either way', () => {
    const rows = [
      axon('none'),
      axon('ten', { name: 'item-10' }),
      axon('nine', { name: 'Item-9' }),
      axon('empty', { name: '' }),
    ]
    expect(ids(rows, 'name')).toEqual(['empty', 'nine', 'ten', 'none'])
    expect(ids(rows, 'name', true)).toEqual(['ten', 'nine', 'empty', 'none'])
  })

  it('keeps equal rows in the order they had, up and down', () => {
    const rows = ['a', 'b', 'c'].map((id) => axon(id, { metadata: { env: id === 'b' ? 'dev' : 'prod' } }))
    expect(ids(rows, 'metadata.env')).toEqual(['b', 'a', 'c'])
    expect(ids(rows, 'metadata.env', true)).toEqual(['a', 'c', 'b'])
  })

  it('takes names of any length, in no time', () => {
    const rows = Array.from({ length: 5_000 }, (_, i) =>
      axon(`${i}`, { name: `${(i * 7919) % 5000}${'x'.repeat(10_000)}` }),
    )
    const started = performance.now()
    expect(ids(rows, 'name')).toHaveLength(5_000)
    expect(performance.now() - started).toBeLessThan(1_000)
  })
})
