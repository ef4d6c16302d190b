import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import type { Activity } from '#lib/protocol/activity.ts'
import type { Acknowledged, Alert, AlertItem, ChangedAlerts } from '#lib/protocol/alerts.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'
import { startConsole, type TestConsole } from '../testing.ts'
import { alertBookFor } from './alert-books.ts'

const soon = { timeout: 120_000 }

let service: TestService
let gateway: TestConsole
let session: string
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.close())
beforeEach(async () => {
  gateway = await startConsole(service)
  session = await gateway.signIn(service.key)
})
afterEach(() => gateway.close())

const as = (name: string) => (method: string, path: string, body?: unknown) =>
  gateway.ask(`${session}; devdeck-name=${encodeURIComponent(name)}`, method, `/api/alerts${path}`, body)
const [ada, ben] = [as('Ada'), as('Ben')]

const book = async () => alertBookFor({ account: await service.client.accounts.me({}), api_key: service.key })

const alertOfDevbox = async (metadata: Record<string, string> = {}) => {
  const { id } = await service.client.devboxes.createAndAwaitRunning({ body: { name: 'worker', metadata } })
  let latest: Alert | undefined
  const onItem = (item: AlertItem) => {
    if (item.event === 'alert') latest = item.data
  }
  ;(await book()).join(service.key, { onItem })
  await service.client.evictions.schedule({ body: { devbox_id: id, eviction_deadline_ms: Date.now() + 3_600_000 } })
  return vi.waitFor(() => {
    expect(latest).toMatchObject({ devbox_id: id, devbox_name: 'worker' })
    return latest?.id ?? ''
  }, soon)
}

const alert = async (id: string) => (await ada('GET', `/alert/${encodeURIComponent(id)}`)).body as Alert
const logOf = async (id: string) =>
  ((await alert(id)).log ?? []).map(({ what, by, to, text }) =>
    [what, by, to ?? text].filter((part) => part != null).join(' '),
  )
const activity = async () =>
  ((await gateway.ask(session, 'GET', '/api/activity?search=alerts.')).body.activities as Activity[]).map(
    ({ operation, subject, person }) => [operation, subject, person],
  )

it('gives an alert to the first of two people, who hands it over; the other undoes it and comments', async () => {
  const id = await alertOfDevbox()
  const answers = await Promise.all([ada, ben].map((person) => person('POST', '/acknowledge', { ids: [id] })))
  const [first, second] = answers.map(({ body }) => body as Acknowledged)
  expect(first?.acknowledged).toMatchObject([{ id, acknowledged_by: 'Ada (unverified)' }])
  expect(second).toMatchObject({ acknowledged: [], taken: [{ id, acknowledged_by: 'Ada (unverified)' }] })

  const { body } = await ada('POST', '/hand-over', { ids: [id], to: 'Ben' })
  expect((body as ChangedAlerts).alerts).toMatchObject([{ state: 'acknowledged', acknowledged_by: 'Ben (unverified)' }])
  expect((await ada('POST', '/hand-over', { ids: [id, 'unknown'], to: 'Ben' })).body).toEqual({ alerts: [] })
  expect((await ada('POST', '/hand-over', { ids: [id] })).body.alerts).toMatchObject([
    { acknowledged_by: 'Ada (unverified)' },
  ])
  expect((await ben('POST', '/unacknowledge', { ids: [id] })).body.alerts).toMatchObject([{ state: 'new', alarms: 1 }])
  expect((await ada('POST', '/unacknowledge', { ids: [id] })).body).toEqual({ alerts: [] })
  await ben('POST', '/comment', { ids: [id], text: ' Moving it to node-2 ' })
  await ben('POST', `/../v1/devboxes/${id.split('@')[0]}/suspend`, {})
  await ben('POST', '/comment', { ids: [id], text: 'Done' })

  expect(await logOf(id)).toEqual([
    'raised',
    'acknowledged Ada (unverified)',
    'handed_over Ada (unverified) Ben (unverified)',
    'handed_over Ada (unverified) Ada (unverified)',
    'unacknowledged Ben (unverified)',
    'commented Ben (unverified) Moving it to node-2',
    'closed Ben (unverified) stopped',
    'commented Ben (unverified) Done',
  ])
  expect(await activity()).toEqual([
    ['alerts.comment', id, 'Ben (unverified)'],
    ['alerts.comment', id, 'Ben (unverified)'],
    ['alerts.unacknowledge', id, 'Ben (unverified)'],
    ['alerts.hand_over', id, 'Ada (unverified)'],
    ['alerts.hand_over', id, 'Ada (unverified)'],
    ['alerts.acknowledge', id, 'Ada (unverified)'],
  ])
  expect((await ada('GET', '/people')).body).toEqual({ people: ['Ada (unverified)', 'Ben (unverified)'] })
  expect((await ada('GET', '/alert/unknown')).status).toBe(404)
})

it('records one activity for several alerts', async () => {
  const ids = [await alertOfDevbox(), await alertOfDevbox()]
  expect((await ada('POST', '/acknowledge', { ids })).body.acknowledged).toHaveLength(2)
  expect(await activity()).toEqual([['alerts.acknowledge', '2 alerts', 'Ada (unverified)']])
})

it('cleans the name in a handoff, and stores a comment unchanged', async () => {
  const id = await alertOfDevbox()
  const handOver = async (to: string) => (await ada('POST', '/hand-over', { ids: [id], to })).body
  expect(await handOver('\u202e\n ')).toMatchObject({ code: 'invalid_argument', field: 'to' })
  expect(await handOver('x'.repeat(10_000))).toMatchObject({ code: 'invalid_argument', field: 'to' })
  const given = async (to: string) => ((await handOver(to)) as ChangedAlerts).alerts[0]?.acknowledged_by
  expect(await given('\u2066Eve\u2069\r\nSmith <b> 👩 (unverified)')).toBe('Eve Smith <b> 👩 (unverified)')
  expect(await given('x'.repeat(256))).toBe(`${'x'.repeat(60)} (unverified)`)
  const comment = (text: string) => ada('POST', '/comment', { ids: [id], text })
  expect((await comment(' \n')).body).toMatchObject({ code: 'invalid_argument', field: 'text' })
  expect((await comment('x'.repeat(10_000))).body).toMatchObject({ code: 'invalid_argument', field: 'text' })
  const text = '<img src=x onerror=alert(1)> \u202etxt 👩‍💻'
  await comment(text)
  expect((await alert(id)).log?.at(-1)).toMatchObject({ what: 'commented', text })
})

it('logs who silenced an alert, and how it ended', async () => {
  const id = await alertOfDevbox({ team: 'qa' })
  const silence = async (ms: number, comment: string) =>
    (await ada('POST', '/silences', { metadata: { team: 'qa' }, until_ms: Date.now() + ms, comment })).body.id
  const ended = await silence(3_600_000, 'load test')
  await ben('DELETE', `/silences/${ended}`)
  const expired = await silence(500, '')
  await vi.waitFor(async () => expect(await logOf(id)).toHaveLength(5), soon)
  expect(await logOf(id)).toEqual([
    'raised',
    'silenced Ada (unverified) load test',
    'silence_ended Ben (unverified)',
    'silenced Ada (unverified)',
    'silence_ended',
  ])
  expect(await activity()).toEqual([
    ['alerts.end_silence', expired, 'Devdeck'],
    ['alerts.silence', expired, 'Ada (unverified)'],
    ['alerts.end_silence', ended, 'Ben (unverified)'],
    ['alerts.silence', ended, 'Ada (unverified)'],
  ])
})
