import { describe, expect, it } from 'vitest'
import { rowStart, rowsInView, withKept } from './row-window.ts'

const stack = { count: 100, rowHeight: 36, top: 200 }
const view = (offset: number, height = 360) => ({ offset, height })

describe('rows in view', () => {
  it.each([
    [0, 0, 6],
    [200, 0, 12],
    [200 + 36 * 10 + 1, 8, 22],
    [200 + 36 * 95, 93, 99],
    // Far beyond the end, as after a filter that left few rows.
    [1_000_000, 99, 99],
  ])('from %i px on', (offset, first, last) => {
    expect(rowsInView(stack, view(offset), 2)).toEqual({ first, last })
  })

  it('are none of none', () => {
    expect(rowsInView({ ...stack, count: 0 }, view(0), 2)).toEqual({ first: 0, last: -1 })
    expect(withKept({ first: 0, last: -1 }, [0], 0)).toEqual([])
  })

  it('follow what stands below a row', () => {
    const extras = new Map([
      [2, 100],
      [5, 50],
    ])
    const opened = { ...stack, top: 0, extras }
    expect([2, 3, 5, 6].map((index) => rowStart(opened, index))).toEqual([72, 208, 280, 366])
    const at = (offset: number) => rowsInView(opened, view(offset, 0), 0).first
    expect([71, 72, 107, 108, 207, 208, 279, 280, 365, 366].map(at)).toEqual([1, 2, 2, 2, 2, 3, 4, 5, 5, 6])
  })

  it('agree with where rows begin, wherever rows have more below them', () => {
    const extras = new Map(Array.from({ length: 20 }, (_, i) => [i * 5, (i * 37) % 90] as const))
    const opened = { ...stack, top: 0, extras }
    for (let index = 0; index < stack.count; index++)
      expect(rowsInView(opened, view(rowStart(opened, index), 0), 0).first).toBe(index)
  })
})

it('keeps a row that has the focus, in its place', () => {
  expect(withKept({ first: 3, last: 5 }, [9, 4, 1, -1, 100], 100)).toEqual([1, 3, 4, 5, 9])
})
