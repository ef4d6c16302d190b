import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { alertKinds, alertStates } from '#lib/protocol/alert-labels.ts'
import { isInterrupted, isPractice, isUnattended } from '#lib/protocol/alert-outcomes.ts'
import { type Alert, type AlertHistory, maxStoredAlerts } from '#lib/protocol/alerts.ts'
import { maxListed } from '#lib/protocol/shift-report.ts'
import { alertOf } from '#lib/protocol/testing.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'
import { startConsole, type TestConsole } from '../testing.ts'
import { storedAlerts } from './alert-books.ts'

const hourMs = 3_600_000

let service: TestService
let gateway: TestConsole
let cookie: string
let stored: ReturnType<typeof storedAlerts>
beforeAll(async () => {
  service = await startService()
  const webhook = { url: 'http://127.0.0.1:9/hook', secret: undefined, apiKey: undefined }
  gateway = await startConsole(service, { webhook })
  cookie = await gateway.signIn(service.key)
  stored = storedAlerts({ account: await service.client.accounts.me({}) })
})
afterAll(async () => {
  await gateway.close()
  await service.close()
})
const put = (alert: Alert) => stored.store.put(stored.account, alert)
const get = async (path: string) => (await gateway.ask(cookie, 'GET', `/api/alerts${path}`)).body

/** An eviction that happened `agoMs` ago and was acknowledged after `responseMs`, if ever. */
const eviction = (id: string, agoMs: number, responseMs: number | null, change: Partial<Alert> = {}): Alert => {
  const deadline_ms = Date.now() - agoMs
  return alertOf({
    id,
    deadline_ms,
    first_heard_ms: deadline_ms - hourMs,
    state: 'ended',
    closed_ms: deadline_ms + 5,
    ...(responseMs !== null && { acknowledged_by: 'Ada', acknowledged_ms: deadline_ms - hourMs + responseMs }),
    ...change,
  })
}

describe('GET /api/alerts', () => {
  it('200 by outcome, exactly as alerts are classified elsewhere', async () => {
    const all = alertKinds.flatMap((kind) =>
      alertStates.flatMap((state) =>
        [null, 5].flatMap((acknowledged_ms) =>
          [undefined, 0, 2].flatMap((commands) =>
            [false, true].map((isDrill, n) =>
              alertOf({
                id: [kind, state, acknowledged_ms, commands, n].join(' '),
                devbox_name: 'every-kind',
                kind,
                state,
                acknowledged_ms,
                closed_ms: 6,
                ...(commands !== undefined && { work: { commands } }),
                ...(isDrill && { is_drill: true }),
              }),
            ),
          ),
        ),
      ),
    )
    all.forEach(put)
    for (const [outcome, is] of [
      ['interrupted', isInterrupted],
      ['unattended', isUnattended],
    ] as const) {
      const { alerts, total_count } = (await get(`?search=every-kind&limit=500&outcome=${outcome}`)) as AlertHistory
      const wanted = all.filter((alert) => !isPractice(alert) && is(alert)).map(({ id }) => id)
      expect(new Set(alerts.map(({ id }) => id))).toEqual(new Set(wanted))
      expect(total_count).toBe(wanted.length)
    }
    const ends = (await get('?search=every-kind&limit=500&kind=end')) as AlertHistory
    expect(new Set(ends.alerts.map(({ kind }) => kind))).toEqual(new Set(['end']))
  })

  it('200 by period: of the deadline, or of the end if that was earlier', async () => {
    put(eviction('period:long ago', 30 * hourMs, null, { devbox_name: 'period' }))
    put(eviction('period:recent', hourMs, null, { devbox_name: 'period' }))
    put(eviction('period:pending', -hourMs, null, { devbox_name: 'period', state: 'new', closed_ms: null }))
    put(
      eviction('period:rescued', -48 * hourMs, null, {
        devbox_name: 'period',
        state: 'stopped',
        closed_ms: Date.now() - 20 * hourMs,
      }),
    )
    const found = async (query: string) =>
      ((await get(`?search=period${query}`)) as AlertHistory).alerts.map(({ id }) => id.slice(7)).sort()
    expect(await found('&period=12h')).toEqual(['pending', 'recent'])
    expect(await found('&period=24h')).toEqual(['pending', 'recent', 'rescued'])
    expect(await found(`&period=7d&to_ms=${Date.now() - 25 * hourMs}`)).toEqual(['long ago'])
    expect(await found(`&from_ms=${Date.now() - 25 * hourMs}&to_ms=${Date.now()}`)).toEqual(['recent', 'rescued'])
    const file = await (await gateway.fetch('/api/alerts?search=period&period=12h&format=csv', { cookie })).text()
    expect(file.trim().split('\r\n')).toHaveLength(3)
  })

  it('400 on an unknown kind, outcome or period', async () => {
    for (const field of ['kind', 'outcome', 'period', 'from_ms'])
      expect(await get(`?${field}=yesterday`)).toMatchObject({ code: 'invalid_argument', field })
  })
})

describe('GET /api/alerts/summary', () => {
  it('200: how many evictions of a period hit running work', async () => {
    const of = (change: Partial<Alert>) => ({ devbox_name: 'summed', ...change })
    put(eviction('sum:a', hourMs, 120_000, of({ work: { commands: 30 } })))
    put(eviction('sum:b', hourMs, null, of({ work: { commands: 7 } })))
    put(eviction('sum:c', hourMs, 60_000, of({ work: { commands: 0 } })))
    put(eviction('sum:d', hourMs, 30_000, of({})))
    put(eviction('sum:drill', hourMs, null, of({ work: { commands: 9 }, is_drill: true })))
    put(eviction('sum:moved', hourMs, null, of({ state: 'moved' })))
    put(eviction('sum:old', 13 * hourMs, null, of({ work: { commands: 9 } })))
    expect(await get('/summary?search=summed&period=12h')).toEqual({
      from_ms: expect.any(Number),
      to_ms: null,
      evicted: 4,
      interrupted: 2,
      commands: 37,
      unknown: 1,
      unattended: 1,
      response: { n: 3, median_ms: 60_000 },
    })
  })
})

describe('GET /api/alerts/recap', () => {
  it('200 with what closed since, however old its deadline is', async () => {
    const since = Date.now() + 100 * hourMs
    put(eviction('recap:late', 50 * hourMs, null, { found_late: true, closed_ms: since + 1 }))
    put(eviction('recap:before', hourMs, null, { closed_ms: since - 1 }))
    expect(await get(`/recap?from_ms=${since}`)).toMatchObject({
      from_ms: since,
      parts: { unattended: { count: 1, alerts: [{ id: 'recap:late' }] }, attended: { count: 0 } },
      others: 0,
    })
  })

  it('400 on an invalid time', async () => {
    expect(await get('/recap?from_ms=noon')).toMatchObject({ code: 'invalid_argument', field: 'from_ms' })
  })
})

describe('GET /api/alerts/report', () => {
  it('200 as JSON and as Markdown, with deliveries, and alerts still open from before', async () => {
    const from_ms = Date.UTC(2020, 0, 1, 22)
    const outage = alertOf({
      id: 'watch@1',
      kind: 'watch',
      deadline_ms: from_ms - hourMs,
      first_heard_ms: from_ms - hourMs,
      state: 'resolved',
      closed_ms: from_ms + hourMs,
      watch: { cause: 'late', detail: 'Nothing was heard', account: 'ops' },
    })
    put(outage)
    put({ ...outage, id: 'watch@0', closed_ms: from_ms - 1 })
    const failure = alertOf({ kind: 'failure', deadline_ms: from_ms - hourMs, first_heard_ms: from_ms - hourMs })
    put({ ...failure, id: 'report:unseen' })
    put({ ...failure, id: 'report:seen', state: 'seen', closed_ms: from_ms + 1 })
    put({ ...failure, id: 'report:seen before', state: 'seen', closed_ms: from_ms - 1 })
    put(eviction('report:a', Date.now() - from_ms - hourMs, 120_000, { work: { commands: 2 } }))
    const [receiver] = (await get('/receivers')).receivers
    for (const [id, state, hours] of [
      ['one', 'delivered', 1],
      ['two', 'delivered', 11],
      ['rejected', 'failed', 2],
      ['next shift', 'failed', 12],
    ] as const)
      stored.store.outbox.record(stored.account, receiver.id, {
        id,
        event: 'alert.raised',
        n_alerts: 1,
        at_ms: from_ms + hours * hourMs,
        attempts: 1,
        state,
        answer: '',
        text: '',
      })
    const query = `from_ms=${from_ms}&to_ms=${from_ms + 12 * hourMs}`
    const report = await get(`/report?${query}`)
    expect(report).toMatchObject({
      complete_from_ms: null,
      kinds: [{ kind: 'eviction' }, { kind: 'failure', states: { new: 1, seen: 1 } }, { kind: 'watch' }],
      open: { count: 1, items: [{ id: 'report:unseen' }] },
      failed: { count: 0 },
      outages: { count: 1, total_ms: hourMs, items: [{ id: 'watch@1' }] },
      interrupted: { count: 1, of: 1, commands: 2, items: [{ id: 'report:a' }] },
      receivers: [{ id: receiver.id, host: '127.0.0.1:9', delivered: 2, failed: 1, waiting: 0, failure: null }],
    })
    const response = await gateway.fetch(`/api/alerts/report?${query}&format=markdown`, { cookie })
    expect(response.headers.get('content-disposition')).toBe('attachment; filename="shift-report.md"')
    const text = await response.text()
    expect(text).toContain('# Shift report, 2020-01-01 22:00 UTC to 2020-01-02 10:00 UTC')
    expect(text).toContain('Evicted with running work: 1 of 1 (2 commands).')
  })

  it('400 if it ends before it starts', async () => {
    expect(await get('/report?from_ms=2&to_ms=1')).toMatchObject({ code: 'invalid_argument', field: 'from_ms' })
  })

  it('200 of the last 12 hours by default, and says if the history no longer reaches that far', async () => {
    // Pruned once in 100 closed alerts.
    const count = maxStoredAlerts + 100
    const recent = Date.now() - hourMs
    for (let n = 0; n < count; n++)
      put(eviction(`full:${n}`, 1_000, null, { first_heard_ms: recent + n, work: { commands: 1 } }))
    const report = await get('/report')
    expect(report.to_ms - report.from_ms).toBe(12 * hourMs)
    expect(report.complete_from_ms).toBeGreaterThanOrEqual(recent)
    expect(report.interrupted.count).toBeGreaterThanOrEqual(maxStoredAlerts)
    expect(report.interrupted.items).toHaveLength(maxListed)
  })
})
