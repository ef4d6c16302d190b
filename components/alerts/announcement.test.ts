import { expect, it } from 'vitest'
import { type Alert, groupAlerts } from '#lib/protocol/alerts.ts'
import { alertOf } from '#lib/protocol/testing.ts'
import { announcementLine, announcementOf } from './announcement.ts'

const evictions = (count: number, change: Partial<Alert>) =>
  Array.from({ length: count }, (_, index) => alertOf({ id: `${change.node}${index}`, ...change }))

const announced = (...alerts: Alert[]) => {
  const [group, ...others] = groupAlerts(alerts)
  if (!group) throw new Error('No alerts')
  const announcement = announcementOf([group, ...others])
  return { line: announcementLine(announcement, 720_000), body: announcement.body }
}

it('announces evictions of one drain as one, and those of several in one sentence', () => {
  expect(announced(...evictions(80, { node: 'host-7' })).line).toBe('80 devboxes on host-7 will be evicted in 12:00')
  expect(announced(...evictions(80, { node: 'host-7' }), alertOf({ deadline_ms: 700_000 }))).toEqual({
    line: '81 devboxes will be evicted, the first in 12:00',
    body: '80 devboxes on host-7, api. They will be suspended: their processes end, their disks are kept.',
  })
})

it('names three of many other alerts, whatever their direction', () => {
  const failed = ['\u202Ea', 'b', 'c', 'd'].map((id) => alertOf({ id, devbox_name: `box${id}`, kind: 'failure' }))
  expect(announced(...failed)).toEqual({ line: '4 alerts', body: 'box a, boxb, boxc, …' })
})
