import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { Alert } from '#lib/protocol/alerts.ts'
import { alertOf } from '#lib/protocol/testing.ts'
import { startServer } from '../testing.ts'
import { signatureOf, Webhook } from './webhook.ts'

const soon = { timeout: 60_000 }
let receiver: Awaited<ReturnType<typeof startServer>>
let statuses: number[]
let received: { headers: Record<string, unknown>; event: string; alerts: Alert[]; text: string; body: string }[]
let onMessage: () => void
let webhook: Webhook
beforeEach(async () => {
  statuses = []
  received = []
  onMessage = () => undefined
  receiver = await startServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    received.push({ headers: request.headers, body, ...JSON.parse(body) })
    onMessage()
    response.writeHead(statuses.shift() ?? 204).end()
  })
  const config = { url: `${receiver.url}/hook`, secret: 'a shared secret' }
  webhook = new Webhook(config, { id: 'acc', name: 'Ada' }, Date.now)
})
afterEach(() => {
  webhook.close()
  receiver.close()
})

it('is notified with a signature, after two failed attempts', async () => {
  statuses = [500, 503]
  const failures: unknown[] = []
  onMessage = () => failures.push(webhook.failure)
  webhook.send('alert.test', alertOf(), 'http://console')
  await vi.waitFor(
    () => expect(webhook.deliveries).toMatchObject([{ attempts: 3, delivered: true, answer: 'HTTP 204' }]),
    soon,
  )
  const [first, , last] = received
  const signature = String(last?.headers['devdeck-signature'])
  expect(signature).toBe(signatureOf(last?.body ?? '', 'a shared secret', Number(/t=(\d+)/.exec(signature)?.[1])))
  expect(last?.headers['devdeck-delivery']).toBe(first?.headers['devdeck-delivery'])
  // A single failed attempt is not reported.
  expect(failures).toEqual([null, null, expect.objectContaining({ answer: 'HTTP 503' })])
  expect(webhook.failure).toBeNull()
})

it('is notified once of many alerts, soonest first', async () => {
  for (let i = 0; i < 300; i++) {
    const alert = alertOf({ id: `alr_${i}`, devbox_name: `box-${i}` })
    // The later of two updates of an alert is sent.
    webhook.send('alert.raised', { ...alert, deadline_ms: 0 }, 'http://nowhere')
    webhook.send('alert.raised', { ...alert, deadline_ms: 900_000 - i * 1000 }, `http://console/${i}`)
  }
  await vi.waitFor(() => expect(webhook.deliveries).toMatchObject([{ n_alerts: 300, delivered: true }]), soon)
  const [{ alerts, text } = { alerts: [], text: '' }] = received
  expect(alerts.map(({ id }) => id)).toEqual(Array.from({ length: 300 }, (_, i) => `alr_${299 - i}`))
  const lines = text.split('\n')
  expect([lines.length, lines[0], lines.at(-1)]).toEqual([12, '300 alerts:', 'and 290 more'])
  expect(lines[1]).toMatch(/^Devbox box-299 .* http:\/\/console\/299$/)
})

it('is not notified of outdated changes after an outage', async () => {
  statuses = [503, 503]
  const [moved, stays] = [alertOf({ id: 'moved' }), alertOf({ id: 'stays' })]
  onMessage = () => {
    onMessage = () => undefined
    webhook.send('alert.closed', { ...moved, state: 'moved' }, 'http://console')
  }
  for (const alert of [moved, stays]) webhook.send('alert.raised', alert, 'http://console')
  await vi.waitFor(() => expect(webhook.deliveries.map(({ delivered }) => delivered)).toEqual([true, true]), soon)
  const sent = (event: string) =>
    received.filter((each) => each.event === event).map(({ alerts }) => alerts.map(({ id }) => id))
  const [first, ...retries] = sent('alert.raised')
  expect(first).toEqual(['moved', 'stays'])
  expect(retries.length).toBeGreaterThan(0)
  for (const ids of retries) expect(ids).toEqual(['stays'])
  expect(sent('alert.closed').at(-1)).toEqual(['moved'])
})

it('gives up at once if the receiver rejects the message', async () => {
  statuses = [403]
  webhook.send('alert.test', alertOf(), 'http://console')
  await vi.waitFor(
    () => expect(webhook.deliveries).toMatchObject([{ attempts: 1, delivered: false, answer: 'HTTP 403' }]),
    soon,
  )
})
