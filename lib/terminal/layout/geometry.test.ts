import { describe, expect, it } from 'vitest'
import { moveLine, neighborOf, placeTree } from './geometry.ts'
import { parseLayout } from './layout.ts'

const place = (text: string) => placeTree(parseLayout(text).layout.tabs[0]?.tree ?? '')

describe('placeTree', () => {
  it('fills the area with panes in reading order', () => {
    const { panes } = place('a*60.(b*25/c)')
    expect(panes).toEqual([
      { name: 'a', left: 0, top: 0, width: 60, height: 100 },
      { name: 'b', left: 60, top: 0, width: 40, height: 25 },
      { name: 'c', left: 60, top: 25, width: 40, height: 75 },
    ])
  })

  it('places a separator between neighbors', () => {
    expect(place('a').separators).toEqual([])
    expect(place('a*60.(b*25/c)').separators).toMatchObject([
      { path: [], after: 0, way: 'right', at: 60, between: ['a', 'b'] },
      { path: [1], after: 0, way: 'down', area: { left: 60, width: 40 }, at: 25, between: ['b', 'c'] },
    ])
  })
})

describe('moveLine', () => {
  it('keeps the minimum size, or splits evenly if there is not enough space', () => {
    expect(moveLine([50, 50], 0, -20, 10)).toEqual([10, 90])
    expect(moveLine([50, 50], 0, 99, 10)).toEqual([90, 10])
    expect(moveLine([50, 50], 0, 90, 80)).toEqual([50, 50])
  })
})

describe('neighborOf', () => {
  it('returns the pane opposite the middle', () => {
    const { panes } = place('a.(b*30/c)')
    expect(neighborOf(panes, 'a', 'right')).toBe('c')
    expect(neighborOf(panes, 'b', 'left')).toBe('a')
    expect(neighborOf(panes, 'b', 'down')).toBe('c')
    expect(neighborOf(panes, 'c', 'up')).toBe('b')
    expect(neighborOf(panes, 'a', 'up')).toBe(undefined)
    expect(neighborOf(panes, 'x', 'up')).toBe(undefined)
  })
})
