import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestService } from '#lib/service/testing/service.ts'
import { expect, isLive, open, type Product, signIn, test } from './product.ts'
import { type SignOnProduct, startSignOnProduct } from './sign-on-product.ts'

const people = {
  ann: { email: 'ann@example.com', email_verified: true, groups: ['on-call'] },
  bob: { name: 'Bob', groups: ['elsewhere'] },
}
const secrets = {
  DEVDECK_SESSION_SECRET: randomBytes(32).toString('base64'),
  DEVDECK_WEBHOOK_URL: 'http://127.0.0.1:9/the-path-of-a-webhook',
  DEVDECK_WEBHOOK_SECRET: 'the-secret-of-the-webhook',
  DEVDECK_WEBHOOK_API_KEY: 'ak_of_the_webhook',
}
let service: TestService
let front: Product
let product: SignOnProduct

test.beforeAll(async () => {
  product = await startSignOnProduct(
    people,
    (serviceKey) => [{ claim: 'groups', value: 'on-call', api_key: serviceKey }],
    secrets,
  )
  ;({ service, front } = product)
})
test.afterAll(() => product.stop())

test('single sign-on returns to the requested page and names the person in the activity', async ({ page }) => {
  await page.goto(`${front.url}/axons?search=none`)
  await page.getByRole('link', { name: /^Sign in with localhost:/ }).click()
  await expect(page).toHaveTitle('Who are you?')
  await page.getByRole('link', { name: 'Cancel' }).click()
  await expect(page.getByText('The identity provider did not sign you in')).toBeVisible()
  await page.getByRole('link', { name: /^Sign in with/ }).click()
  await page.getByRole('link', { name: 'bob' }).click()
  await expect(page.getByText("You don't have an account here")).toBeVisible()
  await page.context().clearCookies()
  await page.getByRole('link', { name: /^Sign in with/ }).click()
  await page.getByRole('link', { name: 'ann' }).click()
  await expect(page).toHaveURL(`${front.url}/axons?search=none`)
  await expect(page.getByRole('heading', { name: 'Axons', exact: true })).toBeVisible()

  await open(page, `${front.url}/axons`)
  await page.getByRole('button', { name: 'Create axon' }).first().click()
  const dialog = page.getByRole('dialog', { name: 'Create axon' })
  await dialog.getByRole('textbox', { name: /^Name/ }).fill('made-by-ann')
  await dialog.getByRole('button', { name: 'Create axon' }).click()
  await expect(dialog).toBeHidden()
  await open(page, `${front.url}/activity`)
  await expect(page.getByRole('row', { name: /axons\.create/ })).toContainText('ann@example.com')
  await page.getByRole('button', { name: /^Account/ }).click()
  await expect(page.getByText('Signed in as ann@example.com')).toBeVisible()
})

test("the console's environment contains no secrets", () => {
  const processes = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  const parentOf = (pid: string) => /\) \S (\d+)/.exec(readProcess(pid, 'stat'))?.[1] ?? '0'
  const isOfFront = (pid: string): boolean => pid === String(front.pid) || (pid !== '0' && isOfFront(parentOf(pid)))
  const [console_] = processes.filter((pid) => readProcess(pid, 'cmdline').includes('server.ts') && isOfFront(pid))
  const environment = readProcess(console_ ?? '', 'environ')
  expect(environment).toContain('DEVDECK_OIDC_ISSUER=')
  expect(environment).not.toMatch(/SECRET|WEBHOOK/)
})

/** Empty if the process has ended. */
const readProcess = (pid: string, file: string): string => {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1')
  } catch {
    return ''
  }
}

test('single sign-on keeps an account that is already signed in', async ({ page }) => {
  await signIn(page, { url: front.url, apiKey: service.otherKey })
  await page.goto(`${front.url}/sign-in?add`)
  await page.getByRole('link', { name: /^Sign in with/ }).click()
  await page.getByRole('link', { name: 'ann' }).click()
  await expect(page).toHaveURL(`${front.url}/`)
  await isLive(page)
  await page.getByRole('button', { name: /^Account/ }).click()
  await expect(page.getByText('Signed in as ann@example.com')).toBeVisible()
  await expect(page.getByRole('menuitem', { name: /^Switch to/ })).toHaveCount(1)
})

test('a link from another site opens the page without starting sign-on', async ({ page }) => {
  await signIn(page, { url: front.url, apiKey: service.key })
  const chat = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/html' })
    response.end(
      `<a href="${front.url}/axons?search=from-chat">eviction</a> <a href="${front.url}/sign-in/sso">free gift</a>`,
    )
  }).listen(0, '127.0.0.1')
  await once(chat, 'listening')
  const chatUrl = `http://localhost:${(chat.address() as AddressInfo).port}`
  await page.goto(chatUrl)
  await page.getByRole('link', { name: 'eviction' }).click()
  await expect(page).toHaveURL(`${front.url}/axons?search=from-chat`)
  await expect(page.getByRole('heading', { name: 'Axons', exact: true })).toBeVisible()
  await page.goto(chatUrl)
  await page.getByRole('link', { name: 'free gift' }).click()
  await expect(page).toHaveURL(`${front.url}/sign-in`)
  await expect(page.getByRole('link', { name: /^Sign in with/ })).toBeVisible()
  chat.closeAllConnections()
  chat.close()
})
