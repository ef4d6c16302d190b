import { Buffer } from 'node:buffer'
import { createDecipheriv, createECDH, createPublicKey, hkdfSync, randomBytes, verify } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync, statSync } from 'node:fs'
import type { IncomingHttpHeaders } from 'node:http'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { PushMessage, PushSubscriptionView } from '#lib/protocol/push.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'
import { startConsole, startServer, type TestConsole } from '../testing.ts'
import { isPushEndpoint } from './push-services.ts'

interface Received {
  path: string
  headers: IncomingHttpHeaders
  body: Buffer
}

let service: TestService
let gateway: TestConsole
let pushService: Awaited<ReturnType<typeof startServer>>
let status: number
let received: Received[]
const closers: (() => unknown)[] = []
beforeEach(async () => {
  status = 201
  received = []
  pushService = await startServer(async (request, response) => {
    received.push({ path: request.url ?? '', headers: request.headers, body: await buffer(request) })
    response.writeHead(status).end()
    pushService.server.emit('received')
  })
  service = await startService({ isolation: 'none' })
  gateway = await startConsole({ url: service.url, ownKey: service.key }, { pushServices: [pushService.url] })
  closers.push(pushService.close, service.close, gateway.close)
})
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

/** A browser's side of a subscription. */
const newBrowser = (name: string) => {
  const ecdh = createECDH('prime256v1')
  const p256dh = ecdh.generateKeys()
  const auth = randomBytes(16)
  return {
    subscription: {
      endpoint: `${pushService.url}/${name}`,
      keys: { p256dh: p256dh.toString('base64url'), auth: auth.toString('base64url') },
    },
    /** Decrypts a message (RFC 8291): salt, record size, the sender's key and one record. */
    open: ({ body }: Received): PushMessage => {
      const [salt, sender, record] = [body.subarray(0, 16), body.subarray(21, 86), body.subarray(86)]
      const derive = (key: Uint8Array, salt: Uint8Array, info: (string | Uint8Array)[], length: number) =>
        Buffer.from(hkdfSync('sha256', key, salt, Buffer.concat(info.map((part) => Buffer.from(part))), length))
      const shared = derive(ecdh.computeSecret(sender), auth, ['WebPush: info\0', p256dh, sender], 32)
      const key = derive(shared, salt, ['Content-Encoding: aes128gcm\0'], 16)
      const nonce = derive(shared, salt, ['Content-Encoding: nonce\0'], 12)
      const decipher = createDecipheriv('aes-128-gcm', key, nonce).setAuthTag(record.subarray(-16))
      const text = Buffer.concat([decipher.update(record.subarray(0, -16)), decipher.final()]).toString()
      return JSON.parse(text.slice(0, text.lastIndexOf('\u0002')))
    },
  }
}

const nextMessage = async (count: number): Promise<Received> => {
  while (received.length < count) await once(pushService.server, 'received')
  return received[count - 1] as Received
}

const turnOn = async (cookie: string, name = 'browser', shows_names = false) => {
  const browser = newBrowser(name)
  const { status, body } = await gateway.ask(cookie, 'POST', '/api/alerts/push', {
    ...browser.subscription,
    shows_names,
  })
  expect(status).toBe(200)
  return { ...browser, view: body as PushSubscriptionView }
}

const listed = async (cookie: string): Promise<PushSubscriptionView[]> =>
  (await gateway.ask(cookie, 'GET', '/api/alerts/push')).body.subscriptions

/** Checks the token that identifies the console to the push service (RFC 8292). */
const checkToken = ({ headers }: Received, publicKey: string) => {
  const [, token = '', key] = /^vapid t=([^,]+), k=(\S+)$/.exec(headers.authorization ?? '') ?? []
  expect(key).toBe(publicKey)
  const [head = '', claims = '', signature = ''] = token.split('.')
  const point = Buffer.from(publicKey, 'base64url')
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((part) => part.toString('base64url'))
  const jwk = { kty: 'EC', crv: 'P-256', x: x as string, y: y as string }
  const isSigned = verify(
    'sha256',
    Buffer.from(`${head}.${claims}`),
    { key: createPublicKey({ key: jwk, format: 'jwk' }), dsaEncoding: 'ieee-p1363' },
    Buffer.from(signature, 'base64url'),
  )
  expect(isSigned).toBe(true)
  const { aud, exp, sub } = JSON.parse(String(Buffer.from(claims, 'base64url')))
  expect(aud).toBe(pushService.url)
  expect(exp).toBeLessThanOrEqual(Date.now() / 1000 + 24 * 3600)
  expect(sub).toMatch(/^(mailto|https):/)
}

it('pushes an eviction encrypted, signed and without names, and then that it is over', async () => {
  const cookie = await gateway.signIn(service.key)
  const { public_key } = (await gateway.ask(cookie, 'GET', '/api/alerts/push')).body
  const [plain, named] = [await turnOn(cookie, 'plain'), await turnOn(cookie, 'named', true)]
  const id = await service.devbox({ name: 'secret-project' })
  await gateway.ask(cookie, 'POST', '/api/alerts/drills', { devbox_id: id, in_seconds: 330 })
  await nextMessage(2)
  const [first, second] = ['/plain', '/named'].map((path) => received.find((each) => each.path === path) as Received)
  for (const each of [first, second]) checkToken(each as Received, public_key)
  expect(first?.headers).toMatchObject({ 'content-encoding': 'aes128gcm', urgency: 'high' })
  expect(Number(first?.headers.ttl)).toBeLessThanOrEqual(330)
  const message = plain.open(first as Received)
  expect(message).toMatchObject({ title: '1 devbox will be suspended in 5 min', is_over: false, is_urgent: false })
  expect(JSON.stringify(message)).not.toContain('secret-project')
  expect(named.open(second as Received).title).toBe('secret-project will be suspended in 5 min')

  await gateway.ask(cookie, 'DELETE', `/api/alerts/drills/${id}`)
  await nextMessage(4)
  const last = received.findLast(({ path }) => path === '/plain') as Received
  expect(plain.open(last)).toMatchObject({
    tag: message.tag,
    title: 'Closed: 1 devbox will be suspended',
    is_over: true,
  })
  // Receivers of the account and their report don't list browsers.
  expect((await gateway.ask(cookie, 'GET', '/api/alerts/receivers')).body.receivers).toEqual([])
  await expect.poll(async () => (await listed(cookie)).map(({ last }) => last?.is_delivered)).toEqual([true, true])
})

it('keeps its keys private and across restarts', async () => {
  const cookie = await gateway.signIn(service.key)
  const keysOf = async () => (await gateway.ask(cookie, 'GET', '/api/alerts/push')).body.public_key
  const before = await keysOf()
  const file = join(gateway.registry.config.dataDir, 'push-keys')
  expect(statSync(file).mode & 0o777).toBe(0o600)
  gateway.registry.slots.delete('pushKeys')
  expect(await keysOf()).toBe(before)
  expect(JSON.parse(readFileSync(file, 'utf8')).publicKey).toBe(before)
})

it("removes a browser that its push service no longer knows, and keeps one that it can't serve now", async () => {
  const cookie = await gateway.signIn(service.key)
  const { view } = await turnOn(cookie)
  const test = () => gateway.ask(cookie, 'POST', `/api/alerts/push/${view.id}/test`)
  status = 503
  expect((await test()).body).toEqual({ is_delivered: false, answer: 'HTTP 503' })
  expect(await listed(cookie)).toMatchObject([{ last: { is_delivered: false, answer: 'HTTP 503' } }])
  status = 410
  expect((await test()).body).toEqual({ is_delivered: false, answer: 'HTTP 410' })
  expect(await listed(cookie)).toEqual([])
  expect((await test()).status).toBe(404)
})

it('ends with the session of the browser, which alone it is bound to', async () => {
  const [cookie, other] = [await gateway.signIn(service.key), await gateway.signIn(service.key)]
  await turnOn(cookie, 'first')
  const { view } = await turnOn(other, 'second')
  const signOut = await gateway.fetch('/api/session', { method: 'DELETE', cookie })
  expect(signOut.status).toBe(204)
  expect(await listed(other)).toMatchObject([{ id: view.id }])

  // The same browser signs in again.
  const again = await gateway.signIn(service.key)
  expect((await gateway.ask(again, 'POST', `/api/alerts/push/${view.id}/renew`)).status).toBe(200)
  await gateway.fetch('/api/session', { method: 'DELETE', cookie: other })
  expect(await listed(again)).toMatchObject([{ id: view.id }])
  expect((await gateway.ask(again, 'POST', `/api/alerts/push/${view.id}`, { shows_names: true })).body).toMatchObject({
    shows_names: true,
  })
  expect((await gateway.ask(again, 'DELETE', '/api/alerts/push')).status).toBe(200)
  expect(await listed(again)).toEqual([])
})

it('ends once the service refuses the key of the session', async () => {
  const { key_secret } = await service.client.keys.create({
    body: { name: 'short', expires_at_ms: Date.now() + 2_000 },
  })
  const { view } = await turnOn(await gateway.signIn(key_secret))
  const cookie = await gateway.signIn(service.key)
  const authorization = `Bearer ${key_secret}`
  const check = async () => (await fetch(`${service.url}/v1/accounts/me`, { headers: { authorization } })).status
  await expect.poll(check, { timeout: 10_000 }).toBe(401)
  expect((await gateway.ask(cookie, 'POST', `/api/alerts/push/${view.id}/test`)).body.answer).toBe('signed out')
  expect(await listed(cookie)).toEqual([])
  expect(received).toEqual([])
})

it('accepts only addresses of push services', async () => {
  const cookie = await gateway.signIn(service.key)
  const { subscription } = newBrowser('any')
  const refused = [
    'http://fcm.googleapis.com/fcm/send/x',
    'https://fcm.googleapis.com:8443/x',
    'https://user:password@fcm.googleapis.com/x',
    'https://fcm.googleapis.com.example.org/x',
    'https://169.254.169.254/latest',
    'https://127.0.0.1/x',
    'file:///etc/passwd',
    'not an address',
  ]
  for (const endpoint of refused) {
    const body = { ...subscription, endpoint, shows_names: false }
    expect((await gateway.ask(cookie, 'POST', '/api/alerts/push', body)).status, endpoint).toBe(400)
  }
  const weak = { ...subscription, keys: { ...subscription.keys, auth: 'AAAA' }, shows_names: false }
  expect((await gateway.ask(cookie, 'POST', '/api/alerts/push', weak)).status).toBe(400)
  for (const endpoint of [
    'https://fcm.googleapis.com/fcm/send/x',
    'https://updates.push.services.mozilla.com/wpush/v2/x',
    'https://web.push.apple.com/x',
    'https://wns2-par02p.notify.windows.com/w/?token=x',
  ])
    expect(isPushEndpoint(endpoint), endpoint).toBe(true)
})
