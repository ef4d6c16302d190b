import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { expect, open, signIn, signInByForm, startProduct, startServiceAlone, test } from './product.ts'

test('nothing the browser receives contains the API key', async ({ page, product }) => {
  const received: Promise<string>[] = []
  page.on('response', (response) => {
    const headers = response.allHeaders().then((all) => JSON.stringify(all))
    const body = response.text().catch(() => '')
    received.push(Promise.all([response.url(), headers, body]).then((parts) => parts.join('\n')))
  })
  page.on('websocket', (socket) =>
    socket.on('framereceived', ({ payload }) => received.push(Promise.resolve(String(payload)))),
  )
  await signInByForm(page, product)
  const devbox = await product.service.devboxes.createAndAwaitRunning({ body: { name: 'secretive' } })
  for (const path of [
    '/',
    '/axons',
    '/devboxes',
    `/devboxes/${devbox.id}`,
    `/devboxes/${devbox.id}/terminal`,
    '/nowhere',
  ]) {
    await page.goto(product.url + path)
    await page.waitForLoadState('load')
    expect(await page.content()).not.toContain(product.apiKey)
  }
  const texts = await Promise.all(received)
  expect(texts.length).toBeGreaterThan(20)
  const secrets = [
    product.apiKey,
    Buffer.from(product.apiKey).toString('base64').replace(/=+$/, ''),
    product.apiKey.slice(-8),
  ]
  for (const secret of secrets)
    expect(texts.filter((text) => text.includes(secret)).map((text) => text.slice(0, 200))).toEqual([])
  expect(await page.evaluate(() => document.cookie)).not.toContain('session')
  expect(await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }))).not.toContain(
    product.apiKey,
  )
  expect(product.output()).not.toContain(product.apiKey)
})

test('signing out ends the session everywhere', async ({ signedIn: page, product }) => {
  const cookies = await page.context().cookies()
  const session = cookies.find(({ httpOnly }) => httpOnly)
  expect(session).toMatchObject({ httpOnly: true, sameSite: 'Strict', path: '/' })
  const cookie = `${session?.name}=${session?.value}`
  const who = () => fetch(`${product.url}/api/session`, { headers: { cookie } })
  expect((await who()).status).toBe(200)
  expect(await (await who()).text()).not.toContain(product.apiKey)

  await open(page, product.url)
  await page.getByRole('button', { name: 'Account' }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await expect(page).toHaveURL(/\/sign-in/)
  // Both the bundled route handler and the upgrade in server.ts must see the sign-out.
  expect((await who()).status).toBe(401)
  const page2 = await fetch(`${product.url}/devboxes`, { headers: { cookie }, redirect: 'manual' })
  expect(page2.status).toBe(307)
  const upgrade = await fetch(`${product.url}/api/terminals/dbx_1/main`, { headers: { cookie } })
  expect(upgrade.status).not.toBe(200)
})

test('a wrong key is rejected at its field and stays entered', async ({ page, product }) => {
  await page.goto(`${product.url}/sign-in`)
  const field = page.getByLabel('API key')
  await field.fill('ak_wrong')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await expect(page.getByText('Invalid API key.')).toBeVisible()
  await expect(field).toHaveValue('ak_wrong')
  await expect(field).toHaveAttribute('aria-invalid', 'true')
})

test('pages have a content security policy with a fresh nonce', async ({ page, product }) => {
  const policy = async () => (await fetch(`${product.url}/sign-in`)).headers.get('content-security-policy') ?? ''
  const [first, second] = [await policy(), await policy()]
  expect(first).toMatch(/script-src [^;]*'nonce-/)
  expect(/script-src ([^;]*)/.exec(first)?.[1]).not.toMatch(/unsafe-(inline|eval)/)
  expect(first).not.toBe(second)
  const complaints: string[] = []
  page.on('console', (message) => {
    if (/content security policy/i.test(message.text())) complaints.push(message.text())
  })
  await signIn(page, product)
  await page.goto(`${product.url}/devboxes`)
  await expect(page.getByRole('heading', { name: 'Devboxes', exact: true })).toBeVisible()
  expect(complaints).toEqual([])
})

test('an unknown address is a 404 with a way back', async ({ signedIn: page, product }) => {
  for (const [path, back] of [
    ['/axons/axn_nowhere', /axons/],
    ['/axons/a%00b', /axons/],
    ['/devboxes/..%5c', /devboxes/],
    ['/devboxes/%zz', /overview/i],
    ['/nowhere', /overview/i],
  ] as const) {
    const answer = await page.goto(product.url + path)
    expect(answer?.status(), path).toBe(404)
    await expect(page.getByRole('heading', { level: 1 }), path).toContainText(/^No |not found$/)
    await expect(page.getByRole('main').getByRole('link', { name: back }).first(), path).toBeVisible()
    const ofFrame = page.getByRole('link', { name: 'Recordings', exact: true })
    await expect(ofFrame, `${path} keeps the frame`).toBeVisible()
  }
  const answer = await page.request.get(`${product.url}/api/nowhere`)
  expect(answer.status()).toBe(404)
  expect(await answer.json()).toMatchObject({ code: 'not_found' })
})

test('incomplete API responses still render, and a rejected key is explained', async ({ page }) => {
  let refuses = false
  const answers: Record<string, unknown> = {
    '/v1/accounts/me': { id: 'acc', name: 'Odd' },
    '/v1/devboxes': {
      devboxes: [
        { id: 'dbx_1', name: 'odd-box', status: 'hibernating', metadata: null },
        { id: 'dbx_2', status: 'late', state_transitions: [{ status: 'late', transition_time_ms: 'soon' }] },
        null,
      ],
    },
    '/v1/devboxes/dbx_1': { id: 'dbx_1', name: 'odd-box', status: 'hibernating', state_transitions: null },
    '/v1/axons': { axons: null, has_more: false },
    '/v1/axons/axn_1': { id: 'axn_1', name: 'odd-axon', metadata: { count: 3 } },
  }
  const log = [{ timestamp_ms: 'soon', message: 'odd line' }, { timestamp_ms: 9e15 }, null]
  const service = createServer(({ url = '' }, response) => {
    if (!refuses && url.startsWith('/v1/devboxes/dbx_1/logs/tail')) {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      for (const record of log) response.write(`data: ${JSON.stringify(record)}\n\n`)
      return
    }
    const answer = refuses ? undefined : answers[url.replace(/\?.*/, '')]
    response.writeHead(answer ? 200 : refuses ? 401 : 404, { 'content-type': 'application/json' })
    response.end(JSON.stringify(answer ?? { code: 'x', message: 'no', request_id: 'r' }))
  }).listen(0, '127.0.0.1')
  await once(service, 'listening')
  const { port } = service.address() as { port: number }
  const front = await startProduct({ DEVDECK_SERVICE_URL: `http://127.0.0.1:${port}` })
  await signIn(page, { url: front.url, apiKey: 'ak_odd' })
  const main = page.getByRole('main')
  for (const [path, shown] of [
    ['/', 'odd-box'],
    ['/devboxes', 'hibernating'],
    ['/devboxes', 'late'],
    ['/devboxes/dbx_1', 'hibernating'],
    ['/devboxes/dbx_1/log', 'odd line'],
    ['/devboxes/dbx_1/terminal', 'The devbox is hibernating'],
    ['/axons', 'No axons yet'],
    ['/axons/axn_1', 'odd-axon'],
  ] as const) {
    expect((await page.goto(front.url + path))?.status(), path).toBe(200)
    await expect(main.getByText(shown).first(), path).toBeVisible()
    await expect(main.getByText('could not be'), path).toBeHidden()
  }
  refuses = true
  await page.goto(`${front.url}/axons`)
  await expect(page).toHaveURL(/\/sign-in\?next=%2Faxons/)
  await expect(page.getByText('The service no longer accepts your key')).toBeVisible()
  await front.stop()
  service.closeAllConnections()
  service.close()
})

test('the server renders list rows without JavaScript', async ({ signedIn: page, product, browser }) => {
  await product.service.axons.create({ body: { name: 'plain-axon' } })
  await product.service.devboxes.createAndAwaitRunning({ body: { name: 'plain-box' } })
  const plain = await browser.newPage({ javaScriptEnabled: false, storageState: await page.context().storageState() })
  for (const [path, name] of [
    ['/axons', 'plain-axon'],
    ['/devboxes', 'plain-box'],
  ] as const) {
    await plain.goto(product.url + path)
    await expect(plain.getByRole('table').getByText(name), path).toBeVisible()
  }
  await plain.close()
})

test('an unreachable service is reported and the console recovers by itself', async ({ page }) => {
  const first = await startServiceAlone()
  const started: { stop(): Promise<unknown> }[] = [first]
  try {
    const front = await startProduct({ DEVDECK_SERVICE_URL: first.url })
    started.push(front)
    await signIn(page, { url: front.url, apiKey: first.apiKey })
    await first.stop()
    await page.goto(`${front.url}/axons`)
    await expect(page.getByText(first.url).first()).toBeVisible()
    started.push(await startServiceAlone({ port: first.port, dataDir: first.dataDir }))
    await expect(page.getByText('No axons yet')).toBeVisible()
  } finally {
    for (const each of started) await each.stop()
    rmSync(first.dataDir, { recursive: true, force: true })
  }
})
