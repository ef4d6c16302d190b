import { describe, expect, it } from 'vitest'
import type { Axon } from '#lib/contract/axons.ts'
import type { ColumnId } from '../address/axon-view.ts'
import { shownBy, sortAxons } from './axon-rows.ts'

const axon = (id: string, part: Partial<Axon> = {}): Axon => ({
  id,
  name: null,
  created_at_ms: 0,
  deleted_at_ms: null,
  metadata: {},
  ...part,
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

  it('compares no more than the start of long names', () => {
    const long = 'x'.repeat(256)
    const rows = [axon('b', { name: `${long}b` }), axon('a', { name: `${long}a` })]
    expect(ids(rows, 'name')).toEqual(['b', 'a'])
  })
})
