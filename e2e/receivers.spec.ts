import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import AxeBuilder from '@axe-core/playwright'
import { test as base } from '@playwright/test'
import { expect, open, type Product, signIn, startProduct } from './product.ts'

interface Message {
  path: string
  signature: string | undefined
  body: { event: string; text: string }
}

/** Refuses what is sent to `/refuse`. */
const startReceiver = async () => {
  const messages: Message[] = []
  const server = createServer(async (request, response) => {
    const path = request.url ?? ''
    messages.push({
      path,
      signature: request.headers['devdeck-signature']?.toString(),
      body: JSON.parse(await text(request)),
    })
    response.writeHead(path === '/refuse' ? 403 : 204).end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const received = (event: string) => messages.filter(({ path, body }) => path === '/accept' && body.event === event)
  return { url: `http://127.0.0.1:${port}`, received, stop: () => server.close().closeAllConnections() }
}

const test = base.extend<{ product: Product; receiver: Awaited<ReturnType<typeof startReceiver>> }>({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright requires destructuring
  product: async ({}, use) => {
    const product = await startProduct({ DEVDECK_PRIVATE_RECEIVERS: '1' })
    await use(product)
    await product.stop()
  },
  // biome-ignore lint/correctness/noEmptyPattern: Playwright requires destructuring
  receiver: async ({}, use) => {
    const receiver = await startReceiver()
    await use(receiver)
    receiver.stop()
  },
})

const hostileName = 'night \u202e<img src=x onerror="document.title=1">'

test('a receiver is added, fails, is fixed, gets a drill, is paused and deleted', async ({
  page,
  product,
  receiver,
}) => {
  await product.service.devboxes.createAndAwaitRunning({ body: { name: 'paged-box', metadata: { team: 'core' } } })
  await signIn(page, product)
  await open(page, `${product.url}/evictions`)
  const section = page.getByRole('region', { name: 'Receivers' })
  const row = section.getByRole('listitem').filter({ hasText: 'night' }).first()
  const dialog = page.getByRole('dialog')
  await expect(section).toContainText('Until you add one, alerts only reach open pages')

  // Only with the keyboard.
  await section.getByRole('button', { name: 'Add receiver' }).press('Enter')
  await dialog.getByLabel('Name').fill(hostileName)
  await dialog.getByLabel('URL').fill('ftp://example.com')
  await dialog.getByLabel('Signing secret').fill('signed')
  await dialog.getByLabel('URL').press('Enter')
  await expect(dialog.getByLabel('URL')).toHaveAccessibleDescription(/must be an http/)
  await expect(dialog.getByLabel('URL')).toBeFocused()
  await page.keyboard.press('Control+a')
  await page.keyboard.type(`${receiver.url}/refuse`)
  await page.keyboard.press('Enter')
  await expect(dialog).toBeHidden()
  await expect(row).toContainText(`JSON webhook to ${new URL(receiver.url).host}: all alerts`)
  await expect(row).toContainText('night <img')
  await expect(row.getByRole('img')).toHaveCount(0)

  await row.getByRole('button', { name: 'Test' }).press('Enter')
  await expect(row).toContainText(/Failing since .*: HTTP 403/)
  const deliveries = row.getByRole('region', { name: /Latest deliveries/ })
  await expect(deliveries.getByRole('listitem').first()).toContainText(/Test message.*HTTP 403/)
  expect(
    (await new AxeBuilder({ page }).setLegacyMode().include('[aria-labelledby=receivers]').analyze()).violations,
  ).toEqual([])
  await page.goto(product.url)
  await expect(page.getByRole('region', { name: 'Needs attention' })).toContainText('Receiver failing')
  await page.getByRole('banner').getByRole('link', { name: 'Receiver failing' }).click()
  await expect(section).toBeInViewport()

  await row.getByRole('button', { name: /^More actions/ }).click()
  await page.getByRole('menuitem', { name: 'Edit' }).click()
  await expect(dialog.getByLabel('URL')).toHaveValue('')
  await expect(dialog.getByLabel('Signing secret')).toHaveAttribute('placeholder', 'Unchanged')
  await dialog.getByLabel('URL').fill(`${receiver.url}/accept`)
  await dialog.getByRole('button', { name: 'Add metadata' }).click()
  await page.keyboard.type('team')
  await dialog.getByLabel('Metadata: value 1').fill('core')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await expect(row).toContainText('team=core')
  await row.getByRole('button', { name: 'Test' }).click()
  await expect(row).toContainText('Delivering')
  await expect(page.getByRole('banner').getByRole('link', { name: 'Receiver failing' })).toHaveCount(0)
  expect(receiver.received('alert.test')).toHaveLength(1)

  await page.getByRole('button', { name: 'Start drill' }).click()
  await dialog.getByLabel('Deadline').selectOption('in 15 minutes')
  await dialog.getByRole('button', { name: 'Start drill' }).click()
  await expect.poll(() => receiver.received('alert.raised')).toHaveLength(1)
  expect(receiver.received('alert.raised')[0]).toMatchObject({
    signature: expect.stringMatching(/^t=\d+,v1=[0-9a-f]{64}$/),
    body: { text: expect.stringMatching(/^Drill: Devbox paged-box/) },
  })
  await page.getByRole('button', { name: 'More actions for paged-box' }).click()
  await page.getByRole('menuitem', { name: 'Details' }).click()
  await page
    .getByRole('main')
    .getByRole('link', { name: /^night/ })
    .click()
  await expect(section).toBeInViewport()

  await page.setViewportSize({ width: 390, height: 844 })
  await expect(row).toContainText('last')
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0)
  const more = row.getByRole('button', { name: /^More actions/ })
  await more.press('Enter')
  await page.getByRole('menuitem', { name: 'Pause' }).press('Enter')
  await expect(row).toContainText('Paused')
  await expect(more).toBeFocused()
  await more.press('Enter')
  await page.getByRole('menuitem', { name: 'Delete' }).press('Enter')
  await expect(dialog).toContainText('gets no more alerts')
  await dialog.getByRole('button', { name: 'Delete receiver' }).press('Enter')
  await expect(section).toContainText('Until you add one')
})
