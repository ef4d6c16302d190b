import { expect, it } from 'vitest'
import { TrialSlots } from './trial-slots.ts'

it('gives slots to the account, then the job, with the fewest running trials', async () => {
  const slots = new TrialSlots(3)
  const started: string[] = []
  const begin = (account: string, job: string) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const work = () => {
      started.push(job)
      return promise
    }
    const done = slots.run(new AbortController().signal, { account, job, needs: [], devboxIds: [] }, work)
    return async () => {
      resolve()
      await done
      await new Promise((next) => setImmediate(next))
    }
  }
  const [endFirst, endSecond, endThird] = [begin('a', 'a1'), begin('a', 'a1'), begin('a', 'a2')]
  for (const [account, job] of [
    ['a', 'a1'],
    ['a', 'a2'],
    ['b', 'b1'],
  ] as const)
    begin(account, job)
  await new Promise((next) => setImmediate(next))
  expect(started).toEqual(['a1', 'a1', 'a2'])
  for (const end of [endFirst, endThird, endSecond]) await end()
  expect(started.slice(3)).toEqual(['b1', 'a2', 'a1'])
})

it('starts no trials once paused, and says why they wait', async () => {
  const slots = new TrialSlots(2)
  const { signal } = new AbortController()
  const owner = { account: 'a', job: 'a1', needs: [], devboxIds: [] }
  const { promise, resolve } = Promise.withResolvers<void>()
  const first = slots.run(signal, owner, () => promise)
  slots.pause()
  let isStarted = false
  void slots.run(signal, owner, async () => {
    isStarted = true
  })
  resolve()
  await first
  await new Promise((next) => setImmediate(next))
  expect(isStarted).toBe(false)
  expect(slots.waiting('a1')).toEqual({
    count: 1,
    reason: ': the service is about to restart and continues the job afterwards',
  })
})
