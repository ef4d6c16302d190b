import { createECDH, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { expect, isLive, open, signIn, startProduct, test } from './product.ts'

test('an eviction is pushed to a browser without an open tab, and its notification leads to the alert', async ({
  browser,
}) => {
  const sizes: number[] = []
  const pushService = createServer(async (request, response) => {
    sizes.push((await buffer(request)).length)
    response.writeHead(201).end()
  }).listen(0, '127.0.0.1')
  await once(pushService, 'listening')
  const origin = `http://127.0.0.1:${(pushService.address() as AddressInfo).port}`
  const product = await startProduct({ DEVDECK_PUSH_SERVICES: origin })
  const context = await browser.newContext()
  try {
    await signIn(await context.newPage(), product)
    await context.grantPermissions(['notifications'], { origin: product.url })
    const [page] = context.pages()
    if (!page) throw new Error('no page')
    const { id: account } = await product.service.accounts.me()
    await page.goto(`${product.url}/evictions`)
    await isLive(page)
    const push = page.getByRole('region', { name: 'Push notifications' })
    await expect(push.getByRole('button', { name: 'Turn on push in this browser' })).toBeVisible()

    // The browser has no push service here, so the test subscribes as the page does.
    const ecdh = createECDH('prime256v1')
    const keys = { p256dh: ecdh.generateKeys('base64url'), auth: randomBytes(16).toString('base64url') }
    const subscribed = await page.request.post(`${product.url}/api/alerts/push`, {
      data: { endpoint: `${origin}/browser`, keys, shows_names: false },
      headers: { origin: product.url },
    })
    expect(subscribed.status()).toBe(200)
    await page.reload()
    await push.getByRole('button', { name: 'Test' }).click()
    await expect(push.getByRole('listitem')).toContainText('Delivered')
    expect(sizes).toHaveLength(1)

    // Delivers a message to the service worker as a push service would.
    const scope = `${product.url}/`
    await page.evaluate(() => navigator.serviceWorker.register('/alert-worker.js', { updateViaCache: 'none' }))
    await page.evaluate(async () => void (await navigator.serviceWorker.ready))
    const session = await context.newCDPSession(page)
    const registered = new Promise<string>((resolve) =>
      session.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
        const own = registrations.find(({ scopeURL }) => scopeURL === scope)
        if (own) resolve(own.registrationId)
      }),
    )
    await session.send('ServiceWorker.enable')
    const registrationId = await registered
    const message = {
      account,
      tag: 'eviction',
      body: 'Processes end, disks are kept.',
      path: '/evictions',
      is_urgent: false,
    }
    const deliver = (change: object) =>
      session.send('ServiceWorker.deliverPushMessage', {
        ...{ origin: product.url, registrationId },
        data: JSON.stringify({ ...message, is_over: false, ...change }),
      })
    // Headless browsers show no notifications, so the worker records them.
    const worker = context.serviceWorkers()[0] ?? (await context.waitForEvent('serviceworker'))
    await worker.evaluate(() => {
      const shown = new Map<string, object>()
      const { registration } = globalThis as unknown as { registration: ServiceWorkerRegistration }
      Object.assign(registration, {
        shown,
        showNotification: async (title: string, { tag = '', silent }: NotificationOptions) =>
          void shown.set(tag, { title, silent, timestamp: Date.now(), close: () => shown.delete(tag) }),
        getNotifications: async ({ tag = '' }) => (shown.has(tag) ? [shown.get(tag)] : []),
      })
    })
    const shown = () =>
      worker.evaluate(() => {
        const { registration } = globalThis as unknown as { registration: { shown: Map<string, { title: string }> } }
        return [...registration.shown.values()].map(({ title }) => title)
      })
    // A visible tab of the account announces its alerts itself; a signed-out page doesn't.
    await page.goto(`${product.url}/alert-icon.svg`)
    await deliver({ title: '2 devboxes will be suspended in 5 min' })
    await expect.poll(shown).toEqual(['2 devboxes will be suspended in 5 min'])
    await deliver({ title: 'Closed: 2 devboxes will be suspended', is_over: true })
    await expect.poll(shown).toEqual(['Closed: 2 devboxes will be suspended'])
    await open(page, `${product.url}/axons`)
    await deliver({ title: 'Closed: 2 devboxes will be suspended', is_over: true })
    await expect.poll(shown).toEqual([])
    await worker.evaluate((account) => {
      const notification = { data: { path: '/evictions', account }, close: () => undefined }
      const click = Object.assign(new Event('notificationclick'), { notification, waitUntil: () => undefined })
      globalThis.dispatchEvent(click)
    }, account)
    await expect(page.getByRole('heading', { name: 'Evictions', exact: true })).toBeVisible()
    await push.getByRole('button', { name: 'Turn off' }).click()
    await expect(push.getByRole('listitem')).toHaveCount(0)
  } finally {
    await context.close()
    await product.stop()
    pushService.close()
  }
})
