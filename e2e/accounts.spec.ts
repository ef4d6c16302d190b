import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from '@playwright/test'
import { expect, type Product, signIn, startProduct, test } from './product.ts'

/** A service with one account per key that records the axons each creates. */
const made: string[] = []
let service: Server
let front: Product

test.beforeAll(async () => {
  service = createServer(async (request, response) => {
    const id = (request.headers.authorization ?? '').replace('Bearer ', '')
    response.setHeader('content-type', 'application/json')
    const path = request.url?.replace(/\?.*/, '')
    const axon = { id: 'axn_1', name: `axon-of-${id}`, metadata: {}, created_at_ms: Date.now() }
    if (path === '/v1/accounts/me') return response.end(JSON.stringify({ id, name: `Account ${id}` }))
    if (path !== '/v1/axons') return response.writeHead(404).end('{"code":"not_found","message":"no"}')
    if (request.method === 'GET') return response.end(JSON.stringify({ axons: [axon], has_more: false }))
    const { name } = JSON.parse(Buffer.concat(await request.toArray()).toString())
    made.push(`${id} ${name}`)
    response.end(JSON.stringify({ ...axon, name }))
  }).listen(0, '127.0.0.1')
  await once(service, 'listening')
  front = await startProduct({ DEVDECK_SERVICE_URL: `http://127.0.0.1:${(service.address() as AddressInfo).port}` })
})

test.afterAll(async () => {
  await front.stop()
  service.closeAllConnections()
  service.close()
})

const signInAs = (page: Page, apiKey: string) => signIn(page, { url: front.url, apiKey })

const typeAxon = async (page: Page, name: string) => {
  await page.goto(`${front.url}/axons`)
  await expect(page.getByText('axon-of-one').first()).toBeVisible()
  await page.getByRole('button', { name: 'Create axon' }).first().click()
  const dialog = page.getByRole('dialog', { name: 'Create axon' })
  await dialog.getByRole('textbox', { name: /^Name/ }).fill(name)
  return dialog
}

test('two accounts are used side by side: the header names them, and older tabs keep their own', async ({
  page,
  context,
}) => {
  await signInAs(page, 'one')
  const dialog = await typeAxon(page, 'still-of-one')
  const tab = await context.newPage()
  await tab.goto(front.url)
  await tab.getByRole('button', { name: 'Account Account one' }).click()
  await tab.getByRole('menuitem', { name: 'Add account' }).click()
  await tab.getByLabel('API key').fill('two')
  await tab.getByRole('button', { name: 'Add account' }).click()
  await expect(tab.getByRole('banner').getByText('Account two', { exact: true })).toBeVisible()
  await tab.goto(`${front.url}/axons`)
  await expect(tab.getByText('axon-of-two').first()).toBeVisible()

  await dialog.getByRole('button', { name: 'Create axon' }).click()
  await expect(dialog).toBeHidden()
  expect(made).toEqual(['one still-of-one'])

  await tab.getByRole('button', { name: 'Account Account two' }).click()
  await tab.getByRole('menuitem', { name: 'Switch to Account one' }).click()
  await expect(tab.getByRole('banner').getByText('Account one', { exact: true })).toBeVisible()
  await tab.getByRole('button', { name: 'Account Account one' }).click()
  await tab.getByRole('menuitem', { name: 'Sign out of Account one' }).click()
  await expect(tab.getByRole('button', { name: 'Account Account two' })).toBeVisible()
  await tab.getByRole('button', { name: 'Account Account two' }).click()
  await tab.getByRole('menuitem', { name: 'Sign out', exact: true }).click()
  await expect(tab).toHaveURL(/\/sign-in/)
})
