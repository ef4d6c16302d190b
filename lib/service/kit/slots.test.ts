import { expect, it } from 'vitest'
import { Slots } from './slots.ts'

const open = new AbortController().signal

it('limits concurrency and keeps the order', async () => {
  const slots = new Slots(2)
  const started: number[] = []
  const gates = [0, 1, 2, 3].map(() => Promise.withResolvers<void>())
  const all = gates.map(({ promise }, i) =>
    slots.run(open, () => {
      started.push(i)
      return promise
    }),
  )
  await Promise.resolve()
  expect(started).toEqual([0, 1])
  gates[1]?.resolve()
  await all[1]
  await Promise.resolve()
  expect(started).toEqual([0, 1, 2])
  for (const gate of gates) gate.resolve()
  await Promise.all(all)
  expect(started).toEqual([0, 1, 2, 3])
})

it('drops waiting work on abort', async () => {
  const slots = new Slots(1)
  const first = Promise.withResolvers<void>()
  const running = slots.run(open, () => first.promise)
  const aborting = new AbortController()
  let ran = false
  const aborted = slots.run(aborting.signal, async () => {
    ran = true
  })
  const last = slots.run(open, async () => 'last')
  aborting.abort(new Error('aborted'))
  await expect(aborted).rejects.toThrow('aborted')
  first.resolve()
  await running
  expect(await last).toBe('last')
  expect(ran).toBe(false)
  await expect(slots.run(aborting.signal, async () => 'never')).rejects.toThrow('aborted')
})

it('makes later ones wait until there is room for the next in line', async () => {
  let room = 1
  const slots = new Slots<number>(10, { hasRoom: (size) => size <= room })
  const started: number[] = []
  const start = (size: number) => slots.run(open, async () => void started.push(size), size)
  const all = [start(2), start(1)]
  await Promise.resolve()
  expect(started).toEqual([])
  expect(slots.waiting).toEqual([2, 1])
  room = 2
  slots.startNext()
  await Promise.all(all)
  expect(started).toEqual([2, 1])
})

it('starts the next once a slot is released, before its work has ended', async () => {
  const slots = new Slots(1)
  const first = Promise.withResolvers<void>()
  const running = slots.run(open, (release) => {
    release()
    return first.promise
  })
  expect(await slots.run(open, async () => 'second')).toBe('second')
  first.resolve()
  await running
  expect(slots.running).toEqual([])
})
