import { describe, expect, it } from 'vitest'
import { Turns } from './turns.ts'

const never = new AbortController().signal

/** Work that is told apart by its name and ends when it is let go. */
const begin = (turns: Turns, account: string, job: string, started: string[]) => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const done = turns.run({ account, job }, never, async () => {
    started.push(job)
    await promise
  })
  const end = () => {
    resolve()
    return done
  }
  return { end }
}
const settle = () => new Promise((resolve) => setImmediate(resolve))

describe('the turns of trials', () => {
  it('go to the account and then to the job with the fewest running, not to who asked first', async () => {
    const turns = new Turns(3)
    const started: string[] = []
    const first = begin(turns, 'a', 'a1', started)
    const second = begin(turns, 'a', 'a1', started)
    const third = begin(turns, 'a', 'a2', started)
    begin(turns, 'a', 'a1', started)
    begin(turns, 'a', 'a2', started)
    begin(turns, 'b', 'b1', started)
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

  it('pass over who has left, and come back from work that failed', async () => {
    const turns = new Turns(1)
    const started: string[] = []
    const leaving = new AbortController()
    const failing = turns.run({ account: 'a', job: 'a1' }, never, () => Promise.reject(new Error('failed')))
    const left = turns.run({ account: 'b', job: 'b1' }, leaving.signal, async () => started.push('b1'))
    const last = turns.run({ account: 'c', job: 'c1' }, never, async () => started.push('c1'))
    leaving.abort(new Error('left'))
    await expect(failing).rejects.toThrow('failed')
    await expect(left).rejects.toThrow('left')
    await last
    expect(started).toEqual(['c1'])
  })
})
