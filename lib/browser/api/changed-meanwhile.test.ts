import { expect, it } from 'vitest'
import { ChangedMeanwhile, descriptionOf, refuseIfChanged } from './changed-meanwhile.ts'

it('tells a change from the same said otherwise', () => {
  const base = { name: 'a', commit_message: null, metadata: { x: '1', y: '2' } }
  expect(() => refuseIfChanged(base, { name: 'a', commit_message: '', metadata: { y: '2', x: '1' } })).not.toThrow()
  for (const now of [
    { ...base, name: 'b' },
    { ...base, commit_message: 'm' },
    { ...base, metadata: { x: '1' } },
  ])
    expect(() => refuseIfChanged(base, now)).toThrow(ChangedMeanwhile)
})

it('puts all that is written into one map', () => {
  expect(descriptionOf({ name: 'a', metadata: { name: 'x' } })).toEqual({ name: 'a', 'metadata.name': 'x' })
})
