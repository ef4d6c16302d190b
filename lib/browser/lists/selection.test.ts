import { expect, it } from 'vitest'
import { emptySelection, type Selection, select } from './selection.ts'

const order = ['a', 'b', 'c', 'd', 'e']
const tick = (selection: Selection, key: string, range = false) => select(selection, key, { range, order })
const keys = ({ selected }: Selection) => [...selected].sort().join('')

it('ticks one row at a time and takes it back', () => {
  const one = tick(emptySelection, 'b')
  expect(keys(tick(one, 'd'))).toBe('bd')
  expect(keys(tick(one, 'b'))).toBe('')
})

it('reaches from the row ticked before in both directions', () => {
  expect(keys(tick(tick(emptySelection, 'b'), 'd', true))).toBe('bcd')
  expect(keys(tick(tick(emptySelection, 'd'), 'a', true))).toBe('abcd')
})

it('takes a range back when its first row was', () => {
  const all = tick(tick(emptySelection, 'a'), 'e', true)
  expect(keys(tick(tick(all, 'b'), 'd', true))).toBe('ae')
})

it('ticks one row when the range has no start any more', () => {
  expect(keys(tick(emptySelection, 'c', true))).toBe('c')
  expect(keys(tick({ selected: new Set(['gone']), anchor: 'gone' }, 'c', true))).toBe('cgone')
})
