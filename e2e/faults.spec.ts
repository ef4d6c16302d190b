import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { createServer, request as forward, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Page } from '@playwright/test'
import { type Client, createClient } from '#lib/client/client.ts'
import { freePort } from '#lib/service/testing/free-port.ts'
import { expect, isLive, type Product, signIn, startProduct, startServiceAlone, test } from './product.ts'
import { makeScenarios, startJob } from './small-jobs.ts'

/** Proxy between browser and console that blocks WebSockets while `holds` is true. */
let proxy: Server
let holds = true
const held: Duplex[] = []
const passing: Duplex[] = []
/** Proxy between console and service that applies `change` to responses. */
let upstream: Server
let change: (path: string, body: string) => string = (_, body) => body
/** Responds instead of the service if it returns true. */
let intercept: (path: string, response: ServerResponse) => boolean = () => false
let alone: Awaited<ReturnType<typeof startServiceAlone>>
let service: Client
let product: Product
let consoleUrl: string

const addressOf = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`
const listening = async (server: Server) => {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return server
}
const passOn = ({ url = '/', method, headers }: IncomingMessage, target: string) =>
  forward(new URL(url, target), { method: method ?? 'GET', headers })

const changing = (asked: IncomingMessage, response: ServerResponse) => {
  if (intercept(asked.url?.split('?')[0] ?? '', response)) return void asked.resume()
  asked.headers.host = new URL(alone.url).host
  const passed = passOn(asked, alone.url).on('response', async (answered) => {
    const path = asked.url?.split('?')[0] ?? ''
    const isRead = asked.method === 'GET' && /json/.test(answered.headers['content-type'] ?? '')
    const { 'content-length': _, ...headers } = answered.headers
    response.writeHead(answered.statusCode ?? 502, isRead ? headers : answered.headers)
    if (!isRead) return answered.pipe(response)
    response.end(change(path, Buffer.concat(await answered.toArray()).toString()))
  })
  response.once('close', () => passed.destroy())
  passed.on('error', () => response.destroy())
  asked.pipe(passed)
}

test.describe.configure({ mode: 'default' })

test.beforeAll(async () => {
  alone = await startServiceAlone()
  service = createClient({ baseUrl: alone.url, headers: { authorization: `Bearer ${alone.apiKey}` } })
  upstream = await listening(createServer(changing))
  proxy = await listening(
    createServer((asked, response) => {
      const passed = passOn(asked, consoleUrl).on('response', (answered) => {
        response.writeHead(answered.statusCode ?? 502, answered.headers)
        answered.pipe(response)
      })
      passed.on('error', () => response.destroy())
      asked.pipe(passed)
    }),
  )
  proxy.on('upgrade', (asked, socket: Duplex) => {
    socket.on('error', () => socket.destroy())
    if (holds) return held.push(socket)
    passing.push(socket)
    const passed = passOn(asked, consoleUrl).on('upgrade', ({ rawHeaders }, other: Duplex) => {
      const lines = rawHeaders.map((text, i) => (i % 2 === 0 ? `${text}: ` : `${text}\r\n`)).join('')
      socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines}\r\n`)
      other.on('error', () => socket.destroy())
      other.pipe(socket).pipe(other)
    })
    passed.on('error', () => socket.destroy()).end()
  })
  const port = String(await freePort())
  consoleUrl = `http://127.0.0.1:${port}`
  product = await startProduct({
    PORT: port,
    DEVDECK_SERVICE_URL: addressOf(upstream),
    DEVDECK_ORIGIN: addressOf(proxy),
  })
})

test.afterAll(async () => {
  await product.stop()
  await alone.stop()
  for (const server of [proxy, upstream]) {
    server.closeAllConnections()
    server.close()
  }
  rmSync(alone.dataDir, { recursive: true, force: true })
})

// First, because a toast names only the most urgent of the pending evictions.
test('a page whose computer slept for an hour reconnects, and announces no eviction again', async ({ page }) => {
  holds = false
  await page.clock.install()
  await page.addInitScript(() => {
    const announced = new Set<Element>()
    Object.assign(globalThis, { announced })
    new MutationObserver(() => {
      for (const alert of document.querySelectorAll('[role=alert]'))
        if (alert.textContent?.includes('asleep')) announced.add(alert)
    }).observe(document, { childList: true, subtree: true, characterData: true })
  })
  const announcements = () => page.evaluate(() => (globalThis as unknown as { announced: Set<Element> }).announced.size)
  await signIn(page, { url: addressOf(proxy), apiKey: alone.apiKey })
  await page.goto(`${addressOf(proxy)}/evictions`)
  await isLive(page)
  const { id } = await service.devboxes.createAndAwaitRunning({ body: { name: 'asleep' } })
  const evict = (eviction_deadline_ms: number) =>
    service.evictions.schedule({ body: { devbox_id: id, eviction_deadline_ms } })
  const row = page.getByRole('table', { name: /earliest deadline first/ }).getByRole('row', { name: /asleep/ })
  await evict(Date.now() + 900_000)
  await expect.poll(announcements).toBe(1)
  await evict(Date.now() + 600_000)
  await expect(row.getByText(/Rescheduled from/)).toBeAttached()
  // An earlier deadline is announced, too.
  await expect.poll(announcements).toBe(2)

  // Asleep: no timer fires and the connection is gone.
  await page.clock.pauseAt(await page.evaluate(() => Date.now() + 1_000))
  holds = true
  for (const socket of passing) socket.destroy()
  await evict(Date.now() + 1_000)
  await expect.poll(async () => (await service.devboxes.get({ params: { id } })).status).toBe('suspended')
  holds = false
  await page.clock.fastForward('01:00:00')
  await page.clock.resume()
  await isLive(page)
  await expect(row).toHaveCount(0)
  await page.getByRole('link', { name: 'History' }).click()
  const ended = page
    .getByRole('table', { name: /newest first/ })
    .getByRole('row', { name: /asleep/ })
    .first()
  await expect(ended).toContainText('Evicted')
  expect(await announcements()).toBe(2)
  holds = true
})

test('a proxy that blocks WebSockets is reported, alerts still arrive, and the page goes live once it lets them pass', async ({
  page,
}) => {
  const evict = async (name: string) => {
    const { id } = await service.devboxes.createAndAwaitRunning({ body: { name } })
    await service.evictions.schedule({ body: { devbox_id: id, eviction_deadline_ms: Date.now() + 900_000 } })
  }
  await signIn(page, { url: addressOf(proxy), apiKey: alone.apiKey })
  await page.goto(`${addressOf(proxy)}/axons`)
  await expect(page.getByText('Live updates are unavailable')).toBeVisible()
  await expect(page.getByRole('banner').getByText('Polled', { exact: true })).toBeVisible()
  await evict('behind-a-proxy')
  const bar = page.getByRole('region', { name: 'Pending evictions' })
  await expect(bar).toContainText('behind-a-proxy')

  holds = false
  for (const socket of held) socket.destroy()
  await isLive(page)
  await expect(page.getByText('Live updates are unavailable')).toBeHidden()
  await evict('told-at-once')
  await expect(bar).toContainText('1 more')
})

test('slow, failing and foreign responses leave the page usable', async ({ page }) => {
  await signIn(page, { url: consoleUrl, apiKey: alone.apiKey })
  const lists = '/v1/devboxes/disk_snapshots'
  const held: ServerResponse[] = []
  intercept = (path, response) => path === lists && held.push(response) > 0
  // The server's request times out first, then the page sends its own.
  const asking = page.waitForRequest((request) => request.url().includes(`/api${lists}`))
  await page.goto(`${consoleUrl}/snapshots`)
  const ofPage = await asking
  await expect.poll(() => held.length).toBe(2)
  const canceled = page.waitForEvent('requestfailed', (request) => request === ofPage)
  await page.getByRole('link', { name: 'Blueprints', exact: true }).click()
  expect((await canceled).failure()?.errorText).toBe('net::ERR_ABORTED')
  await expect(page.getByRole('heading', { name: 'Blueprints', level: 1 })).toBeVisible()
  await expect.poll(() => held.filter(({ closed }) => !closed)).toEqual([])

  for (const [type, status, message] of [
    ['text/html', 200, 'is not the service: it returned a web page'],
    ['application/json', 503, 'The service returned 503 without an error message'],
  ] as const) {
    intercept = (path, response) => {
      if (path !== lists) return false
      response.writeHead(status, { 'content-type': type }).end(type === 'text/html' ? '<h1>Log in</h1>' : '{}')
      return true
    }
    await page.goto(`${consoleUrl}/snapshots`)
    await expect(page.getByRole('main').getByRole('alert')).toContainText(message)
    intercept = () => false
    await page.getByRole('main').getByRole('button', { name: 'Try again' }).click()
    await expect(page.getByText('No snapshots yet')).toBeVisible()
  }
})

test('a cut download is not saved, and a run stays "Canceling" until it has ended', async ({ page }) => {
  await signIn(page, { url: consoleUrl, apiKey: alone.apiKey })
  const [scenario = ''] = await makeScenarios({ service }, ['cut'])
  const benchmark = await service.benchmarks.create({ body: { name: 'cut', scenario_ids: [scenario] } })
  const run = await service.benchmarks.startRun({ body: { benchmark_id: benchmark.id, run_name: 'cut' } })
  await page.goto(`${consoleUrl}/benchmark-runs/${run.id}`)
  await isLive(page)

  intercept = (path, response) => {
    if (!path.endsWith('/download_logs')) return false
    response.writeHead(200, { 'content-type': 'application/zip', 'content-length': 100_000 })
    response.write(Buffer.from('PK'.padEnd(50_000)), () => response.destroy())
    return true
  }
  const downloads: unknown[] = []
  page.on('download', (download) => downloads.push(download))
  await page.getByRole('button', { name: 'Download logs' }).click()
  await expect(page.getByText('The download was interrupted. Nothing was saved.')).toBeVisible()
  expect(downloads).toEqual([])

  // As in the service's own example: the response to the cancellation still says `running`.
  intercept = (path, response) => {
    if (!path.endsWith('/cancel')) return false
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(run))
    return true
  }
  await page.getByRole('button', { name: 'Cancel run' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel run' }).click()
  const state = page.getByRole('main').getByRole('status')
  await expect(state.getByText('Canceling', { exact: true })).toBeVisible()
  await expect(page.getByRole('dialog')).toBeHidden()
  await service.benchmarkRuns.cancel({ params: { id: run.id } })
  await expect(state.getByText('Canceled', { exact: true })).toBeVisible()
  intercept = () => false
})

const seed = 35
const wanted = 200

/** Deterministic value between 0 and 1, so that changes depend on the request, not on its order. */
const chance = (text: string): number =>
  createHash('sha256').update(`${seed} ${text}`).digest().readUInt32BE() / 2 ** 32

const placesIn = (value: unknown): [holder: Record<string, unknown>, key: string][] =>
  typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([key, each]) => [[value as Record<string, unknown>, key], ...placesIn(each)])
    : []

const wrongValues = [null, 'novel', -1, 0.5, 2 ** 60, [], {}, true, undefined, '', 'x'.repeat(5_000), [null], { a: 1 }]

/** Wrong values in some places; sometimes half a response, or a replaced one. */
const mutated = (name: string, body: string): { text: string; changes: number } => {
  const pick = <Item>(what: string, items: readonly Item[]) => items[Math.floor(chance(name + what) * items.length)]
  const kind = chance(`${name} kind`)
  if (kind < 0.1) return { text: body.slice(0, Math.floor(body.length * chance(`${name} cut`))), changes: 1 }
  const answer: unknown = JSON.parse(body)
  const places = placesIn(answer)
  if (kind < 0.2 || places.length === 0)
    return { text: JSON.stringify(pick(' answer', wrongValues)) ?? 'null', changes: 1 }
  const changes = Math.ceil(places.length / 20)
  for (let at = 0; at < changes; at++) {
    const [holder, key] = pick(` place ${at}`, places) ?? [{}, '']
    holder[key] = pick(` value ${at}`, wrongValues)
  }
  return { text: JSON.stringify(answer), changes }
}

test('200 random changes to API responses never leave a blank page', async ({ context }) => {
  const first = await context.newPage()
  await signIn(first, { url: consoleUrl, apiKey: alone.apiKey })
  const { id } = await service.devboxes.createAndAwaitRunning({ body: { name: 'changed', metadata: { team: 'core' } } })
  await service.executions.executeSync({ params: { id }, body: { command: 'echo one' } })
  const axon = await service.axons.create({ body: { name: 'changed', metadata: { env: 'prod' } } })
  await service.axons.publish({
    params: { id: axon.id },
    body: { event_type: 'x', origin: 'USER_EVENT', payload: '{}', source: 's' },
  })
  const blueprint = await service.blueprints.create({ body: { name: 'changed', system_setup_commands: ['true'] } })
  const [scenario = ''] = await makeScenarios({ service }, ['changed'])
  const job = await startJob({ service }, 'changed', [scenario], 'echo 1 > ~/answer')
  const { runs } = await service.benchmarkRuns.list({ query: {} })
  const paths = [
    '/',
    '/devboxes',
    `/devboxes/${id}`,
    `/devboxes/${id}/commands`,
    '/axons',
    `/axons/${axon.id}`,
    '/snapshots',
    '/blueprints',
    `/blueprints/${blueprint.id}`,
    `/blueprints/${blueprint.id}/log`,
    '/benchmark-jobs',
    `/benchmark-jobs/${job.id}`,
    '/benchmark-runs',
    `/benchmark-runs/${runs[0]?.id}`,
    '/benchmarks',
    '/benchmarks/scenarios',
    `/benchmarks/scenarios/${scenario}`,
    '/evictions',
  ]
  const asked = new Map<string, number>()
  const made: string[] = []
  let count = 0
  change = (path, body) => {
    if (path === '/v1/accounts/me') return body
    const time = (asked.get(path) ?? 0) + 1
    asked.set(path, time)
    const { text, changes } = mutated(`${path} ${time}`, body)
    count += changes
    made.push(`${path} ${time}: ${text.slice(0, 300)}`)
    return text
  }
  const faults: string[] = []
  const visit = async (tab: Page, path: string) => {
    const before = made.length
    const said = () => `${path}, seed ${seed}, after:\n${made.slice(before).join('\n')}`
    // Includes hydration mismatches (React error 418).
    const onError = ({ message }: Error) => faults.push(`${message} at ${said()}`)
    tab.on('pageerror', onError)
    const answer = await tab.goto(consoleUrl + path)
    expect(answer?.status(), said()).toBeLessThan(500)
    await expect(tab.getByRole('banner').getByText('Live', { exact: true }), said()).toBeVisible()
    await expect(tab.getByRole('main'), said()).toHaveText(/\w/)
    tab.off('pageerror', onError)
    if (await tab.getByText('This page could not be loaded').count()) faults.push(`not drawn: ${said()}`)
  }
  let turn = 0
  const walk = async (tab: Page) => {
    while (turn < 2 * paths.length || count < wanted) await visit(tab, paths[turn++ % paths.length] ?? '/')
  }
  await Promise.all([walk(first), walk(await context.newPage())])
  change = (_, body) => body
  expect(count).toBeGreaterThanOrEqual(wanted)
  expect(faults).toEqual([])
})
