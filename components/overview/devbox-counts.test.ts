import { expect, it } from 'vitest'
import { devboxStatuses } from '#lib/contract/devboxes.ts'
import { countDevboxes } from './devbox-counts.ts'

it('counts every devbox once, those in an unknown state as moving', () => {
  const statuses = [...devboxStatuses, 'hibernating']
  expect(countDevboxes(statuses.map((status) => ({ status })))).toEqual({
    running: 1,
    suspended: 1,
    failed: 1,
    shutDown: 1,
    moving: 7,
  })
})
