import { expect, it } from 'vitest'
import { groupAlerts } from '#lib/protocol/alerts.ts'
import { alertOf } from '#lib/protocol/testing.ts'
import { selectedAlerts, selectedRows } from './alert-selection.ts'

const groups = groupAlerts([
  ...['a', 'b'].map((id) => alertOf({ id, node: 'node-2' })),
  alertOf({ id: 'c', node: 'node-3' }),
])
const [{ id: drained } = { id: '' }] = groups

/** The alerts selected after each change of the table's rows. */
const after = (...changes: ((rows: Record<string, boolean>) => unknown)[]) => {
  let ids = new Set<string>()
  for (const change of changes) {
    const before = selectedRows(ids, groups)
    const next = { ...before }
    change(next)
    ids = selectedAlerts(before, next, groups)
  }
  return { alerts: [...ids], rows: Object.keys(selectedRows(ids, groups)).sort() }
}
const select = (id: string) => (rows: Record<string, boolean>) => Object.assign(rows, { [id]: true })
const deselect = (id: string) => (rows: Record<string, boolean>) => delete rows[id]

it('selects the alerts of a group with its row, and the row with all of its alerts', () => {
  expect(after(select(drained))).toEqual({ alerts: ['a', 'b'], rows: ['a', 'b', drained].sort() })
  expect(after(select('a'), select('b')).rows).toContain(drained)
  expect(after(select(drained), select('c')).alerts).toEqual(['a', 'b', 'c'])
})

it('deselects a group with its row, and its row with one of its alerts', () => {
  expect(after(select('c'), select(drained), deselect(drained))).toEqual({ alerts: ['c'], rows: ['c'] })
  expect(after(select(drained), deselect('b'))).toEqual({ alerts: ['a'], rows: ['a'] })
})
