import { expect, it } from 'vitest'
import { labelPlaces, overlaps } from './label-places.ts'
import { costAxis, placeOn } from './plot-axes.ts'

it.each([2, 8, 20])('places the names of %i agents without overlap', (count) => {
  const points = Array.from({ length: count }, (_, i) => ({
    x: 60 + ((i * 137) % 520),
    y: 30 + ((i * 89) % 250),
    width: 60 + ((i * 31) % 80),
  }))
  const bounds = { left: 40, top: 0, right: 640, bottom: 320 }
  const places = labelPlaces(points, bounds)
  const placed = places.filter((each) => each !== null)
  expect(placed).toHaveLength(count)
  for (const [i, one] of placed.entries()) {
    expect(one.left >= bounds.left && one.right <= bounds.right && one.top >= 0 && one.bottom <= 320).toBe(true)
    for (const other of placed.slice(i + 1)) expect(overlaps(one, other)).toBe(false)
  }
})

it('leaves out a name that fits nowhere', () => {
  const point = { x: 50, y: 50, width: 30 }
  const places = labelPlaces(Array(40).fill(point), { left: 0, top: 0, right: 100, bottom: 100 })
  expect(places.filter((each) => each !== null).length).toBeLessThan(20)
})

it('uses a logarithmic axis for a spread of more than 20', () => {
  const linear = costAxis([0.1, 2], [0.05, 2.4])
  expect(linear).toEqual({ isLog: false, low: 0, high: 3, ticks: [0, 1, 2, 3] })
  expect(placeOn(linear, 1.5)).toBe(0.5)
  const log = costAxis([0.1, 2.1], [-0.5, 2.4])
  expect(log).toEqual({ isLog: true, low: 0.1, high: 10, ticks: [0.1, 1, 10] })
  expect([placeOn(log, 1), placeOn(log, -0.5)]).toEqual([0.5, 0])
  expect(costAxis([0], [0])).toMatchObject({ isLog: false, low: 0, high: 1 })
})
