import { describe, expect, it } from 'vitest'
import { nextSlots, noSlots, type RowSlots } from './use-row-slots.ts'

const rows = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, at) => `row-${first + at}`)
const draw = (before: RowSlots, first: number, last: number, isFast = false, focusedKey: string | null = null) =>
  nextSlots(before, { keys: rows(first, last), isFast, focusedKey })
const slotsOf = ({ slotOf }: RowSlots) => [...slotOf.values()]
const slotOf = ({ slotOf }: RowSlots, row: number) => slotOf.get(`row-${row}`)

describe('rows that are scrolled to slowly', () => {
  it('keep their elements and hand them to no other row', () => {
    const start = draw(noSlots, 0, 9)
    const later = draw(start, 3, 12)
    expect(slotsOf(later).slice(0, 7)).toEqual(slotsOf(start).slice(3))
    for (const row of [10, 11, 12]) expect(slotsOf(start)).not.toContain(slotOf(later, row))
  })
})

describe('rows that go by fast', () => {
  it('are drawn in the elements of those before them, in the same order', () => {
    const first = draw(draw(noSlots, 0, 9), 50, 59, true)
    const second = draw(first, 80, 89, true)
    expect(slotsOf(second)).toEqual(slotsOf(first))
    // Also those that stay: to move their elements between the others would cost what this saves.
    expect(slotsOf(draw(second, 86, 95, true))).toEqual(slotsOf(first))
    expect(slotsOf(draw(second, 20, 30, true)).slice(0, 10)).toEqual(slotsOf(first))
  })

  it('never take over what holds a whole row', () => {
    const slow = draw(noSlots, 0, 9)
    const fast = draw(slow, 7, 16, true)
    expect(slotsOf(fast).slice(0, 3)).toEqual(slotsOf(slow).slice(7))
    const atRest = draw(draw(fast, 30, 39, true), 30, 39)
    const again = draw(atRest, 38, 47, true)
    expect(slotsOf(again).slice(0, 2)).toEqual(slotsOf(atRest).slice(8))
    const far = draw(again, 90, 99, true)
    for (const slot of slotsOf(far)) expect([...slotsOf(slow), ...slotsOf(atRest)]).not.toContain(slot)
  })

  it('keep their elements once scrolling has come to rest', () => {
    const fast = draw(draw(noSlots, 0, 9), 50, 59, true)
    const atRest = draw(fast, 50, 59)
    expect(slotsOf(atRest)).toEqual(slotsOf(fast))
    expect(slotOf(draw(atRest, 52, 61), 55)).toBe(slotOf(fast, 55))
  })

  it('leave the focus in its row', () => {
    const fast = draw(draw(noSlots, 0, 9), 50, 59, true)
    const held = slotOf(fast, 53)
    const passed = nextSlots(fast, { keys: [...rows(20, 29), 'row-53'], isFast: true, focusedKey: 'row-53' })
    expect(slotOf(passed, 53)).toBe(held)
    expect(new Set(slotsOf(passed)).size).toBe(11)
  })

  it('are never two in the same elements, however the list is scrolled', () => {
    let slots = noSlots
    let seed = 7
    const random = (below: number) => {
      seed = (seed * 48_271) % 2_147_483_647
      return seed % below
    }
    for (let step = 0; step < 2000; step++) {
      const first = random(60)
      const focused = random(3) === 0 ? first + random(10) : null
      slots = draw(slots, first, first + 5 + random(30), random(4) > 0, focused === null ? null : `row-${focused}`)
      expect(new Set(slotsOf(slots)).size).toBe(slots.slotOf.size)
    }
  })
})
