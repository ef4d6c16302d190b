import { expect, it } from 'vitest'
import type { Alert } from '#lib/protocol/alerts.ts'
import { alertOf } from '#lib/protocol/testing.ts'
import { coveredBy, missedDeadlines } from './silence-scope.ts'

const minute = 60_000
const evictionAt = (minutes: number, name: string, change: Partial<Alert> = {}) =>
  alertOf({ id: name, devbox_name: name, deadline_ms: minutes * minute, metadata: { team: 'core' }, ...change })

it('names the devboxes that are lost while silenced', () => {
  const alerts = [
    evictionAt(40, 'late'),
    evictionAt(30, 'db'),
    evictionAt(12, 'api\u202e'),
    evictionAt(-1, 'past'),
    evictionAt(4, 'cache', { kind: 'end' }),
    evictionAt(5, 'other', { metadata: { team: 'qa' } }),
  ]
  expect(coveredBy(alerts, {})).toEqual([])
  const covered = coveredBy(alerts, { team: 'core' })
  expect(covered).toHaveLength(5)
  expect(missedDeadlines(covered, 0, 30 * minute)).toEqual([
    '1 devbox will be deleted while silenced, in 4 min: cache',
    '2 devboxes will be evicted while silenced, the first in 12 min: api, db',
  ])
  expect(missedDeadlines(covered, 0, 3 * minute)).toEqual([])
  const many = Array.from({ length: 80 }, (_, n) => evictionAt(10, `box-${n}`))
  expect(missedDeadlines(many, 0, 30 * minute)).toEqual([
    '80 devboxes will be evicted while silenced, the first in 10 min: box-0, box-1, box-2, box-3, box-4, 75 more',
  ])
})
