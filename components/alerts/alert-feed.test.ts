import { expect, it } from 'vitest'
import type { Alert, Silence } from '#lib/protocol/alerts.ts'
import { alertOf } from '#lib/protocol/testing.ts'
import {
  audibleAlerts,
  clockError,
  emptyAlertFeed,
  nextAlertFeed,
  urgencyOf,
  urgencyOfTime,
  worstFirst,
} from './alert-feed.ts'

const feedOf = (...alerts: Alert[]) =>
  nextAlertFeed(
    emptyAlertFeed,
    alerts.map((data) => ({ event: 'alert', data })),
  )

it('keeps one entry per alert, earliest deadline first, and closed alerts apart', () => {
  const [late, soon] = [alertOf(), alertOf({ id: 'b', deadline_ms: 5_000 })]
  const feed = feedOf(late, soon, { ...late, state: 'acknowledged' })
  expect(feed.open.map(({ id, state }) => [id, state])).toEqual([
    ['b', 'new'],
    [late.id, 'acknowledged'],
  ])
  const after = nextAlertFeed(feed, [{ event: 'alert', data: { ...soon, state: 'withdrawn' } }])
  expect(after.open).toHaveLength(1)
  expect(after.closed).toMatchObject([{ id: 'b', state: 'withdrawn' }])
  const again = nextAlertFeed(after, [{ event: 'alert', data: soon }])
  expect([again.open.length, again.closed]).toEqual([2, []])
})

it('mutes silenced alerts until the silence ends', () => {
  const silence: Silence = {
    id: 's',
    metadata: { team: 'qa' },
    until_ms: 100_000,
    comment: '',
    by: 'me',
    created_ms: 0,
  }
  const feed = nextAlertFeed(feedOf(alertOf({ metadata: { team: 'qa', x: 'y' } })), [
    { event: 'silences', data: [silence] },
  ])
  expect(audibleAlerts(feed, 99_999)).toEqual([])
  expect(audibleAlerts(feed, 100_000)).toHaveLength(1)
})

it('derives urgency from the time left and the acknowledgment', () => {
  const feed = feedOf(alertOf())
  expect(urgencyOf(feed.open, 0)).toBe('attention')
  expect(urgencyOf(feed.open, 480_000)).toBe('danger')
  const acknowledged = feedOf(alertOf({ state: 'acknowledged' }))
  expect(urgencyOf(acknowledged.open, 480_000)).toBe('neutral')
})

it('moves overdue alerts behind pending ones', () => {
  const [past, next] = [alertOf({ id: 'a', deadline_ms: 10_000 }), alertOf({ id: 'b', deadline_ms: 20_000 })]
  const failure = alertOf({ id: 'c', kind: 'failure', deadline_ms: 1 })
  const feed = feedOf(past, next, failure)
  const order = (nowMs: number) => worstFirst(feed.open, nowMs).map(({ id }) => id)
  expect(order(12_999)).toEqual(['a', 'b', 'c'])
  expect(order(13_000)).toEqual(['b', 'c', 'a'])
})

it('names the worst alert first, so that the bar has its color', () => {
  const minute = 60_000
  const soon = alertOf({ id: 'soon', deadline_ms: 5 * minute, state: 'acknowledged' })
  const later = alertOf({ id: 'later', deadline_ms: 30 * minute })
  const test = alertOf({ id: 'test', kind: 'test', deadline_ms: minute })
  const failure = alertOf({ id: 'failure', kind: 'failure', deadline_ms: 1 })
  const order = (...alerts: Alert[]) => worstFirst(feedOf(...alerts).open, 0).map(({ id }) => id)
  expect(order(soon, later, test, failure)).toEqual(['failure', 'later', 'soon', 'test'])
  expect(order(soon, test)).toEqual(['soon', 'test'])
})

it('derives the urgency of a deadline from the time left and whether the disk is deleted', () => {
  const minute = 60_000
  const urgencies = (deletesDisk: boolean) =>
    [11 * minute, 10 * minute, 2 * minute + 1, 2 * minute, 0].map((leftMs) => urgencyOfTime(leftMs, deletesDisk))
  expect(urgencies(false)).toEqual(['neutral', 'attention', 'attention', 'danger', 'danger'])
  expect(urgencies(true)).toEqual(['neutral', 'danger', 'danger', 'danger', 'danger'])
})

it('lists a test alert after evictions and never as danger', () => {
  const test = alertOf({ id: 'test@1000', kind: 'test', devbox_id: 'test', deadline_ms: 1_000 })
  const failure = alertOf({ id: 'dbx_1:failure', kind: 'failure', deadline_ms: 1 })
  expect(feedOf(test, failure, alertOf()).open.map(({ kind }) => kind)).toEqual(['eviction', 'test', 'failure'])
  const feed = feedOf(test)
  expect(urgencyOf(feed.open, 0)).toBe('attention')
})

it('reports a clock that is off by more than five seconds', () => {
  expect([0, 5_000, -5_000].map(clockError)).toEqual([null, null, null])
  expect([-5_001, 6_200, -599_700, 600_400].map(clockError)).toEqual([
    '5 s ahead',
    '6 s behind',
    '10 min ahead',
    '10 min behind',
  ])
})
