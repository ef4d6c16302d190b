import { expect, it } from 'vitest'
import { type Alert, groupAlerts } from '#lib/protocol/alerts.ts'
import { alertOf } from '#lib/protocol/testing.ts'
import { groupState, groupTitle } from './alert-text.ts'

const groupOf = (...parts: [count: number, change: Partial<Alert>][]) => {
  const alerts = parts.flatMap(([count, change], part) =>
    Array.from({ length: count }, (_, index) => alertOf({ id: `${part}-${index}`, ...change })),
  )
  const [group, ...others] = groupAlerts(alerts)
  if (!group || others.length > 0) throw new Error('Not one group')
  return group
}
const acknowledgedBy = (acknowledged_by: string) => ({ state: 'acknowledged', acknowledged_by }) as const

it('names a group by its drain, its lost node, or its number of devboxes', () => {
  expect(groupTitle(groupOf([80, { node: 'host-7' }]))).toBe('80 devboxes, drain of host-7')
  expect(groupTitle(groupOf([1, { node: 'host-7' }]))).toBe('api on host-7')
  expect(groupTitle(groupOf([2, { node: 'host-7', kind: 'failure' }]))).toBe('2 devboxes on host-7')
  expect(groupTitle(groupOf([5_000, {}]))).toBe('5,000 devboxes')
})

it.each([
  [groupOf([80, {}]), '80 new'],
  [groupOf([3, {}], [77, acknowledgedBy('Ada')]), '3 new, 77 acknowledged by Ada'],
  [
    groupOf([3, {}], [7, acknowledgedBy('Ben (unverified)')], [70, acknowledgedBy('Ada')]),
    '3 new, 77 acknowledged: Ada 70, Ben 7',
  ],
  [
    groupOf(...['a', 'b', 'c', 'd', 'e'].map((name): [number, Partial<Alert>] => [1, acknowledgedBy(name)])),
    '5 acknowledged: a 1, b 1, c 1 and 2 others',
  ],
])('sums up who has a group: %#', (group, expected) => expect(groupState(group)).toBe(expected))
