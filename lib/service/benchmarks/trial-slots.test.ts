import { describe, expect, it } from 'vitest'
import { createTrialSlots, type TrialSlots } from './job.ts'

const never = new AbortController().signal

/** Starts work that runs until `end` is called. */
const begin = (slots: TrialSlots, account: string, job: string, started: string[]) => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const done = slots.run(
    never,
    async () => {
      started.push(job)
      await promise
    },
    { account, job },
  )
  const end = () => {
    resolve()
    return done
  }
  return { end }
}
const settle = () => new Promise((resolve) => setImmediate(resolve))

describe('the slots of trials', () => {
  it('go to the account, then the job, with the fewest running trials', async () => {
    const slots = createTrialSlots(3)
    const started: string[] = []
    const first = begin(slots, 'a', 'a1', started)
    const second = begin(slots, 'a', 'a1', started)
    const third = begin(slots, 'a', 'a2', started)
    begin(slots, 'a', 'a1', started)
    begin(slots, 'a', 'a2', started)
    begin(slots, 'b', 'b1', started)
    await settle()
    expect(started).toEqual(['a1', 'a1', 'a2'])
    await first.end()
    await settle()
    expect(started.slice(3)).toEqual(['b1'])
    await third.end()
    await settle()
    expect(started.slice(4)).toEqual(['a2'])
    await second.end()
    await settle()
    expect(started.slice(5)).toEqual(['a1'])
  })

  it('skip canceled trials, and free up after failed work', async () => {
    const slots = createTrialSlots(1)
    const started: string[] = []
    const leaving = new AbortController()
    const failing = slots.run(never, () => Promise.reject(new Error('failed')), { account: 'a', job: 'a1' })
    const left = slots.run(leaving.signal, async () => started.push('b1'), { account: 'b', job: 'b1' })
    const last = slots.run(never, async () => started.push('c1'), { account: 'c', job: 'c1' })
    leaving.abort(new Error('left'))
    await expect(failing).rejects.toThrow('failed')
    await expect(left).rejects.toThrow('left')
    await last
    expect(started).toEqual(['c1'])
  })
})
