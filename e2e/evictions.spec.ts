import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import type { Page } from '@playwright/test'
import { startServer } from '#lib/gateway/testing.ts'
import { expect, isLive, open, signIn, startProduct, test } from './product.ts'
import { startScriptedService } from './scripted-service.ts'
import { setClockAhead } from './wrong-clock.ts'

test.use({ journeys: 'evictions' })

const startDrill = async (page: Page, devboxId: string) => {
  await page.getByRole('button', { name: 'Start drill' }).click()
  const dialog = page.getByRole('dialog')
  await expect(dialog.getByLabel('Devbox')).toHaveValue(devboxId)
  await dialog.getByLabel('Deadline').selectOption('in 15 minutes')
  await dialog.getByRole('button', { name: 'Start drill' }).click()
  await expect(dialog).toBeHidden()
}

test('a drill is announced in one tab, acknowledged in all, snapshotted, evicted, resumed and kept in the history', async ({
  signedIn: page,
  product,
  context,
}) => {
  const { id } = await product.service.devboxes.createAndAwaitRunning({
    body: { name: 'drilled-box', metadata: { team: 'core' } },
  })
  const other = await context.newPage()
  await other.goto(`${product.url}/axons`)
  await expect(other.getByText('Live', { exact: true })).toBeVisible()
  await page.bringToFront()
  await open(page, `${product.url}/evictions`)
  await expect(page.getByRole('heading', { name: 'No evictions pending' })).toBeVisible()

  await startDrill(page, id)
  const row = page.getByRole('row', { name: /drilled-box/ })
  await expect(row).toContainText('New')
  const bars = [page, other].map((tab) => tab.getByRole('region', { name: 'Pending evictions' }))
  for (const bar of bars) await expect(bar).toContainText('drilled-box')
  // Exactly one tab announces it.
  const announced = () =>
    Promise.all(
      [page, other].map((tab) =>
        tab
          .getByRole('alert')
          .filter({ hasText: /drilled-box will be/ })
          .count(),
      ),
    )
  await expect.poll(async () => (await announced()).sort()).toEqual([0, 1])

  await bars[1]?.getByRole('button', { name: 'Acknowledge' }).click()
  await expect(row).toContainText('Acknowledged')
  for (const bar of bars) await expect(bar.getByRole('button', { name: 'Acknowledge' })).toHaveCount(0)
  await page.reload()
  await isLive(page)
  await expect(row).toContainText('Acknowledged')

  await row.getByRole('button', { name: 'More actions for drilled-box' }).click()
  await page.getByRole('menuitem', { name: 'Take snapshot now' }).click()
  await expect
    .poll(async () =>
      (
        await product.service.snapshots.list({ query: { devbox_id: id, limit: 20, include_total_count: false } })
      ).snapshots.map(({ name }) => name),
    )
    .toEqual(['before-eviction'])

  // An earlier deadline is a new alert.
  await product.service.evictions.schedule({ body: { devbox_id: id, eviction_deadline_ms: Date.now() + 2_000 } })
  await expect(page.getByRole('region', { name: 'Closed since you opened this page' })).toContainText('Rescheduled')
  await expect(page.getByRole('region', { name: 'Closed since you opened this page' })).toContainText('Evicted')
  for (const bar of bars) await expect(bar).toBeHidden()

  await other.goto(`${product.url}/devboxes/${id}`)
  await expect(other.getByText(/^This devbox was evicted/)).toBeVisible()
  await product.service.devboxes.resume({ params: { id } })
  await expect(other.getByText(/^This devbox was evicted/)).toBeHidden()
  await expect(other.getByRole('region', { name: 'State history' })).toContainText('Evicted at the deadline')

  await page.getByRole('link', { name: 'History' }).click()
  await expect(page.getByRole('row', { name: /drilled-box/ })).toHaveCount(2)
  await page.getByLabel('Name, metadata or person').fill('core')
  await page.getByLabel('State').selectOption('Evicted')
  await expect(page.getByRole('row', { name: /drilled-box/ })).toHaveCount(1)
  const download = page.waitForEvent('download')
  await page.getByRole('link', { name: 'Export CSV' }).click()
  const file = await readFile(await (await download).path(), 'utf8')
  const [evicted, ...others] = file.split('\r\n').filter((line) => line.includes(id))
  expect(others).toEqual([])

  // The link of a closed alert shows its outcome.
  await page.goto(`${product.url}/evictions?alert=${encodeURIComponent(evicted?.split(',')[0] ?? '')}`)
  await expect(page.getByRole('region', { name: 'Linked alert' })).toContainText('Evicted')

  // Suspending it before the deadline is not an eviction.
  await product.service.evictions.schedule({ body: { devbox_id: id, eviction_deadline_ms: Date.now() + 900_000 } })
  await row.getByRole('button', { name: 'More actions for drilled-box' }).click()
  await page.getByRole('menuitem', { name: 'Suspend now' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Suspend devbox' }).click()
  await expect(page.getByRole('region', { name: 'Closed since you opened this page' })).toContainText(/Suspended by \S/)
  await other.reload()
  await expect(other.getByText('Suspended', { exact: true }).first()).toBeVisible()
  await expect(other.getByText(/^This devbox was evicted/)).toBeHidden()
})

test('a drill on a phone is canceled, restarted, notified, acknowledged, snapshotted, evicted and resumed', async ({
  signedIn: page,
  product,
  context,
}) => {
  const { id } = await product.service.devboxes.createAndAwaitRunning({ body: { name: 'pocket-box' } })
  await context.grantPermissions(['notifications'], { origin: product.url })
  // Headless browsers show no notifications; record them as a phone's service worker would.
  await page.addInitScript(() => {
    const { requestPermission } = Notification
    Object.assign(globalThis, {
      Notification: class {
        static permission = 'granted'
        static requestPermission = requestPermission
        constructor() {
          throw new TypeError('Illegal constructor')
        }
      },
    })
    const shown = new Map<string, Pick<Notification, 'title' | 'data' | 'close'>>()
    Object.assign(ServiceWorkerRegistration.prototype, {
      showNotification: async (title: string, { tag = title, data }: NotificationOptions) =>
        void shown.set(tag, { title, data, close: () => shown.delete(tag) }),
      getNotifications: async () => [...shown.values()],
    })
  })
  await page.setViewportSize({ width: 390, height: 844 })
  await page.goto(`${product.url}/evictions`)
  await isLive(page)
  const notified = () =>
    page.evaluate(async () => {
      const registration = await navigator.serviceWorker.ready
      return (await registration.getNotifications()).map(({ title }) => title).filter((title) => /pocket/.test(title))
    })
  await page.getByRole('button', { name: 'Turn on notifications' }).click()
  await expect(page.getByRole('button', { name: 'Turn off' })).toBeVisible()

  const bar = page.getByRole('region', { name: 'Pending evictions' })
  const row = page.getByRole('row', { name: /pocket-box/ })
  const closed = page.getByRole('region', { name: 'Closed since you opened this page' })
  const choose = async (name: string) => {
    await row.getByRole('button', { name: 'Show more' }).click()
    await page.getByRole('button', { name: 'More actions for pocket-box' }).click()
    await page.getByRole('menuitem', { name }).click()
  }
  await startDrill(page, id)
  await expect(bar).toContainText('pocket-box')
  await expect.poll(notified).toEqual([expect.stringContaining('pocket-box will be evicted')])
  await choose('Cancel drill')
  await expect(closed).toContainText('Canceled')
  await expect(bar).toBeHidden()
  await expect.poll(notified).toEqual([])

  await startDrill(page, id)
  await bar.getByRole('button', { name: 'Acknowledge' }).click()
  await expect(bar.getByRole('button', { name: 'Acknowledge' })).toHaveCount(0)
  await choose('Take snapshot now')
  await expect(page.getByText('Snapshot started')).toBeVisible()

  // Clicking the notification opens its alert.
  await page.goto(`${product.url}/axons`)
  await isLive(page)
  const [worker] = context.serviceWorkers()
  await worker?.evaluate(
    (account) => {
      const click = Object.assign(new Event('notificationclick'), {
        notification: { data: { path: '/evictions', account }, close: () => undefined },
        waitUntil: () => undefined,
      })
      globalThis.dispatchEvent(click)
    },
    (await product.service.accounts.me({})).id,
  )
  await expect(page.getByRole('heading', { name: 'Evictions', exact: true })).toBeVisible()

  await product.service.evictions.schedule({ body: { devbox_id: id, eviction_deadline_ms: Date.now() + 2_000 } })
  await expect(closed).toContainText('Evicted')
  await expect(bar).toBeHidden()
  await open(page, `${product.url}/devboxes/${id}`)
  await expect(page.getByText(/^This devbox was evicted/)).toBeVisible()
  // Both the header and the terminal offer it.
  await page.getByRole('button', { name: 'Resume devbox' }).first().click()
  await expect(page.getByText(/^This devbox was evicted/)).toBeHidden()
  await product.service.devboxes.shutdown({ params: { id } })
})

/** Records the announcements and notifications of a page. */
const listenIn = () => {
  const heard = { said: [] as string[], notified: [] as string[] }
  Object.assign(globalThis, { heard })
  localStorage.setItem('devdeck.alert-settings', '{"notifications":true}')
  // As on a phone: permission is granted, and only a service worker may show notifications.
  Object.assign(globalThis, {
    Notification: class {
      static permission = 'granted'
      constructor() {
        throw new TypeError('Illegal constructor')
      }
    },
  })
  ServiceWorkerRegistration.prototype.showNotification = async (title) => {
    heard.notified.push(title)
  }
  const known = new Set<Element>()
  new MutationObserver(() => {
    for (const alert of document.querySelectorAll('[role=alert]'))
      if (alert.textContent?.includes('will be evicted') && !known.has(alert)) {
        known.add(alert)
        heard.said.push(alert.textContent)
      }
  }).observe(document, { childList: true, subtree: true })
}
interface Heard {
  heard: { said: string[]; notified: string[] }
  realNow(): number
}

/** How far the countdown is from the right time. */
const countdownError = (tab: Page, deadlineMs: number) =>
  tab
    .getByRole('region', { name: 'Pending evictions' })
    .getByRole('timer')
    .evaluate((timer, until) => {
      const shown = (timer.textContent ?? '').split(':').reduce((sum, part) => sum * 60 + Number(part), 0)
      const { realNow = Date.now } = globalThis as unknown as Partial<Heard>
      return Math.abs(shown * 1000 - (until - realNow()))
    }, deadlineMs)

test('ten tabs announce each eviction once, even when hidden or after the announcing tab closes; a wrong clock changes nothing', async ({
  product,
  context,
  signedIn,
}) => {
  await signedIn.close()
  await context.addInitScript(listenIn)
  const tabs = await Promise.all(Array.from({ length: 10 }, () => context.newPage()))
  const [wrong] = tabs as [Page]
  await wrong.addInitScript(setClockAhead, 600_000)
  for (const tab of tabs) await tab.goto(`${product.url}/recordings`)
  for (const tab of tabs) await isLive(tab)
  const heardIn = (some: readonly Page[], name: string) =>
    Promise.all(
      some.map((tab) =>
        tab.evaluate((wanted) => {
          const { said, notified } = (globalThis as unknown as Heard).heard
          return [said, notified].map((texts) => texts.filter((text) => text.includes(wanted)).length)
        }, name),
      ),
    )
  const totals = async (some: readonly Page[], name: string) => {
    const each = await heardIn(some, name)
    return [0, 1].map((kind) => each.reduce((sum, counts) => sum + (counts[kind] ?? 0), 0))
  }
  const evict = async (name: string, some: readonly Page[]) => {
    const { id } = await product.service.devboxes.createAndAwaitRunning({ body: { name } })
    const eviction_deadline_ms = Date.now() + 900_000
    await product.service.evictions.schedule({ body: { devbox_id: id, eviction_deadline_ms } })
    for (const tab of some) await expect(tab).toHaveTitle(/^\(\d+\)/)
    await expect.poll(() => totals(some, name)).toEqual([1, 1])
    return { id, deadlineMs: eviction_deadline_ms }
  }

  const first = await evict('first-box', tabs)
  const bar = wrong.getByRole('region', { name: 'Pending evictions' })
  await expect(bar).toContainText('first-box')
  await expect.poll(() => countdownError(wrong, first.deadlineMs)).toBeLessThanOrEqual(1_500)

  const speaker = (await heardIn(tabs, 'first-box')).findIndex(([said = 0]) => said > 0)
  await tabs[speaker]?.close()
  const left = tabs.filter((_, index) => index !== speaker)
  // Hidden tabs announce it, too.
  for (const tab of left)
    await tab.evaluate(() => {
      Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => 'hidden' })
      document.dispatchEvent(new Event('visibilitychange'))
    })
  const second = await evict('second-box', left)
  expect(await totals(left, 'first-box')).toEqual([0, 0])
  const [shown] = left as [Page]
  await shown.evaluate(() => {
    Reflect.deleteProperty(document, 'visibilityState')
    document.dispatchEvent(new Event('visibilitychange'))
  })
  await expect.poll(() => countdownError(shown, first.deadlineMs)).toBeLessThanOrEqual(1_500)

  for (const { id } of [first, second]) await product.service.devboxes.shutdown({ params: { id } })
})

test('evictions of two drains are one toast, one message and two rows, acknowledged and suspended together', async ({
  page,
}) => {
  const boxes = Array.from({ length: 80 }, (_, n) => ({
    id: `dbx_${n}`,
    name: `worker-${n}`,
    node: n < 50 ? 'host-7' : 'host-8',
  }))
  const service = await startScriptedService(boxes)
  const messages: { event: string; alerts: unknown[]; text: string }[] = []
  const receiver = await startServer(async (request, response) => {
    messages.push(JSON.parse(await text(request)))
    response.end()
  })
  const product = await startProduct({
    DEVDECK_SERVICE_URL: service.url,
    DEVDECK_WEBHOOK_URL: receiver.url,
    DEVDECK_WEBHOOK_API_KEY: 'ak_any',
  })
  try {
    await signIn(page, { url: product.url, apiKey: 'ak_any' })
    await page.context().addCookies([{ name: 'devdeck-name', value: 'Ada', url: product.url }])
    await open(page, `${product.url}/evictions`)
    service.evictAll(Date.now() + 15 * 60_000)
    const rows = page.getByRole('table', { name: /^Alerts/ }).getByRole('row')
    await expect(rows).toHaveCount(3)
    const [first, second] = [
      page.getByRole('row', { name: /drain of host-7/ }),
      page.getByRole('row', { name: /drain of host-8/ }),
    ]
    await expect(first).toContainText('50 devboxes, drain of host-7')
    await expect(second).toContainText('30 devboxes, drain of host-8')
    await expect(page.getByRole('region', { name: 'Pending evictions' })).toContainText(
      /50 devboxes on host-7.*30 more/,
    )
    const toast = page.locator('[data-sonner-toast]')
    await expect(toast).toHaveCount(1)
    await expect(toast).toContainText('80 devboxes will be evicted')
    await expect.poll(() => messages.map(({ event, alerts }) => [event, alerts.length])).toEqual([['alert.raised', 80]])
    expect(messages[0]?.text).toMatch(/^80 alerts:\n50 devboxes on host-7 .*\n30 devboxes on host-8 .*$/)

    const group = first.getByRole('button', { name: '50 devboxes, drain of host-7' })
    await group.click()
    await expect(page.getByRole('row', { name: /worker-0 / })).toBeVisible()
    await first.getByRole('button', { name: 'Acknowledge 50 of 50 devboxes on host-7' }).click()
    await expect(first).toContainText('50 acknowledged by Ada (unverified)')
    await group.click()

    for (const n of [60, 70]) service.refusing.add(`dbx_${n}`)
    await second.getByRole('button', { name: 'More actions for 30 devboxes on host-8' }).click()
    await page.getByRole('menuitem', { name: 'Suspend 30 devboxes' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Suspend 30 devboxes' }).click()
    const result = toast.filter({ hasText: '28 of 30 devboxes suspending, 2 failed' })
    await expect(result.getByRole('list', { name: 'Failed' })).toContainText(/worker-[67]0: A snapshot is being taken/)
    await expect(second).toContainText('2 devboxes, drain of host-8')
    service.refusing.clear()
    await result.getByRole('button', { name: 'Retry 2' }).click()
    await expect(toast.filter({ hasText: '2 of 2 devboxes suspending' })).toBeVisible()
    await expect(page.getByRole('row', { name: /host-8/ })).toHaveCount(0)
  } finally {
    await product.stop()
    receiver.close()
    service.close()
  }
})
