import { expect, it } from 'vitest'
import { scheduleTurn } from './fair-scheduler.ts'

it('alternates between accounts and leaves time for other work', async () => {
  const ran: string[] = []
  let rounds = 0
  let isOver = false
  const count = () => {
    rounds++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  const parse = () => {
    for (const end = performance.now() + 2; performance.now() < end; );
    ran.push('busy')
  }
  for (let i = 0; i < 48; i++) scheduleTurn('busy', parse)
  await new Promise<void>((resolve) =>
    scheduleTurn('other', () => {
      ran.push('other')
      resolve()
    }),
  )
  expect(ran).toEqual(['busy', 'other'])
  await new Promise<void>((resolve) => scheduleTurn('busy', resolve))
  isOver = true
  expect(ran).toHaveLength(49)
  // A round in which nothing else is to be done takes microseconds.
  expect(rounds).toBeGreaterThanOrEqual(480)
})
