import { expect, it } from 'vitest'
import { steadyRows } from './use-list-query.ts'

const rows = (ids: string, status = 'running') => [...ids].map((id) => ({ id, status }))

it('keeps rows under the pointer in place with their newest data, while new ones wait above', () => {
  expect(steadyRows(rows('ba'), rows('dcba', 'suspended'))).toEqual(rows('ba', 'suspended'))
  // Removed rows stay, and more rows follow at the end.
  expect(steadyRows(rows('cb'), rows('ba'))).toEqual(rows('cba'))
})
