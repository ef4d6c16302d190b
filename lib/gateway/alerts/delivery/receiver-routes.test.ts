import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { Receiver } from '#lib/protocol/alerts.ts'
import type { Config } from '../../config.ts'
import { startConsole, startServer, type TestConsole } from '../../testing.ts'
import { alertBookFor, startReceivers } from '../alert-books.ts'

const soon = { timeout: 30_000 }
const ownKey = 'ak_the_operator'
const secrets = /hidden-path|the-signing-secret|ak_the_operator/

let service: Awaited<ReturnType<typeof startServer>>
let hook: Awaited<ReturnType<typeof startServer>>
let received: { event: string; path: string }[]
let status: number
let dataDir: string
let gateway: TestConsole
let cookie: string

beforeEach(async () => {
  received = []
  status = 204
  dataDir = mkdtempSync(join(tmpdir(), 'devdeck-receivers-'))
  service = await startServer((request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://service')
    const id = request.headers.authorization === `Bearer ${ownKey}` ? 'own' : 'other'
    if (pathname.endsWith('/watch')) {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      return void response.write(': connected\n\n')
    }
    response.setHeader('content-type', 'application/json')
    if (pathname === '/v1/accounts/me') return void response.end(JSON.stringify({ id, name: id }))
    response.end(JSON.stringify({ devboxes: [], has_more: false, total_count: 0 }))
  })
  hook = await startServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    received.push({ event: JSON.parse(body).event, path: request.url ?? '' })
    response.writeHead(status).end('the-signing-secret')
  })
  await start()
})
afterEach(async () => {
  await gateway.close()
  service.close()
  hook.close()
  rmSync(dataDir, { recursive: true })
})

const start = async (receivers: Partial<Config['receivers']> = {}) => {
  gateway = await startConsole(
    { url: service.url, ownKey },
    { dataDir, receivers: { inFile: [], areForAccounts: false, arePrivateAllowed: true, ...receivers } },
  )
  cookie = await gateway.signIn(ownKey)
}
const ask = (method: string, path: string, body?: unknown) =>
  gateway.ask(cookie, method, `/api/alerts/receivers${path}`, body)
const list = async () => (await ask('GET', '')).body.receivers as Receiver[]
const chat = () => ({
  name: 'Chat',
  format: 'json',
  url: `${hook.url}/hidden-path`,
  secret: 'the-signing-secret',
  filter: { kinds: null, min_severity: 'critical', metadata: { team: 'core' } },
})

it('stores a receiver sealed, sends to it after a restart, and shows no secret', async () => {
  const logged = vi.spyOn(console, 'error')
  const { status: created, body } = await ask('POST', '', chat())
  expect(created).toBe(200)
  expect(body).toMatchObject({
    name: 'Chat',
    host: new URL(hook.url).host,
    source: 'page',
    has_secret: true,
    waiting: 0,
  })
  status = 500
  expect((await ask('POST', `/${body.id}/test`)).body).toMatchObject({ state: 'failed', answer: 'HTTP 500' })
  status = 204
  await gateway.close()
  await start()
  await startReceivers(new AbortController().signal)
  expect(alertBookFor({ account: { id: 'own', name: 'own' }, api_key: ownKey }).staysListening).toBe(true)
  expect((await ask('POST', `/${body.id}/test`)).body).toMatchObject({ state: 'delivered', answer: 'HTTP 204' })
  expect(received.at(-1)).toEqual({ event: 'alert.test', path: '/hidden-path' })
  expect(JSON.stringify([body, await list()])).not.toMatch(secrets)
  expect(logged.mock.calls.flat().join()).not.toMatch(secrets)
  const files = readdirSync(dataDir).map((name) => readFileSync(join(dataDir, name), 'latin1'))
  expect(files.join()).toContain(new URL(hook.url).host)
  expect(files.join()).not.toMatch(secrets)
})

it('changes, pauses and deletes a receiver, and records each as activity', async () => {
  const { id } = (await ask('POST', '', chat())).body as Receiver
  const filter = { kinds: ['eviction'], min_severity: 'info', metadata: {} }
  expect((await ask('POST', `/${id}`, { name: 'Team', filter })).body).toMatchObject({ name: 'Team', filter })
  expect((await ask('POST', `/${id}`, { is_paused: true })).body).toMatchObject({ is_paused: true, has_secret: true })
  // Neither needed the URL or the secret.
  await ask('POST', `/${id}/test`)
  expect(received).toEqual([{ event: 'alert.test', path: '/hidden-path' }])
  expect((await ask('POST', `/${id}`, { secret: '' })).body).toMatchObject({ has_secret: false })
  expect((await ask('DELETE', `/${id}`)).status).toBe(200)
  expect(await list()).toEqual([])
  const { body } = await gateway.ask(cookie, 'GET', '/api/activity?search=receiver')
  const operations = body.activities.map(({ operation }: { operation: string }) => operation.replace('alerts.', ''))
  expect(operations.toReversed()).toEqual([
    'add_receiver',
    ...['change_receiver', 'change_receiver', 'test_receiver', 'change_receiver'],
    'delete_receiver',
  ])
})

it('counts a failing receiver until it is paused', async () => {
  const { id } = (await ask('POST', '', chat())).body as Receiver
  const failing = () => alertBookFor({ account: { id: 'own', name: 'own' }, api_key: ownKey }).receivers.failing()
  status = 500
  await ask('POST', `/${id}/test`)
  expect(failing()).toMatchObject([{ id, answer: 'HTTP 500' }])
  await ask('POST', `/${id}`, { is_paused: true })
  expect(failing()).toEqual([])
})

it.each([
  ['name', { name: ' \u200B\u202E' }],
  ['url', { url: 'ftp://host/' }],
  ['url', { url: undefined }],
  ['url', { url: 'https://user:password@host/' }],
  ['secret', { format: 'pagerduty', secret: undefined }],
  ['every_seconds', { format: 'heartbeat', every_seconds: 5 }],
  ['filter.min_severity', { filter: { min_severity: 'high' } }],
  ['filter.kinds', { filter: { kinds: [] } }],
])('rejects a wrong %s', async (field, change) => {
  expect(await ask('POST', '', { ...chat(), ...change })).toMatchObject({
    status: 400,
    body: { code: 'invalid_argument', field },
  })
})

it('does not send a routing key to another host', async () => {
  const pager = { name: 'Pager', format: 'pagerduty', url: `${hook.url}/enqueue`, secret: 'R0UT1NG' }
  const { id } = (await ask('POST', '', pager)).body as Receiver
  const change = { url: 'https://evil.example/' }
  expect(await ask('POST', `/${id}`, change)).toMatchObject({ status: 400, body: { field: 'secret' } })
  expect((await ask('POST', `/${id}`, { ...change, secret: 'R0UT1NG2' })).body).toMatchObject({ host: 'evil.example' })
})

it('requires an operator, and a public address unless private ones are allowed', async () => {
  await gateway.close()
  const file = { name: 'In a file', format: 'json', url: hook.url, filter: chat().filter } as const
  await start({
    arePrivateAllowed: false,
    inFile: [{ ...file, filter: { ...file.filter, min_severity: 'info' }, api_key: undefined, isPrivateAllowed: true }],
  })
  expect(await ask('POST', '', chat())).toMatchObject({ status: 400, body: { field: 'url' } })
  // The name is only resolved when something is sent.
  const { id } = (await ask('POST', '', { ...chat(), url: hook.url.replace('127.0.0.1', 'localhost') }))
    .body as Receiver
  expect((await ask('POST', `/${id}/test`)).body).toMatchObject({ state: 'failed', answer: 'private address' })
  const inFile = (await list()).find(({ source }) => source === 'file')
  expect((await ask('POST', `/${inFile?.id}/test`)).body).toMatchObject({ state: 'delivered' })
  expect(await ask('DELETE', `/${inFile?.id}`)).toMatchObject({ status: 409 })

  cookie = await gateway.signIn('ak_of_another_account')
  expect((await ask('GET', '')).body).toMatchObject({ receivers: [], add_refusal: expect.stringContaining('Only') })
  expect((await ask('POST', '', chat())).status).toBe(403)
  for (const [method, path] of [
    ['DELETE', `/${id}`],
    ['POST', `/${id}/test`],
    ['POST', `/${id}/retry`],
  ] as const)
    expect((await ask(method, path)).status).toBe(method === 'DELETE' ? 403 : 404)
  await gateway.close()
  await start({ areForAccounts: true })
  cookie = await gateway.signIn('ak_of_another_account')
  expect((await ask('POST', '', chat())).status).toBe(200)
  await vi.waitFor(async () => expect((await ask('GET', '')).body.watches_alone).toBe(true), soon)
})
