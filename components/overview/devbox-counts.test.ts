import { expect, it } from 'vitest'
import { devboxStatuses } from '#lib/contract/devboxes.ts'
import { countDevboxes, devboxesAt } from './devbox-counts.ts'

it('counts every devbox once, unknown states as moving', () => {
  const statuses = [...devboxStatuses, 'hibernating']
  expect(countDevboxes(statuses.map((status) => ({ status })))).toEqual({
    running: 1,
    suspended: 1,
    failed: 1,
    shutDown: 1,
    moving: 7,
  })
})

it('counts past states from the state transitions', () => {
  const devbox = (...steps: [string, number][]) => ({
    state_transitions: steps.map(([status, transition_time_ms]) => ({ status, transition_time_ms })),
  })
  const all = [devbox(['running', 10], ['suspended', 50]), devbox(['running', 60])]
  expect(countDevboxes(devboxesAt(all, 40))).toMatchObject({ running: 1, suspended: 0 })
  expect(countDevboxes(devboxesAt(all, 70))).toMatchObject({ running: 1, suspended: 1 })
  expect(devboxesAt(all, 5)).toEqual([])
})
