import { expect, it, vi } from 'vitest'
import type { Alert, Silence } from '#lib/protocol/alerts.ts'
import { alertOf } from '#lib/protocol/testing.ts'
import {
  alertLeftMs,
  clockError,
  emptyAlertFeed,
  gatheringMs,
  loudAlerts,
  nextAlertFeed,
  nextFirst,
  urgencyOf,
  urgencyOfTime,
} from './alert-feed.ts'

const told = (...alerts: Alert[]) =>
  nextAlertFeed(
    emptyAlertFeed,
    alerts.map((data) => ({ event: 'alert', data })),
  )

it('keeps one entry for an alert, the earliest deadline first, and what is over apart', () => {
  const [late, soon] = [alertOf(), alertOf({ id: 'b', deadline_ms: 5_000 })]
  const feed = told(late, soon, { ...late, state: 'acknowledged' })
  expect(feed.open.map(({ id, state }) => [id, state])).toEqual([
    ['b', 'new'],
    [late.id, 'acknowledged'],
  ])
  const after = nextAlertFeed(feed, [{ event: 'alert', data: { ...soon, state: 'withdrawn' } }])
  expect(after.open).toHaveLength(1)
  expect(after.over).toMatchObject([{ id: 'b', state: 'withdrawn' }])
  const again = nextAlertFeed(after, [{ event: 'alert', data: soon }])
  expect([again.open.length, again.over]).toEqual([2, []])
})

it('sorts once, however many alerts come at once', () => {
  const sorted = vi.spyOn(Array.prototype, 'sort')
  told(...Array.from({ length: 5_000 }, (_, n) => alertOf({ id: `dbx_${n}`, deadline_ms: n })))
  expect(sorted).toHaveBeenCalledOnce()
  sorted.mockRestore()
})

it('leaves silenced alerts out of what is heard, until the silence is over by the clock of the console', () => {
  const silence: Silence = {
    id: 's',
    metadata: { team: 'qa' },
    until_ms: 100_000,
    comment: '',
    by: 'me',
    created_ms: 0,
  }
  const feed = nextAlertFeed(told(alertOf({ metadata: { team: 'qa', x: 'y' } })), [
    { event: 'silences', data: [silence] },
  ])
  expect(loudAlerts(feed, 99_999)).toEqual([])
  expect(loudAlerts(feed, 100_000)).toHaveLength(1)
  const ahead = { ...feed, health: { ...feed.health, clockOffsetMs: 60_000 } }
  expect(loudAlerts(ahead, 40_000)).toHaveLength(1)
})

it('is urgent by time left and by whether somebody has taken it on', () => {
  const feed = told(alertOf())
  expect(urgencyOf(feed.open, feed, 0)).toBe('attention')
  expect(urgencyOf(feed.open, feed, 480_000)).toBe('danger')
  const taken = told(alertOf({ state: 'acknowledged' }))
  expect(urgencyOf(taken.open, taken, 480_000)).toBe('neutral')
})

it('puts what is ahead before a deadline that has passed, once that was shown as now', () => {
  const [past, next] = [alertOf({ id: 'a', deadline_ms: 10_000 }), alertOf({ id: 'b', deadline_ms: 20_000 })]
  const failure = alertOf({ id: 'c', kind: 'failure', deadline_ms: 1 })
  const feed = told(past, next, failure)
  const order = (nowMs: number) => nextFirst(feed.open, feed, nowMs).map(({ id }) => id)
  expect(order(12_999)).toEqual(['a', 'b', 'c'])
  expect(order(13_000)).toEqual(['b', 'c', 'a'])
  const ahead = { ...feed, health: { ...feed.health, clockOffsetMs: 600_000 } }
  expect(nextFirst(ahead.open, ahead, -590_000).map(({ id }) => id)).toEqual(['a', 'b', 'c'])
})

it('gathers reminders for longer than what is new', () => {
  const reminded = alertOf({ alarms: 2, raised_ms: 5_000 })
  expect(gatheringMs(told(reminded), 4_000)).toBe(15_000)
  expect(gatheringMs(told(reminded, alertOf({ id: 'b', alarms: 1, raised_ms: 5_000 })), 4_000)).toBe(2_000)
  expect(gatheringMs(told(reminded, alertOf({ id: 'b', alarms: 1, raised_ms: 3_000 })), 4_000)).toBe(15_000)
  const taken = alertOf({ id: 'b', alarms: 1, raised_ms: 5_000, state: 'acknowledged' })
  expect(gatheringMs(told(reminded, taken), 4_000)).toBe(15_000)
})

it('counts down by the clock of the console, whatever this one says', () => {
  const feed = { ...told(alertOf()), health: { state: 'live', sinceMs: 0, clockOffsetMs: -600_000 } as const }
  expect(alertLeftMs(feed, alertOf(), 600_000)).toBe(600_000)
  expect(alertLeftMs(feed, alertOf(), 2_000_000)).toBe(0)
})

it('tells how urgent a deadline is by what it costs and by the time that is left', () => {
  const minute = 60_000
  const urgencies = (deletesDisk: boolean) =>
    [11 * minute, 10 * minute, 2 * minute + 1, 2 * minute, 0].map((leftMs) => urgencyOfTime(leftMs, deletesDisk))
  expect(urgencies(false)).toEqual(['neutral', 'attention', 'attention', 'danger', 'danger'])
  expect(urgencies(true)).toEqual(['neutral', 'danger', 'danger', 'danger', 'danger'])
})

it('lists a test behind what is ahead, and counts it as no danger', () => {
  const test = alertOf({ id: 'test@1000', kind: 'test', devbox_id: 'test', deadline_ms: 1_000 })
  const failure = alertOf({ id: 'dbx_1:failure', kind: 'failure', deadline_ms: 1 })
  expect(told(test, failure, alertOf()).open.map(({ kind }) => kind)).toEqual(['eviction', 'test', 'failure'])
  const feed = told(test)
  expect(urgencyOf(feed.open, feed, 0)).toBe('attention')
})

it('says how far the clock of this browser is off, once that is more than five seconds', () => {
  const off = (clockOffsetMs: number) => clockError({ health: { ...emptyAlertFeed.health, clockOffsetMs } })
  expect([0, 5_000, -5_000].map(off)).toEqual([null, null, null])
  expect([-5_001, 6_200, -599_700, 600_400].map(off)).toEqual([
    '5 s ahead',
    '6 s behind',
    '10 min ahead',
    '10 min behind',
  ])
})
