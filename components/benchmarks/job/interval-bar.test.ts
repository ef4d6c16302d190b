import { expect, it } from 'vitest'
import { axisFor } from './interval-bar.tsx'

it('rounds the axis outward, including 0', () => {
  expect(axisFor([40, 43.5, 73.5])).toEqual({ low: 0, high: 100 })
  expect(axisFor([-3, 1.5])).toEqual({ low: -5, high: 2 })
  expect(axisFor([-0.02, -0.01])).toEqual({ low: -0.02, high: 0 })
  expect(axisFor([])).toEqual({ low: 0, high: 1 })
})
