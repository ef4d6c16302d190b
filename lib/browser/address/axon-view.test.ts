import { describe, expect, it } from 'vitest'
import { parseQuery } from '#lib/contract/query-string.ts'
import { AxonView, axonViewPath, nextSort, readRange, readSort, writeRange, writeSort } from './axon-view.ts'
import { axonColumns } from './columns/axon-columns.ts'
import {
  metadataColumnId,
  readColumns as readColumnsOf,
  usualColumns,
  writeColumns as writeColumnsOf,
} from './columns/column-text.ts'
import type { ColumnChoice } from './list-columns.ts'

const readColumns = (text: string) => readColumnsOf(text, axonColumns)
const writeColumns = (columns: readonly ColumnChoice[]) => writeColumnsOf(columns, axonColumns)

const read = (path: string) => parseQuery(AxonView, path.split('?')[1] ?? '')

describe('the address of the list', () => {
  it('is short and readable, and reads back as the same view', () => {
    const view: AxonView = {
      search: 'run',
      metadata: [{ key: 'env', op: 'in', values: ['prod', 'staging'] }],
      include_total_count: true,
      state: 'deleted',
      created: '2026-11-01..2026-11-02T1030',
      sort: '-name',
      columns: 'name:320,state,metadata.env',
    }
    const path = axonViewPath(view)
    expect(path).toBe(
      '/axons?search=run&metadata[env][in]=prod,staging&state=deleted&created=2026-11-01..2026-11-02T1030&sort=-name&columns=name:320,state,metadata.env',
    )
    expect(read(path)).toEqual({ ok: true, value: view })
  })

  it('has one spelling for one view', () => {
    expect(axonViewPath({ sort: 'id', search: 'a', state: 'active', name: 'b' })).toBe(
      axonViewPath({ name: 'b', state: 'active', search: 'a', sort: 'id' }),
    )
  })

  it('is bare when everything is as by default', () => {
    expect(axonViewPath({ include_total_count: true, search: undefined })).toBe('/axons')
    expect(read('/axons')).toEqual({ ok: true, value: { include_total_count: true } })
  })

  it('names each value it cannot mean', () => {
    const parsed = read('/axons?state=gone&created=yesterday&sort=-colour&columns=name,colour&limit=0&id=x')
    expect(parsed.ok ? [] : parsed.problems.map(({ field }) => field).sort()).toEqual([
      'columns',
      'created',
      'id',
      'limit',
      'sort',
      'state',
    ])
  })
})

describe('columns', () => {
  const hostile = ['a,b', 'a:1', '-x', '%', 'ü & "', '__proto__', ' ', '\ud83d\ude00', 'name']

  it.each(hostile)('keep a metadata key that reads %j', (key) => {
    const columns: ColumnChoice[] = [{ id: 'name' }, { id: metadataColumnId(key), width: 120 }]
    const path = axonViewPath({
      columns: writeColumns(columns),
      sort: writeSort({ column: metadataColumnId(key), descending: true }),
    })
    const parsed = read(path)
    const { columns: text = '', sort = '' } = parsed.ok ? parsed.value : {}
    expect(readColumns(text)).toEqual(columns)
    expect(readSort(sort)).toEqual({ column: metadataColumnId(key), descending: true })
  })

  it('always begin with the name, name nothing twice and leave the default out', () => {
    expect(readColumns('state,name:200,state')).toEqual([{ id: 'name', width: 200 }, { id: 'state' }])
    expect(writeColumns(usualColumns(axonColumns))).toBeUndefined()
    expect(writeColumns([{ id: 'name' }, { id: 'id', width: 99.6 }])).toBe('name,id:100')
  })

  it.each(['', 'colour', 'metadata.', 'name,,id', '%', Array.from({ length: 30 }, (_, i) => `metadata.k${i}`).join()])(
    'refuse %j',
    (text) => expect(readColumns(text)).toBeNull(),
  )
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

it('sorts up, down and not at all, click by click', () => {
  const up = nextSort(null, 'name')
  const down = nextSort(up, 'name')
  expect([up, down, nextSort(down, 'name')]).toEqual([
    { column: 'name', descending: false },
    { column: 'name', descending: true },
    null,
  ])
  expect(nextSort(down, 'id')).toEqual({ column: 'id', descending: false })
})
