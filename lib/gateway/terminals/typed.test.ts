import { expect, it } from 'vitest'
import { TypedPositions } from './typed.ts'

const start = () => {
  const told: unknown[] = []
  const positions = new TypedPositions((page, notice) => told.push([page, notice]))
  let link = 0
  const type = (page: string, length: number) => positions.typed(page, length, () => (link += length))
  /** Input that doesn't come from a page. */
  const answer = (length: number) => (link += length)
  return { positions, type, answer, told: () => told.splice(0) }
}
const dropped = (from: number, to: number, may_have_arrived = false) => ({ t: 'dropped', from, to, may_have_arrived })

it("confirms each page's own bytes as they reach the shell", () => {
  const { positions, type, answer, told } = start()
  type('a', 3)
  answer(10)
  type('b', 2)
  type('a', 4)
  positions.reached(2)
  expect(told()).toEqual([['a', { t: 'typed', n: 2 }]])
  positions.reached(17)
  expect(told()).toEqual([
    ['a', { t: 'typed', n: 5 }],
    ['b', { t: 'typed', n: 2 }],
  ])
  positions.reached(19)
  expect(told()).toEqual([['a', { t: 'typed', n: 7 }]])
  expect([positions.receivedFrom('a'), positions.receivedFrom('c')]).toEqual([7, undefined])
})

it('reports dropped bytes, and repeats the report when the page returns', () => {
  const { positions, type, answer, told } = start()
  type('a', 4)
  answer(5)
  type('a', 4)
  positions.reached(2)
  positions.dropped(2, 11, true)
  positions.reached(13)
  positions.refused('a', 3)
  expect(told()).toEqual([
    ['a', { t: 'typed', n: 2 }],
    ['a', dropped(2, 4, true)],
    ['a', dropped(4, 6, true)],
    ['a', { t: 'typed', n: 8 }],
    ['a', dropped(8, 11)],
  ])
  positions.catchUp('a')
  expect(told()).toEqual([
    ['a', dropped(2, 6, true)],
    ['a', dropped(8, 11)],
    ['a', { t: 'typed', n: 8 }],
  ])
  positions.catchUp('a')
  expect(told()).toEqual([['a', { t: 'typed', n: 8 }]])
})
