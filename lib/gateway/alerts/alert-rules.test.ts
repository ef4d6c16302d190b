import { expect, it } from 'vitest'
import type { Alert } from '#lib/protocol/alerts.ts'
import {
  acknowledged,
  closed,
  closedState,
  dueReminder,
  endSubject,
  evictionSubject,
  isEndNear,
  nextDueMs,
  raised,
} from './alert-rules.ts'

const minute = 60_000
const details = { devbox_name: 'api', metadata: { team: 'core' }, found_late: false } as const
const raise = (deadlineMs: number, nowMs = 0, before?: Alert) =>
  raised(evictionSubject({ devbox_id: 'dbx_1', eviction_deadline_ms: deadlineMs }), details, nowMs, before)
const taken = (alert: Alert, nowMs: number) => acknowledged(alert, 'somebody', nowMs) as Alert
const end = {
  at_ms: 60 * minute,
  cause: 'keep_alive',
  action: 'shutdown',
  span_ms: 60 * minute,
  is_at_least: false,
} as const

it('is acknowledged once, with who and when', () => {
  const alert = taken(raise(10 * minute), 5)
  expect(alert).toMatchObject({ state: 'acknowledged', acknowledged_by: 'somebody', acknowledged_ms: 5, alarms: 1 })
  expect(acknowledged(alert, 'another', 6)).toBeUndefined()
})

it('is raised again at two minutes, unless it was acknowledged that late', () => {
  const early = taken(raise(10 * minute), minute)
  expect(dueReminder(early, 8 * minute - 1)).toBeUndefined()
  expect(dueReminder(early, 8 * minute)).toMatchObject({ state: 'new', alarms: 2, acknowledged_by: 'somebody' })
  expect(dueReminder(early, 10 * minute)).toBeUndefined()
  expect(dueReminder(taken(raise(10 * minute), 8 * minute), 9 * minute)).toBeUndefined()
})

it('is raised again at ten and two minutes while unacknowledged', () => {
  const alert = raise(20 * minute)
  expect(dueReminder(alert, 9 * minute)).toBeUndefined()
  const again = dueReminder(alert, 10 * minute)
  expect(again).toMatchObject({ state: 'new', alarms: 2 })
  expect(dueReminder(again as Alert, 17 * minute)).toBeUndefined()
  expect(dueReminder(again as Alert, 18 * minute)).toMatchObject({ alarms: 3 })
  expect(dueReminder(raise(20 * minute, 11 * minute), 12 * minute)).toBeUndefined()
})

it('stays acknowledged when its deadline moves later, and is new when it moves earlier', () => {
  const before = taken(raise(10 * minute), minute)
  expect(raise(20 * minute, 2 * minute, before)).toMatchObject({ state: 'acknowledged', alarms: 0 })
  expect(raise(5 * minute, 2 * minute, before)).toMatchObject({ state: 'new', acknowledged_by: 'somebody', alarms: 1 })
  expect(raise(20 * minute, 2 * minute, raise(10 * minute))).toMatchObject({ state: 'new' })
})

it('closes once', () => {
  const over = closed(raise(minute), 'ended', 7)
  expect(over).toMatchObject({ state: 'ended', closed_ms: 7 })
  expect(closed(over as Alert, 'passed', 8)).toBeUndefined()
})

it.each([
  ['eviction', 'suspended', minute - 1, 'ended'],
  ['eviction', 'shutdown', minute + 1, 'ended'],
  ['eviction', 'running', minute - 1, 'withdrawn'],
  ['eviction', 'running', minute + 1, 'passed'],
  ['eviction', undefined, minute - 1, 'withdrawn'],
  ['eviction', undefined, minute + 1, 'withdrawn'],
  ['end', 'shutdown', minute + 1, 'ended'],
  ['end', 'suspended', minute - 1, 'withdrawn'],
  ['end', 'running', minute + 1, 'passed'],
] as const)('an %s of a devbox that is %s at %i ms is %s', (kind, status, nowMs, state) => {
  expect(closedState({ kind, deadline_ms: minute }, status, nowMs)).toBe(state)
})

it('is due when time may change an alert, and at the latest in a minute', () => {
  expect(nextDueMs(raise(10.5 * minute), 0)).toBe(minute / 2)
  expect(nextDueMs(raise(10 * minute), 7.5 * minute)).toBe(8 * minute)
  expect(nextDueMs(raise(10 * minute), 9.5 * minute)).toBe(10 * minute + 2_000)
  expect(nextDueMs(raise(1000 * minute), 0)).toBe(minute)
})

it('reports the end of a disk ten minutes before, or halfway through a shorter time', () => {
  expect([50 * minute - 1, 50 * minute, 60 * minute].map((nowMs) => isEndNear(end, nowMs))).toEqual([
    false,
    true,
    false,
  ])
  const short = { ...end, span_ms: 8 * minute }
  expect([56 * minute - 1, 56 * minute].map((nowMs) => isEndNear(short, nowMs))).toEqual([false, true])
  expect(isEndNear({ ...end, action: 'suspend' }, 59 * minute)).toBe(false)
  expect(endSubject('dbx_1', end)).toMatchObject({ kind: 'end', deadline_ms: 60 * minute })
})

it('closes a past event when it is acknowledged, without a reminder', () => {
  const subject = { id: 'dbx_1:failure', kind: 'failure', devbox_id: 'dbx_1', deadline_ms: 5 } as const
  const failure = raised(subject, details, 6)
  expect(dueReminder(failure, 7)).toBeUndefined()
  expect(acknowledged(failure, 'ada', 8)).toMatchObject({ state: 'seen', acknowledged_by: 'ada', closed_ms: 8 })
})
