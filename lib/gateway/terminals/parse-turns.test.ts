import { expect, it } from 'vitest'
import { awaitTurn } from './parse-turns.ts'

it('lets accounts take turns, one in each round of the event loop', async () => {
  const ran: string[] = []
  let rounds = 0
  let isOver = false
  const count = () => {
    rounds++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  for (let i = 0; i < 48; i++) awaitTurn('busy', () => ran.push('busy'))
  await new Promise<void>((resolve) =>
    awaitTurn('other', () => {
      ran.push('other')
      resolve()
    }),
  )
  expect(ran).toEqual(['busy', 'other'])
  await new Promise<void>((resolve) => awaitTurn('busy', resolve))
  isOver = true
  expect(ran).toHaveLength(49)
  expect(rounds).toBeGreaterThanOrEqual(48)
})
