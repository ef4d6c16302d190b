import { expect, it } from 'vitest'
import { type Column, columnValue } from './column.ts'
import { idColumn, nameColumn } from './columns.tsx'
import { readSort, sortRows, writeSort } from './sort-rows.ts'

interface Row {
  id: string
  name?: string | null
  metadata: Record<string, string>
}
const columns: Column<Row>[] = [nameColumn(), idColumn(), { accessorKey: 'metadata', id: 'metadata' }]
const row = (id: string, part: Partial<Row> = {}): Row => ({ id, metadata: {}, ...part })
const ids = (rows: Row[], sort: string) =>
  sortRows(rows, readSort(sort, columns) ?? { column: '', descending: false }, columns).map(({ id }) => id)

it('reads and writes a sort, also by a metadata key', () => {
  expect(readSort('-name', columns)).toEqual({ column: 'name', descending: true })
  const byKey = { column: 'metadata.-a,b', descending: true }
  expect(readSort(writeSort(byKey), columns)).toEqual(byKey)
  for (const text of ['', '-color', 'constructor', undefined]) expect(readSort(text, columns)).toBeNull()
})

it('sorts numbers in names numerically, and rows without a name last', () => {
  const rows = [
    row('none'),
    row('ten', { name: 'item-10' }),
    row('nine', { name: 'Item-9' }),
    row('empty', { name: '' }),
  ]
  expect(ids(rows, 'name')).toEqual(['empty', 'nine', 'ten', 'none'])
  expect(ids(rows, '-name')).toEqual(['ten', 'nine', 'empty', 'none'])
})

it('keeps the order of equal rows in both directions', () => {
  const rows = ['a', 'b', 'c'].map((id) => row(id, { metadata: { env: id === 'b' ? 'dev' : 'prod' } }))
  expect(ids(rows, 'metadata.env')).toEqual(['b', 'a', 'c'])
  expect(ids(rows, '-metadata.env')).toEqual(['a', 'c', 'b'])
})

it('compares only the start of long names', () => {
  const long = 'x'.repeat(256)
  expect(ids([row('b', { name: `${long}b` }), row('a', { name: `${long}a` })], 'name')).toEqual(['b', 'a'])
})

it('reads the value of a column by key or function', () => {
  expect(columnValue<Row>({ accessorFn: ({ id }) => `${id}!`, id: 'x' }, row('a'))).toBe('a!')
  expect(columnValue<Row>({ id: 'x' }, row('a'))).toBeUndefined()
})
