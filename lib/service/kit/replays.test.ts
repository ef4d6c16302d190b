import { expect, it } from 'vitest'
import { Replays } from './replays.ts'

it('creates once for concurrent and repeated requests, until it expires or fails', async () => {
  let created = 0
  const make = async () => `created ${++created}`
  const replays = new Replays(60_000)
  expect(await Promise.all([replays.once('a', make), replays.once('a', make)])).toEqual(['created 1', 'created 1'])
  expect(await replays.once('a', make)).toBe('created 1')
  expect(await replays.once('b', make)).toBe('created 2')

  const failing = () => Promise.reject(new Error('no'))
  await expect(replays.once('c', failing)).rejects.toThrow('no')
  expect(await replays.once('c', make)).toBe('created 3')

  const short = new Replays(0)
  expect(await short.once('a', make)).toBe('created 4')
  expect(await short.once('a', make)).toBe('created 5')
})
