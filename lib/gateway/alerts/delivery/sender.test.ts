import { mkdtempSync, rmSync } from 'node:fs'
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Alert, AlertEventName } from '#lib/protocol/alerts.ts'
import { alertOf } from '#lib/protocol/testing.ts'
import { startServer } from '../../testing.ts'
import { AlertStore } from '../alert-store.ts'
import { deliveryTimes } from './channel.ts'
import { signatureOf } from './formats.ts'
import type { Message } from './outbox.ts'
import type { ReceiverSettings } from './receiver-fields.ts'
import { nextBatch, Sender } from './sender.ts'

/** A second of the real times is a tenth of a millisecond. */
const times = {
  ...deliveryTimes,
  batchMs: 1,
  maxBatchMs: 5,
  timeoutMs: 200,
  retry: { firstMs: 0.1, maxMs: 30 },
  rejection: { firstMs: 0.8, maxMs: 6 },
}
const soon = { timeout: 30_000, interval: 10 }

interface Received {
  headers: IncomingHttpHeaders
  body: string
  // biome-ignore lint/suspicious/noExplicitAny: depends on the format
  content: any
}

let dataDir: string
let store: AlertStore
let server: Awaited<ReturnType<typeof startServer>>
let received: Received[]
/** Responds to the request with this number, by default with 204. */
let respond: (response: ServerResponse, number: number) => void
let open: Alert[]
const senders: Sender[] = []

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'devdeck-delivery-'))
  store = new AlertStore(dataDir)
  received = []
  open = []
  respond = accept
  server = await startServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    received.push({ headers: request.headers, body, content: JSON.parse(body) })
    respond(response, received.length)
  })
})
afterEach(() => {
  for (const sender of senders.splice(0)) sender.close()
  server.close()
  store.close()
  rmSync(dataDir, { recursive: true })
})

const accept = (response: ServerResponse) => void response.writeHead(204).end()
const status =
  (code: number, headers = {}) =>
  (response: ServerResponse) =>
    void response.writeHead(code, headers).end()

const settingsOf = (change: Partial<ReceiverSettings>, url = `${server.url}/hook`): ReceiverSettings => ({
  id: 'rcv',
  name: 'Chat',
  format: 'json',
  host: new URL(url).host,
  source: 'page',
  filter: { kinds: null, min_severity: 'info', metadata: {} },
  has_secret: true,
  is_paused: false,
  isPrivateAllowed: true,
  target: async () => ({ url, secret: 'a shared secret' }),
  ...change,
})
const start = (
  change: Partial<ReceiverSettings> = {},
  options: { times?: Partial<typeof times>; url?: string } = {},
) => {
  const sender = new Sender(settingsOf(change, options.url), {
    stored: 'account',
    account: { id: 'acc', name: 'Ada' },
    outbox: store.outbox,
    times: { ...times, ...options.times },
    urlOf: (id) => `http://console/${id}`,
    open: () => open,
    onChange: () => undefined,
  })
  senders.push(sender)
  return sender
}

/** Stores an alert and its message as the book does. */
const send = (sender: Sender, event: AlertEventName, alert: Alert, at_ms = Date.now()) => {
  const messages: Message[] = [{ receiver: 'rcv', event, at_ms, alert }]
  store.put('account', alert, messages)
  sender.push(messages)
}
const alertNumber = (n: number, change: Partial<Alert> = {}) =>
  alertOf({ id: `dbx_${n}@1`, devbox_id: `dbx_${n}`, devbox_name: `box-${n}`, receivers: ['rcv'], ...change })

const untilDelivered = (sender: Sender) =>
  vi.waitFor(() => expect(sender.state()).toMatchObject({ waiting: 0, failure: null }), soon)
const idOf = ({ headers }: Received) => String(headers['devdeck-delivery'])
const events = () => received.map(({ content }) => `${content.event} ${content.alert.devbox_id}`)
/** The same, once per delivery. */
const accepted = () => [...new Map(received.map((each) => [idOf(each), each])).values()].map(({ content }) => content)

it('delivers every state in order after an outage of an hour, under one id per message', async () => {
  // With real times, the 20th try is after 75 minutes.
  respond = (response, number) => status(number < 20 ? 503 : 204)(response)
  const sender = start()
  const alert = alertNumber(1)
  send(sender, 'alert.raised', alert)
  await vi.waitFor(() => expect(sender.state().failure).toMatchObject({ answer: 'HTTP 503' }), soon)
  expect(sender.state().next_try_ms).not.toBeNull()
  send(sender, 'alert.acknowledged', { ...alert, state: 'acknowledged' })
  send(sender, 'alert.closed', { ...alert, state: 'ended' })
  await untilDelivered(sender)
  expect(received).toHaveLength(22)
  expect(new Set(received.slice(0, 20).map(idOf)).size).toBe(1)
  expect(accepted().map(({ event }) => event)).toEqual(['alert.raised', 'alert.acknowledged', 'alert.closed'])
  expect(sender.state().deliveries.map(({ attempts, state }) => `${state} ${attempts}`)).toEqual([
    'delivered 1',
    'delivered 1',
    'delivered 20',
  ])
})

it('signs the message', async () => {
  const sender = start()
  send(sender, 'alert.raised', alertNumber(1))
  await untilDelivered(sender)
  const [{ headers, body, content } = { headers: {}, body: '', content: {} }] = received
  const signature = String(headers['devdeck-signature'])
  expect(signature).toBe(signatureOf(body, 'a shared secret', Number(/t=(\d+)/.exec(signature)?.[1])))
  expect(headers['devdeck-event']).toBe('alert.raised')
  expect(content).toMatchObject({ n_alerts: 1, account: { id: 'acc', name: 'Ada' } })
})

describe('a restart', () => {
  const restart = () => {
    for (const sender of senders.splice(0)) sender.close()
    store.close()
    store = new AlertStore(dataDir)
    return start()
  }

  it('continues a delivery under its id, sends what waits behind it, and repeats nothing', async () => {
    respond = status(503)
    const sender = start({}, { times: { retry: { firstMs: 60_000, maxMs: 60_000 } } })
    const alert = alertNumber(1)
    send(sender, 'alert.raised', alert)
    await vi.waitFor(() => expect(sender.state().deliveries[0]?.attempts).toBe(1), soon)
    send(sender, 'alert.closed', { ...alert, state: 'ended' })
    respond = accept
    await untilDelivered(restart())
    expect(events()).toEqual(['alert.raised dbx_1', 'alert.raised dbx_1', 'alert.closed dbx_1'])
    expect(received.map(idOf)[0]).toBe(received.map(idOf)[1])

    const again = restart()
    send(again, 'alert.test', alertNumber(2, { kind: 'test' }))
    await untilDelivered(again)
    expect(events().slice(3)).toEqual(['alert.test dbx_2'])
    expect(again.state().deliveries.map(({ event, state }) => `${event} ${state}`)).toEqual([
      'alert.test delivered',
      'alert.closed delivered',
      'alert.raised delivered',
    ])
  })

  it('still reports that the receiver fails', async () => {
    respond = status(500)
    const sender = start({}, { times: { retry: { firstMs: 1, maxMs: 1 } } })
    send(sender, 'alert.raised', alertNumber(1))
    await vi.waitFor(() => expect(sender.state().deliveries[0]?.attempts).toBeGreaterThan(1), soon)
    expect(restart().state()).toMatchObject({ failure: { answer: 'HTTP 500' }, waiting: 1 })
  })
})

it('repeats nothing after a graceful stop', async () => {
  const answering = Promise.withResolvers<void>()
  respond = async (response) => {
    await answering.promise
    accept(response)
  }
  const sender = start({}, { times: { timeoutMs: 10_000 } })
  const alert = alertNumber(1)
  send(sender, 'alert.raised', alert)
  await vi.waitFor(() => expect(received).toHaveLength(1), soon)
  send(sender, 'alert.closed', { ...alert, state: 'ended' })
  const stopped = sender.stop()
  answering.resolve()
  await stopped
  sender.close()
  await untilDelivered(start())
  expect(events()).toEqual(['alert.raised dbx_1', 'alert.closed dbx_1'])
})

describe('a receiver that', () => {
  it('hangs is retried', async () => {
    respond = (response, number) => (number === 1 ? undefined : accept(response))
    const sender = start()
    send(sender, 'alert.raised', alertNumber(1))
    await untilDelivered(sender)
    expect(new Set(received.map(idOf)).size).toBe(1)
    expect(sender.state().deliveries).toMatchObject([{ attempts: 2, state: 'delivered' }])
  })

  it('redirects is not followed', async () => {
    let leaked = 0
    const other = await startServer((_, response) => void response.end(String(++leaked)))
    respond = status(307, { location: other.url })
    const sender = start()
    send(sender, 'alert.raised', alertNumber(1))
    await vi.waitFor(
      () => expect(sender.state().deliveries).toMatchObject([{ state: 'failed', answer: 'HTTP 307', attempts: 4 }]),
      soon,
    )
    expect(leaked).toBe(0)
    other.close()
  })

  it('rejects a message gets it four times and then the next one', async () => {
    respond = (response) => status(received.at(-1)?.content.alert.devbox_id === 'dbx_1' ? 400 : 204)(response)
    const sender = start()
    send(sender, 'alert.raised', alertNumber(1))
    await vi.waitFor(() => expect(sender.state().failure).toMatchObject({ answer: 'HTTP 400' }), soon)
    send(sender, 'alert.raised', alertNumber(2))
    await untilDelivered(sender)
    expect(events()).toEqual([...Array.from({ length: 4 }, () => 'alert.raised dbx_1'), 'alert.raised dbx_2'])
    expect(sender.state().deliveries.map(({ state }) => state)).toEqual(['delivered', 'failed'])
  })

  it('limits its rate is retried when it says', async () => {
    respond = (response, number) => (number === 1 ? status(429, { 'retry-after': '1800' })(response) : accept(response))
    const sender = start()
    send(sender, 'alert.raised', alertNumber(1))
    await vi.waitFor(() => expect(sender.state().deliveries[0]?.attempts).toBe(1), soon)
    expect((sender.state().next_try_ms ?? 0) - Date.now()).toBeGreaterThan(1_700_000)
    sender.retryNow()
    await untilDelivered(sender)
  })

  it('is changed during a try is tried again at once, with all its tries', async () => {
    const first = Promise.withResolvers<ServerResponse>()
    respond = (response, number) => (number === 1 ? first.resolve(response) : status(number < 5 ? 400 : 204)(response))
    const sender = start({}, { times: { timeoutMs: 60_000, rejection: { firstMs: 1, maxMs: 1 } } })
    send(sender, 'alert.raised', alertNumber(1))
    const response = await first.promise
    sender.update(settingsOf({ name: 'Other chat' }))
    status(400)(response)
    await untilDelivered(sender)
    expect(sender.state()).toMatchObject({ failure: null, deliveries: [{ attempts: 5, state: 'delivered' }] })
  })

  it('accepts only small messages gets several', async () => {
    respond = (response) => status((received.at(-1)?.content.n_alerts ?? 0) > 30 ? 413 : 204)(response)
    const sender = start({}, { times: { batchMs: 200, maxBatchMs: 2_000 } })
    const nowMs = Date.now()
    for (let n = 0; n < 100; n++) send(sender, 'alert.raised', alertNumber(n, { deadline_ms: n }), nowMs)
    await untilDelivered(sender)
    expect(received.map(({ content }) => content.n_alerts)).toEqual([100, 50, 25, 25, 25, 25])
    expect(received.slice(2).flatMap(({ content }) => content.alerts.map(({ devbox_id }: Alert) => devbox_id))).toEqual(
      Array.from({ length: 100 }, (_, n) => `dbx_${n}`),
    )
  })

  it('is unreachable is retried while an alert of the message is open, and not longer', async () => {
    const sender = start({}, { url: 'http://127.0.0.1:9', times: { giveUpMs: 0, retry: { firstMs: 1, maxMs: 1 } } })
    const alert = alertNumber(1)
    open = [alert]
    send(sender, 'alert.raised', alert)
    await vi.waitFor(() => expect(sender.state().deliveries[0]?.attempts).toBeGreaterThan(5), soon)
    expect(sender.state().failure?.answer).toBe('unreachable (ECONNREFUSED)')
    open = []
    await vi.waitFor(() => expect(sender.state().deliveries).toMatchObject([{ state: 'failed' }]), soon)
    expect(sender.state().waiting).toBe(0)
  })

  it('is paused gets waiting messages once resumed', async () => {
    const sender = start({ is_paused: true })
    send(sender, 'alert.closed', alertNumber(1))
    await sender.test(alertNumber(2, { kind: 'test' }))
    expect(events()).toEqual(['alert.test dbx_2'])
    expect(sender.state()).toMatchObject({ waiting: 1, next_try_ms: null })
    sender.close()
    await untilDelivered(start())
    expect(events()).toEqual(['alert.test dbx_2', 'alert.closed dbx_1'])
  })

  it('has a private address gets nothing unless allowed', async () => {
    const { port } = new URL(server.url)
    for (const host of ['127.0.0.1', 'localhost', '[::ffff:127.0.0.1]', '0x7f.1']) {
      const sender = start({ isPrivateAllowed: false }, { url: `http://${host}:${port}/hook` })
      expect(await sender.test(alertNumber(1, { kind: 'test' }))).toMatchObject({
        state: 'failed',
        answer: 'private address',
      })
    }
    expect(received).toEqual([])
    expect(await start({}, { url: `http://localhost:${port}/hook` }).test(alertNumber(1))).toMatchObject({
      state: 'delivered',
    })
  })
})

it('keeps sending while the disk is full, and stores waiting messages once it has space', async () => {
  vi.spyOn(console, 'error').mockReturnValue(undefined)
  const disk = new DatabaseSync(join(dataDir, 'alerts.sqlite'))
  disk.exec(`CREATE TRIGGER full BEFORE INSERT ON outbox BEGIN
    SELECT RAISE(FAIL, 'database or disk is full'); END`)
  const sender = start()
  send(sender, 'alert.raised', alertNumber(1))
  await untilDelivered(sender)
  expect(store.problem).toBe('database or disk is full')
  expect(events()).toEqual(['alert.raised dbx_1'])
  disk.exec('DROP TRIGGER full')
  disk.close()
  respond = status(503)
  send(sender, 'alert.closed', alertNumber(1, { state: 'ended' }))
  await vi.waitFor(() => expect(sender.state().deliveries[0]?.attempts).toBeGreaterThan(0), soon)
  expect(store.problem).toBeNull()
  expect(store.outbox.waiting('account', 'rcv').messages).toMatchObject([{ event: 'alert.closed' }])
  vi.restoreAllMocks()
})

describe('a batch', () => {
  const message = (event: string, alert: Alert, at_ms = 0): Message => ({
    receiver: 'rcv',
    event: `alert.${event}` as AlertEventName,
    at_ms,
    alert,
  })
  const batch = (...queue: Message[]) =>
    nextBatch(queue, { batchMs: 10, maxBatchMs: 25, max: 4, nowMs: 30, groupOf: ({ node = '' }) => node }).map(
      (each) => `${each.event.slice('alert.'.length)} ${each.alert.devbox_id}`,
    )
  const [one, two, three, four, five] = [1, 2, 3, 4, 5].map((n) => alertNumber(n)) as [
    Alert,
    Alert,
    Alert,
    Alert,
    Alert,
  ]

  it("skips other events without changing the order of an alert's own", () => {
    const queue = [message('raised', one), message('closed', two), message('raised', two), message('raised', three)]
    expect(batch(...queue)).toEqual(['raised dbx_1', 'raised dbx_3'])
    expect(batch(...queue.slice(1, 3))).toEqual(['closed dbx_2'])
  })

  it('ends after a pause, at its longest time and at its largest size', () => {
    expect(batch(message('raised', one), message('raised', two, 10), message('raised', three, 21))).toHaveLength(2)
    const steady = [one, two, three, four].map((alert, n) => message('raised', alert, n * 9))
    expect(batch(...steady)).toHaveLength(3)
    expect(batch(...[one, two, three, four, five].map((alert) => message('raised', alert)))).toHaveLength(4)
  })

  it('takes every late message, but an alert only once', () => {
    const late = [one, two, one, three].map((alert, n) => message('raised', alert, -60_000 * (5 - n)))
    expect(batch(...late, message('raised', four, 29))).toEqual(['raised dbx_1', 'raised dbx_2', 'raised dbx_3'])
  })

  it('has one group', () => {
    expect(
      batch(message('raised', one), message('raised', { ...two, node: 'node-2' }), message('raised', three)),
    ).toEqual(['raised dbx_1', 'raised dbx_3'])
  })
})

it('sends one message about 5,000 alerts, soonest first, with a short text', async () => {
  const sender = start({}, { times: { batchMs: 50, maxBatchMs: 5_000 } })
  const nowMs = Date.now()
  store.batch(() => {
    for (let n = 0; n < 5_000; n++)
      send(sender, 'alert.raised', alertNumber(n, { deadline_ms: 1e12 - n * 1000 }), nowMs)
  })
  await untilDelivered(sender)
  // On a slow machine an answer may come too late, and the same message is sent again.
  expect(accepted().map(({ n_alerts }) => n_alerts)).toEqual([5_000])
  expect(received[0]?.content.alert.devbox_id).toBe('dbx_4999')
  expect(received[0]?.content.text.split('\n')).toHaveLength(12)
})

describe('Slack', () => {
  it('gets text without control characters', async () => {
    const sender = start({ format: 'slack' })
    send(sender, 'alert.raised', alertNumber(1, { devbox_name: '<!channel> & co' }))
    await untilDelivered(sender)
    expect(received[0]?.content.text).toMatch(/^Devbox ‹!channel› &amp; co \(dbx_1\) will be evicted/)
    expect(Object.keys(received[0]?.content)).toEqual(['text'])
  })

  it('marks a late message', async () => {
    const sender = start({ format: 'slack' })
    send(sender, 'alert.raised', alertNumber(1), Date.now() - 58 * 60_000 - 1)
    await untilDelivered(sender)
    expect(received[0]?.content.text).toMatch(/^Delayed by 58 min: Devbox box-1/)
  })
})

describe('PagerDuty', () => {
  const ofNode = (n: number, change: Partial<Alert> = {}) =>
    alertNumber(n, { node: 'node-2', deadline_ms: 1_700_000_000_000 + n, ...change })
  const actions = () => received.map(({ content }) => content.event_action)
  const change = (sender: Sender, event: AlertEventName, ...alerts: Alert[]) => {
    const ids = new Set(alerts.map(({ id }) => id))
    open = open.filter(({ id }) => !ids.has(id))
    open.push(...alerts.filter(({ state }) => state === 'new' || state === 'acknowledged'))
    for (const alert of alerts) send(sender, event, alert)
    return untilDelivered(sender)
  }

  it('gets one incident per group, acknowledged and resolved with the last of its alerts', async () => {
    const sender = start({ format: 'pagerduty' }, { times: { batchMs: 50 } })
    const other = alertNumber(9, { kind: 'end', deadline_ms: 1_700_000_000_000 })
    // This one was filtered out, so the incident doesn't wait for it.
    open = [ofNode(8, { receivers: [] })]
    await change(sender, 'alert.raised', ofNode(1), other, ofNode(2))
    expect(actions()).toEqual(['trigger', 'trigger'])
    const [{ content } = { content: {} }] = received
    expect(content).toMatchObject({
      routing_key: 'a shared secret',
      client_url: 'http://console/dbx_1@1',
      payload: { source: 'node-2', severity: 'warning', class: 'eviction', custom_details: { n_alerts: 2 } },
    })
    expect(content.payload.summary).toMatch(/^2 devboxes on node-2 will be evicted/)

    await change(sender, 'alert.acknowledged', ofNode(1, { state: 'acknowledged' }))
    await change(sender, 'alert.closed', ofNode(1, { state: 'stopped' }))
    expect(actions()).toHaveLength(2)
    await change(sender, 'alert.acknowledged', ofNode(2, { state: 'acknowledged' }))
    await change(sender, 'alert.closed', ofNode(2, { state: 'ended' }))
    expect(actions()).toEqual(['trigger', 'trigger', 'acknowledge', 'resolve'])
    await change(sender, 'alert.closed', { ...other, state: 'ended' })
    const keys = received.map(({ content: { dedup_key } }) => dedup_key)
    expect(keys).toEqual([0, 1, 0, 0, 1].map((n) => keys[n]))
    expect(keys[0]).not.toBe(keys[1])
  })

  it('gets 5,000 evictions of a node as one incident', async () => {
    const sender = start({ format: 'pagerduty' }, { times: { batchMs: 50 } })
    const nowMs = Date.now()
    store.batch(() => {
      for (let n = 0; n < 5_000; n++) send(sender, 'alert.raised', ofNode(n, { deadline_ms: 1_700_000_000_000 }), nowMs)
    })
    await untilDelivered(sender)
    expect(actions()).toEqual(['trigger'])
    expect(received[0]?.content.payload).toMatchObject({
      summary: expect.stringMatching(/^5000 devboxes on node-2 will be evicted/),
      custom_details: { n_alerts: 5_000 },
    })
  })
})
