import { expect, it } from 'vitest'
import type { Column } from './column.ts'
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
