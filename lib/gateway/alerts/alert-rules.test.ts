import { describe, expect, it } from 'vitest'
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
const told = { devbox_name: 'api', metadata: { team: 'core' }, found_late: false } as const
const raise = (deadlineMs: number, nowMs = 0, before?: Alert) =>
  raised(evictionSubject({ devbox_id: 'dbx_1', eviction_deadline_ms: deadlineMs }), told, nowMs, before)
const taken = (alert: Alert, nowMs: number) => acknowledged(alert, 'somebody', nowMs) as Alert

it('is taken on once, and says by whom and when', () => {
  const alert = taken(raise(10 * minute), 5)
  expect(alert).toMatchObject({ state: 'acknowledged', acknowledged_by: 'somebody', acknowledged_ms: 5, alarms: 1 })
  expect(acknowledged(alert, 'another', 6)).toBeUndefined()
})

it('is raised again under two minutes, unless it was taken on that late', () => {
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
  // Heard of late, it was told of the time that is left.
  expect(dueReminder(raise(20 * minute, 11 * minute), 12 * minute)).toBeUndefined()
})

it('stays taken on when its deadline moves later, and is new when it moves earlier', () => {
  const before = taken(raise(10 * minute), minute)
  expect(raise(20 * minute, 2 * minute, before)).toMatchObject({
    state: 'acknowledged',
    acknowledged_by: 'somebody',
    alarms: 0,
  })
  expect(raise(5 * minute, 2 * minute, before)).toMatchObject({ state: 'new', acknowledged_by: 'somebody', alarms: 1 })
  expect(raise(20 * minute, 2 * minute, raise(10 * minute))).toMatchObject({ state: 'new' })
})

it('closes once', () => {
  const over = closed(raise(minute), 'ended', 7)
  expect(over).toMatchObject({ state: 'ended', closed_ms: 7 })
  expect(closed(over as Alert, 'passed', 8)).toBeUndefined()
})

it.each([
  ['suspended', minute - 1, 'ended'],
  ['shutdown', minute + 1, 'ended'],
  ['running', minute - 1, 'withdrawn'],
  ['running', minute + 1, 'passed'],
  [undefined, minute - 1, 'withdrawn'],
  [undefined, minute + 1, 'withdrawn'],
])('tells of a devbox that is %s at %i ms that it is %s', (status, nowMs, state) => {
  expect(closedState(raise(minute), status, nowMs)).toBe(state)
})

it('is due when time may change an alert, and at the latest in a minute', () => {
  expect(nextDueMs(raise(10.5 * minute), 0)).toBe(minute / 2)
  expect(nextDueMs(raise(10 * minute), 7.5 * minute)).toBe(8 * minute)
  expect(nextDueMs(raise(10 * minute), 9.5 * minute)).toBe(10 * minute + 2_000)
  expect(nextDueMs(raise(1000 * minute), 0)).toBe(minute)
  expect(nextDueMs(raise(minute), 20 * minute)).toBe(21 * minute)
})

describe('an end that deletes a disk', () => {
  const end = {
    at_ms: 60 * minute,
    cause: 'keep_alive',
    action: 'shutdown',
    span_ms: 60 * minute,
    is_at_least: false,
  } as const

  it('is raised ten minutes before, or halfway through a shorter time', () => {
    expect(isEndNear(end, 50 * minute - 1)).toBe(false)
    expect(isEndNear(end, 50 * minute)).toBe(true)
    expect(isEndNear(end, 60 * minute)).toBe(false)
    expect(isEndNear({ ...end, span_ms: 8 * minute }, 56 * minute - 1)).toBe(false)
    expect(isEndNear({ ...end, span_ms: 8 * minute }, 56 * minute)).toBe(true)
    expect(isEndNear({ ...end, action: 'suspend' }, 59 * minute)).toBe(false)
  })

  it('is over with its disk, and not while the devbox is suspended', () => {
    const alert = raised(endSubject('dbx_1', end), told, 50 * minute)
    expect(alert).toMatchObject({ kind: 'end', deadline_ms: 60 * minute, end: { cause: 'keep_alive' } })
    expect(closedState(alert, 'shutdown', 61 * minute)).toBe('ended')
    expect(closedState(alert, 'suspended', 55 * minute)).toBe('withdrawn')
    expect(closedState(alert, 'running', 61 * minute)).toBe('passed')
  })
})

it('is reported once, and closed by an acknowledgment', () => {
  const subject = { id: 'dbx_1:failure', kind: 'failure', devbox_id: 'dbx_1', deadline_ms: 5 } as const
  const failure = raised(subject, told, 6)
  expect(dueReminder(failure, 7)).toBeUndefined()
  expect(acknowledged(failure, 'ada', 8)).toMatchObject({ state: 'seen', acknowledged_by: 'ada', closed_ms: 8 })
})
