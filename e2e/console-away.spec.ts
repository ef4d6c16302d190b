import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { WebSocket } from 'ws'
import { createClient } from '#lib/client/client.ts'
import { terminalClose } from '#lib/protocol/terminals.ts'
import { freePort } from '#lib/service/testing/free-port.ts'
import { expect, isLive, type Product, signIn, startProduct, startServiceAlone, test } from './product.ts'
import { untilPrompt, untilText } from './terminal-page.ts'

/** `npm start` wraps the console process. */
const consolePid = ({ pid }: Product): number => {
  const children = (of: number): number[] =>
    readFileSync(`/proc/${of}/task/${of}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
  const found = [pid, ...children(pid), ...children(pid).flatMap(children)].find((each) =>
    readFileSync(`/proc/${each}/cmdline`, 'utf8').split('\0').includes('server.ts'),
  )
  if (!found) throw new Error('npm start runs no server.ts')
  return found
}

test('pages report a killed console immediately and recover by themselves', async ({ page }) => {
  const service = await startServiceAlone()
  const dataDir = mkdtempSync(join(tmpdir(), 'devdeck-e2e-'))
  const started: { stop(): Promise<unknown> }[] = [service]
  const environment = {
    DEVDECK_SERVICE_URL: service.url,
    DEVDECK_DATA_DIR: dataDir,
    PORT: String(await freePort()),
  }
  try {
    const first = await startProduct(environment)
    started.push(first)
    const { url } = first
    await signIn(page, { url, apiKey: service.apiKey })
    const other = await page.context().newPage()
    // For every tab: a browser context has one clock.
    await other.clock.install()
    for (const [each, path] of [
      [other, '/evictions'],
      [page, '/devboxes'],
    ] as const) {
      await each.goto(url + path)
      await isLive(each)
    }
    const client = createClient({ baseUrl: service.url, headers: { authorization: `Bearer ${service.apiKey}` } })
    const { id: shellBox } = await client.devboxes.createAndAwaitRunning({ body: { name: 'with-a-shell' } })
    const terminal = await page.context().newPage()
    await terminal.goto(`${url}/devboxes/${shellBox}/terminal`)
    await untilPrompt(terminal)
    await terminal.keyboard.type('kept=by-this-shell\n')
    await page.getByRole('button', { name: 'Create devbox' }).first().click()
    const name = page.getByRole('dialog').getByLabel(/^Name/)
    await name.fill('typed while it was away')

    const countInTabs = async (text: string) => {
      const counts = page
        .context()
        .pages()
        .map((each) => each.getByText(text, { exact: true }).count())
      return (await Promise.all(counts)).reduce((sum, count) => sum + count)
    }
    process.kill(consolePid(first), 'SIGKILL')
    for (const each of [page, other]) {
      // By text, because elements behind a dialog have no role.
      await expect(each.getByText('Reconnecting', { exact: true }).first()).toBeVisible()
      await expect(each.getByText('Live', { exact: true })).toHaveCount(0)
    }
    const banner = other.getByText(/^No connection to Devdeck for/)
    await expect(banner).toBeHidden()
    await other.clock.fastForward(65_000)
    await expect(banner).toBeVisible()
    await expect.poll(() => countInTabs('No connection to Devdeck')).toBe(1)
    await expect(other).toHaveTitle(/^\(!\) /)
    const starting = startProduct(environment)
    // Pages reconnect as soon as the port is open and are told to retry.
    await knockUntil(starting, Number(environment.PORT))
    const second = await starting
    started.push(second)
    await isLive(other)
    await expect.poll(() => countInTabs('Connected to Devdeck again')).toBe(1)
    await expect(banner).toBeHidden()
    await expect(other).not.toHaveTitle(/^\(!\)/)
    await expect(page.getByText('Live', { exact: true }).first()).toBeVisible()
    await expect(name).toHaveValue('typed while it was away')
    await isLive(terminal)
    await expect(terminal.getByText(/^(Connection lost|Unable to connect)/)).toHaveCount(0)
    await terminal.keyboard.type('echo "[$kept]"\n')
    await untilText(terminal, /^\[by-this-shell\]/m)
    await page.getByRole('dialog').getByRole('button', { name: 'Create devbox' }).click()
    await expect(page).toHaveURL(/\/devboxes\/dbx_/)

    // A graceful shutdown doesn't wait for an abandoned download, which must not look complete.
    const id = new URL(page.url()).pathname.split('/')[2] ?? ''
    const { devboxes, executions } = client
    await expect.poll(async () => (await devboxes.get({ params: { id } })).status).toBe('running')
    await executions.executeSync({ params: { id }, body: { command: 'head -c 64M /dev/zero > big' } })
    const download = await fetch(`${url}/api/v1/devboxes/${id}/download_file`, {
      method: 'POST',
      headers: { ...(await sessionHeaders({ url, apiKey: service.apiKey })), 'content-type': 'application/json' },
      body: JSON.stringify({ path: 'big' }),
    })
    expect(await second.stop()).toBe(0)
    expect(second.output()).toContain(timedOut)
    await expect(download.arrayBuffer()).rejects.toThrow()
  } finally {
    for (const each of started.reverse()) await each.stop()
    for (const folder of [service.dataDir, dataDir]) rmSync(folder, { recursive: true, force: true })
  }
})

/** Makes `Date.now()` of the console run eight times as fast from one SIGUSR2 to the next. */
const fasterClock = `--import data:text/javascript,${encodeURIComponent(`
  const { now } = Date
  let [speed, atMs, fromMs] = [1, now(), now()]
  Date.now = () => Math.round(atMs + (now() - fromMs) * speed)
  process.on('SIGUSR2', () => {
    atMs = Date.now()
    fromMs = now()
    speed = 9 - speed
  })`)}`

test('a minute without the service is an alert, until the service is back', async ({ page }) => {
  const first = await startServiceAlone()
  const { dataDir, url: serviceUrl, apiKey } = first
  const started: { stop(): Promise<unknown> }[] = [first]
  try {
    const product = await startProduct({ DEVDECK_SERVICE_URL: serviceUrl, NODE_OPTIONS: fasterClock })
    started.push(product)
    const { devboxes, evictions } = createClient({
      baseUrl: serviceUrl,
      headers: { authorization: `Bearer ${apiKey}` },
    })
    const { id } = await devboxes.createAndAwaitRunning({ body: { name: 'unseen-box' } })
    await evictions.schedule({ body: { devbox_id: id, eviction_deadline_ms: Date.now() + 3_600_000 } })
    await signIn(page, { url: product.url, apiKey })
    await page.goto(`${product.url}/evictions`)
    await expect(page.getByRole('region', { name: 'Pending evictions' })).toContainText('unseen-box')

    await first.stop()
    process.kill(consolePid(product), 'SIGUSR2')
    const bar = page.getByRole('region', { name: 'Alerts', exact: true })
    await expect(bar).toContainText(/Devdeck\s*may miss evictions/)
    await expect(bar).toContainText('1 more')
    await expect(page.getByRole('alert').filter({ hasText: 'Devdeck may miss evictions' })).toBeVisible()
    const pending = page.getByRole('region', { name: 'Pending', exact: true })
    await expect(pending).toContainText('2 pending, last confirmed')
    await expect(pending.getByRole('row', { name: /unseen-box/ })).toBeVisible()

    process.kill(consolePid(product), 'SIGUSR2')
    started.push(await startServiceAlone({ port: Number(new URL(serviceUrl).port), dataDir }))
    await expect(page.getByRole('region', { name: 'Pending evictions' })).toContainText('unseen-box')
    await expect(page.getByRole('region', { name: 'Closed since you opened this page' })).toContainText('Resolved')
    await expect(pending).toContainText('1 pending')
    await expect(pending).not.toContainText('last confirmed')
  } finally {
    for (const each of started.reverse()) await each.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
})

/** Requests a WebSocket repeatedly until the console has started. */
const knockUntil = async (started: Promise<unknown>, port: number) => {
  let isStarted = false
  void started.finally(() => {
    isStarted = true
  })
  while (!isStarted) {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => undefined)
    socket.write(
      `GET /api/live HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nconnection: upgrade\r\nupgrade: websocket\r\n` +
        'sec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n',
    )
    await new Promise((answered) => socket.once('data', answered).once('close', answered))
    socket.destroy()
    await new Promise((next) => setTimeout(next, 10))
  }
}

test('a stopped console notifies pages, finishes downloads and exits', async () => {
  const product = await startProduct()
  const { url } = product
  const headers = await sessionHeaders(product)
  const { id } = await product.service.devboxes.createAndAwaitRunning({ body: { name: 'left' } })
  await product.service.executions.executeSync({ params: { id }, body: { command: 'head -c 32M /dev/zero > big' } })

  const open = async (path: string) => {
    const socket = new WebSocket(url.replace('http', 'ws') + path, { headers })
    await once(socket, 'message')
    return { closed: once(socket, 'close') }
  }
  const pages = await Promise.all([
    ...Array.from({ length: 5 }, (_, i) => open(`/api/terminals/${id}/shell-${i}?cols=80&rows=24`)),
    ...Array.from({ length: 50 }, () => open('/api/live')),
  ])

  const { host, port } = new URL(url)
  const download = await fetch(`${url}/api/v1/devboxes/${id}/download_file`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ path: 'big' }),
  })
  expect(download.status).toBe(200)
  // Browsers open spare connections and keep used ones.
  const spare = connect(Number(port), '127.0.0.1')
  await once(spare, 'connect')
  const { execution_id } = await product.service.executions.executeAsync({
    params: { id },
    body: { command: 'sleep 1e5' },
  })
  const output = await fetch(`${url}/api/v1/devboxes/${id}/executions/${execution_id}/stream_stdout_updates`, {
    headers,
  })
  const wait = JSON.stringify({ statuses: ['completed'], timeout_seconds: 4 })
  const held = connect(Number(port), '127.0.0.1').setEncoding('utf8')
  let answer = ''
  held.on('data', (text) => {
    answer += text
  })
  const call = [
    `POST /api/v1/devboxes/${id}/executions/${execution_id}/wait_for_status HTTP/1.1`,
    ...[`host: ${host}`, `origin: ${url}`, `cookie: ${headers.cookie}`],
    ...['content-type: application/json', `content-length: ${wait.length}`, 'expect: 100-continue'],
  ]
  held.write(`${call.join('\r\n')}\r\n\r\n`)
  await expect.poll(() => answer).toContain('100 Continue')
  held.write(wait)
  const ended = product.stop()
  const whole = download.arrayBuffer()
  for (const { closed } of pages) expect((await closed)[0]).toBe(terminalClose.consoleRestarting)
  await output.text().catch(() => undefined)
  // Active downloads finish; idle connections don't delay the exit.
  expect((await whole).byteLength).toBe(32 * 1024 * 1024)
  expect(await ended).toBe(0)
  expect(answer).toContain('is running, not completed')
  expect(product.output()).not.toContain(timedOut)
})

test('a drained service is announced on pages until it is canceled, rejects new work, and stops with its console', async ({
  page,
}) => {
  const product = await startProduct()
  const { url, service, serviceUrl, dataDir } = product
  const { id } = await service.devboxes.createAndAwaitRunning({ body: { name: 'busy' } })
  const body = { command: 'touch ~/begun; until [ -e ~/go ]; do sleep 0.02; done' }
  await service.executions.executeAsync({ params: { id }, body })
  const hasBegun = { params: { id }, body: { command: 'test -e ~/begun' } }
  await expect.poll(async () => (await service.executions.executeSync(hasBegun)).exit_status).toBe(0)
  await signIn(page, product)
  await page.goto(`${url}/axons`)
  const token = readFileSync(join(dataDir, 'service/operator-token'), 'utf8').trim()
  const stop = (path: string, body?: string) =>
    fetch(`${serviceUrl}/local/stop${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body && { body }),
    })
  const drain = () => stop('', '{"wait_seconds":600}')
  expect((await drain()).status).toBe(200)
  await page.goto(`${url}/devboxes`)
  const banner = page.getByRole('region', { name: 'Planned restart' })
  await expect(banner).toBeVisible()
  expect(await (await stop('/cancel')).json()).toEqual({ canceled: true })
  await expect(banner).toBeHidden()
  expect((await drain()).status).toBe(200)
  await page.reload()
  await expect(banner).toContainText(/^The service restarts once running work has finished, at the latest in 09:\d\d\./)
  await expect(banner).toContainText('Waiting for 1 command; anything still running at the deadline is interrupted.')
  await expect(banner).toContainText('1 devbox will restart with its disk; its shells end.')
  await banner.getByText('Running work and devboxes that will restart').click()
  await expect(banner.getByRole('listitem')).toHaveText(/^Command touch ~\/begun; .* in busy$/)
  await expect(banner).toContainText('Will restart: busy')
  await page.getByRole('button', { name: 'Create devbox' }).first().click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Create devbox' }).click()
  await expect(dialog).toContainText('The service is about to restart and accepts no new devboxes')
  await service.files.write({ params: { id }, body: { file_path: 'go', contents: '' } })
  expect(await product.ended).toBe(0)
  await product.stop()
})

test('an uncaught exception stops the console and its service with exit code 1, a rejection is only logged', async () => {
  const faults = `process.once('SIGUSR2', () => {
    process.once('SIGUSR2', () => { throw new Error('on purpose') })
    Promise.reject(new Error('nobody waits'))
  })`
  const product = await startProduct({ NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(faults)}` })
  const socket = new WebSocket(`${product.url.replace('http', 'ws')}/api/live`, {
    headers: await sessionHeaders(product),
  })
  await once(socket, 'message')
  const pid = consolePid(product)
  process.kill(pid, 'SIGUSR2')
  await expect.poll(product.output).toMatch(/unhandledRejection: Error: nobody waits/)
  expect((await fetch(product.url)).status).toBe(200)
  process.kill(pid, 'SIGUSR2')
  expect((await once(socket, 'close'))[0]).toBe(terminalClose.consoleRestarting)
  expect(await product.ended).toBe(1)
  expect(product.output()).toMatch(/Stopping the console after an unexpected error: Error: on purpose/)
  for (const address of [product.url, product.serviceUrl]) await expect(fetch(address)).rejects.toThrow()
  await product.stop()
})

const timedOut = 'Shutdown timed out'

const sessionHeaders = async ({ url, apiKey }: Pick<Product, 'url' | 'apiKey'>) => {
  const answer = await fetch(`${url}/api/session`, {
    method: 'POST',
    headers: { origin: url, 'content-type': 'application/json' },
    body: JSON.stringify({ api_key: apiKey }),
  })
  return { origin: url, cookie: answer.headers.getSetCookie()[0]?.split(';')[0] ?? '' }
}
