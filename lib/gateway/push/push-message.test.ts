import { expect, it } from 'vitest'
import type { Alert, AlertEventName } from '#lib/protocol/alerts.ts'
import { alertOf } from '#lib/protocol/testing.ts'
import { pushMessageOf } from './push-message.ts'

const nowMs = 1_000_000_000
const messageOf = (changes: Partial<Alert>[], { event = 'alert.raised' as AlertEventName, showsNames = false } = {}) =>
  pushMessageOf({
    event,
    alerts: changes.map((change, i) =>
      alertOf({ devbox_id: `dbx_${i}`, devbox_name: `box-${i}`, deadline_ms: nowMs + 5 * 60_000, ...change }),
    ) as [Alert, ...Alert[]],
    account: 'acc_1',
    showsNames,
    nowMs,
  })
const titleOf = (...args: Parameters<typeof messageOf>) => messageOf(...args)?.title

it('gives the event and the number of devboxes, and names them only if allowed', () => {
  expect(titleOf([{ kind: 'eviction' }, { kind: 'eviction' }])).toBe('2 devboxes will be suspended in 5 min')
  expect(titleOf([{ kind: 'end' }])).toBe('1 devbox will be shut down and its disk deleted in 5 min')
  expect(titleOf([{ kind: 'failure' }])).toBe('1 devbox failed')
  expect(titleOf([{ kind: 'watch' }])).toBe('Devdeck may miss evictions')
  expect(titleOf([{ kind: 'test' }])).toBe('Test alert')
  const job = { id: 'bmj_1', name: 'nightly\nrun', state: 'failed' }
  expect(titleOf([{ kind: 'job', job }])).toBe('1 followed job ended without success')
  expect(titleOf([{ kind: 'job', job }], { showsNames: true })).toBe('nightly run ended without success')
  const five = Array.from({ length: 5 }, () => ({ kind: 'eviction' }) as const)
  expect(titleOf(five, { showsNames: true })).toBe('box-0, box-1, box-2 and 2 more will be suspended in 5 min')
  expect(titleOf([{ kind: 'eviction', deadline_ms: nowMs + 30_000 }])).toMatch(/in less than a minute$/)
})

it('replaces the notification of an alert that was acknowledged or closed', () => {
  const raised = messageOf([{ kind: 'eviction' }])
  for (const event of ['alert.acknowledged', 'alert.closed'] as const)
    expect(messageOf([{ kind: 'eviction' }], { event })).toMatchObject({ tag: raised?.tag, is_over: true })
  expect(messageOf([{ kind: 'eviction' }], { event: 'alert.unacknowledged' })).toBeNull()
})
