// @vitest-environment happy-dom
import { cleanup, render, screen, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { useState } from 'react'
import { afterEach, expect, it } from 'vitest'
import { type Column, emptySelection } from './column.ts'
import { DataTable, type Sort } from './data-table.tsx'

interface Item {
  id: string
  size: number
}

const columns: Column<Item>[] = [
  { accessorKey: 'id', id: 'name', header: 'Name', cell: ({ row }) => row.original.id, meta: { priority: 1 } },
  { accessorKey: 'size', header: 'Size', cell: ({ getValue }) => `${getValue()} B`, meta: { priority: 3 } },
]
// A name may be one that every object has.
const items = ['a', 'b', 'constructor', 'd', 'e'].map((id, size): Item => ({ id, size }))

let sort: Sort | null
const Table = () => {
  const [selected, setSelected] = useState(emptySelection)
  const [sorted, setSorted] = useState<Sort | null>(null)
  sort = sorted
  return (
    <DataTable
      caption="Items"
      columns={columns}
      rows={items}
      rowKey={({ id }) => id}
      sort={sorted}
      onSort={setSorted}
      selection={{ selected, onChange: setSelected, labelOf: ({ id }) => `Select ${id}` }}
    />
  )
}

afterEach(cleanup)
const checked = () =>
  screen
    .getAllByRole<HTMLInputElement>('checkbox', { name: /^Select \w+$/ })
    .flatMap((box) => (box.checked ? box.getAttribute('aria-label') : []))

it('renders headers, cells and a card for columns that may not fit', async () => {
  render(<Table />)
  const row = screen.getByRole('row', { name: /constructor/ })
  expect(within(row).getByRole('rowheader').textContent).toBe('constructor')
  expect(within(row).getByText('2 B')).toBeTruthy()
  await userEvent.click(within(row).getByRole('button', { name: 'Show more' }))
  expect(screen.getByRole('definition').textContent).toBe('2 B')
})

it('selects rows one by one, in ranges and all at once', async () => {
  const user = userEvent.setup()
  render(<Table />)
  const box = (id: string) => screen.getByRole('checkbox', { name: `Select ${id}` })
  await user.click(box('b'))
  expect(checked()).toEqual(['Select b'])
  await user.keyboard('{Shift>}')
  await user.click(box('d'))
  await user.keyboard('{/Shift}')
  expect(checked()).toEqual(['Select b', 'Select constructor', 'Select d'])
  await user.click(screen.getByRole('checkbox', { name: 'Select all rows shown' }))
  expect(checked()).toHaveLength(5)
  await user.click(screen.getByRole('checkbox', { name: 'Deselect all rows' }))
  expect(checked()).toEqual([])
})

it('moves the focus with j and k, and selects with x', async () => {
  const user = userEvent.setup()
  render(<Table />)
  screen.getByRole('row', { name: /^Select b/ }).focus()
  await user.keyboard('jx')
  expect(checked()).toEqual(['Select constructor'])
  await user.keyboard('kk')
  expect(document.activeElement?.getAttribute('data-key')).toBe('a')
})

it('sorts by a header: ascending, descending, not at all', async () => {
  render(<Table />)
  const header = () => screen.getByRole('columnheader', { name: 'Size' })
  for (const [state, expected] of [
    ['ascending', { column: 'size', descending: false }],
    ['descending', { column: 'size', descending: true }],
    [null, null],
  ] as const) {
    await userEvent.click(within(header()).getByRole('button'))
    expect([header().getAttribute('aria-sort'), sort]).toEqual([state, expected])
  }
})
