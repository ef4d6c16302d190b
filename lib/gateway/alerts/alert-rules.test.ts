import { expect, it } from 'vitest'
import type { Alert } from '#lib/protocol/alerts.ts'
import {
  acknowledged,
  closed,
  closedState,
  dueReminder,
  endSubject,
  evictionSubject,
  handedOver,
  isEndNear,
  logged,
  nextDueMs,
  raised,
  raisedSilenced,
  silencedBy,
  silenceEnded,
  unacknowledged,
  unseenMs,
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

it('is handed over and unacknowledged without another alarm', () => {
  const alert = taken(raise(20 * minute), 5)
  const given = handedOver(alert, 'ben', 'ada', 6) as Alert
  expect(given).toMatchObject({ state: 'acknowledged', acknowledged_by: 'ben', acknowledged_ms: 6 })
  expect(handedOver(given, 'ben', 'ada', 7)).toBeUndefined()
  const undone = unacknowledged(given, 'ben', 7) as Alert
  expect(undone).toMatchObject({ state: 'new', alarms: 1, acknowledged_by: null, acknowledged_ms: null })
  expect(unacknowledged(undone, 'ben', 8)).toBeUndefined()
  expect(undone.log).toEqual([
    { at_ms: 0, what: 'raised', by: null },
    { at_ms: 5, what: 'acknowledged', by: 'somebody' },
    { at_ms: 6, what: 'handed_over', by: 'ada', to: 'ben' },
    { at_ms: 7, what: 'unacknowledged', by: 'ben' },
  ])
  // As if it had never been acknowledged.
  expect(dueReminder(undone, 10 * minute)).toMatchObject({ alarms: 2 })
  const over = closed(undone, 'ended', 9) as Alert
  expect([handedOver(over, 'ben', 'ada', 10), unacknowledged(over, 'ada', 10)]).toEqual([undefined, undefined])
})

it('logs each silence that covers an alert once, and its end', () => {
  const silences = [
    { by: 'ada', comment: 'load test' },
    { by: 'ben', comment: '' },
  ]
  const silenced = raisedSilenced(raise(20 * minute), silences, 1)
  expect(silenced.log?.slice(1)).toEqual([
    { at_ms: 1, what: 'silenced', by: 'ada', text: 'load test' },
    { at_ms: 1, what: 'silenced', by: 'ben' },
  ])
  expect(raisedSilenced(silenced, silences, 2)).toBe(silenced)
  const one = silenceEnded(silenced, 'ada', 3) as Alert
  const none = silenceEnded(one, null, 4) as Alert
  expect(silenceEnded(none, null, 5)).toBeUndefined()
  expect(none.log?.slice(3)).toEqual([
    { at_ms: 3, what: 'silence_ended', by: 'ada' },
    { at_ms: 4, what: 'silence_ended', by: null },
  ])
  expect(silencedBy(none, { by: 'ben', comment: '' }, 6).log).toHaveLength(6)
})

it('keeps the first entry of its log and the newest', () => {
  let alert = raise(minute)
  for (let n = 1; n <= 60; n++) alert = logged(alert, { at_ms: n, what: 'commented', by: 'ada', text: `${n}` })
  expect(alert.log?.map(({ at_ms }) => at_ms)).toEqual([0, ...Array.from({ length: 49 }, (_, n) => n + 12)])
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
  const later = { state: 'acknowledged', alarms: 0, moved_from_ms: 10 * minute }
  expect(raise(20 * minute, 2 * minute, before)).toMatchObject(later)
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
  const seen = acknowledged(failure, 'ada', 8) as Alert
  expect(seen).toMatchObject({ state: 'seen', acknowledged_by: 'ada', closed_ms: 8 })
  expect(unacknowledged(seen, 'ada', 9)).toMatchObject({ state: 'new', closed_ms: null })
  expect(unacknowledged(seen, 'ada', 6 + unseenMs)).toBeUndefined()
  const given = handedOver(failure, 'ben', 'ada', 9) as Alert
  expect(given.state).toBe('acknowledged')
  expect(acknowledged(given, 'ben', 10)).toMatchObject({ state: 'seen', acknowledged_by: 'ben' })
})
