import type { Browser, Page } from '@playwright/test'
import { freePort } from '#lib/service/testing/free-port.ts'
import { TestNetwork } from '#lib/terminal/page/testing.ts'
import { expect, type Product, signIn, startProduct, test } from './product.ts'
import { screenText, untilFocused, untilPrompt, untilText } from './terminal-page.ts'

// All tests share the network.
test.describe.configure({ mode: 'default' })

/** A console behind a network that can fail. */
const network = new TestNetwork(() => `http://127.0.0.1:${port}`)
let port = 0
let product: Product
test.beforeAll(async () => {
  port = await freePort()
  const url = await network.listen()
  product = await startProduct({ PORT: String(port), DEVDECK_ORIGIN: url })
})
test.afterAll(async () => {
  network.close()
  await product.stop()
})
test.beforeEach(() => network.mend())

const openTerminal = async (page: Page, name: string): Promise<string> => {
  await signIn(page, product)
  const { id } = await product.service.devboxes.createAndAwaitRunning({ body: { name } })
  await page.goto(`${product.url}/devboxes/${id}/terminal`)
  await untilPrompt(page)
  return id
}
const elsewhere = async (browser: Browser, id: string): Promise<Page> => {
  const page = await (await browser.newContext()).newPage()
  await signIn(page, product)
  await page.goto(`${product.url}/devboxes/${id}/terminal`)
  return page
}
const type = (page: Page, text: string) => page.keyboard.type(text)

test('input typed while disconnected is shown and sent on demand', async ({ page }) => {
  await openTerminal(page, 'lost')
  await type(page, 'echo before; kept=$$\n')
  await untilText(page, /^before$/m)
  network.break()
  await expect(page.getByText(/^Connection lost \d+ s ago/)).toBeVisible()
  await expect(page.getByRole('status').getByText(/Reconnecting…$/)).toBeAttached()
  await type(page, 'echo held-$((kept - $$))\n')
  const held = page.locator('[data-notice]').filter({ hasText: 'Not sent' })
  await expect(held).toContainText('echo held-$((kept - $$))⏎')
  await expect(page.getByRole('button', { name: /^Send 25 characters/ })).toHaveAttribute('aria-disabled', 'true')
  expect(await screenText(page)).toContain('before')

  // The page may reconnect and remove the button at any moment.
  const reconnect = await page.getByRole('button', { name: 'Reconnect now' }).elementHandle()
  network.mend()
  await reconnect?.evaluate((button) => (button as HTMLElement).click())
  await expect(page.getByText(/^Connection lost \d/)).toBeHidden()
  expect(await screenText(page)).not.toContain('held')
  await page.getByRole('button', { name: 'Send 25 characters' }).click()
  await untilText(page, /^held-0$/m)
  await expect(held).toBeHidden()
  await type(page, 'echo typed on\n')
  await untilText(page, /^typed on$/m)
})

test('a second window watches and takes over, and both show it', async ({ page, browser }) => {
  const id = await openTerminal(page, 'shared')
  const other = await elsewhere(browser, id)
  await expect(other.getByText(/is typing/).first()).toBeVisible()
  await other.locator('.xterm-screen').click()
  await type(other, 'x')
  await expect(other.getByText('Your input is ignored while you watch.')).toBeVisible()
  await expect(page.getByRole('button', { name: '2 viewers of this terminal' })).toBeVisible()

  await other.getByRole('button', { name: 'Take over', exact: true }).click()
  await expect(other.getByRole('button', { name: 'Take over', exact: true })).toBeHidden()
  await untilFocused(other)
  await type(other, 'echo mine now\n')
  await untilText(page, /^mine now$/m)
  await expect(page.getByText(/^Taken over by/)).toBeVisible()
  const sizeOf = (at: Page) => at.evaluate(() => `${window.term?.cols}x${window.term?.rows}`)
  await expect(async () => expect(await sizeOf(page)).toBe(await sizeOf(other))).toPass()
  await page.getByRole('button', { name: 'Take back' }).click()
  await expect(other.getByText(/^Taken over by/)).toBeVisible()
  expect(await screenText(page)).not.toMatch(/\$ x/)
  await other.context().close()
})

test('a reload keeps the writer role, a duplicated tab watches', async ({ page, context }) => {
  await openTerminal(page, 'twice')
  await type(page, 'kept=yes\n')
  await untilText(page, /kept=yes\n.*\$\s*$/)
  await page.reload()
  await untilPrompt(page)
  await type(page, 'echo [$kept]\n')
  await untilText(page, /^\[yes\]$/m)

  // A duplicated tab starts with a copy of the session storage.
  const [duplicate] = await Promise.all([context.waitForEvent('page'), page.evaluate(() => void open(location.href))])
  await expect(duplicate.getByText(/is typing/).first()).toBeVisible()
  await expect(page.getByText(/Taken over|opened elsewhere/)).toBeHidden()
})

test('an ended shell shows how it ended, and Enter starts another', async ({ page }) => {
  await openTerminal(page, 'ends')
  await type(page, 'echo last words; exit 3\n')
  await expect(page.getByText('The shell has ended with exit status 3.', { exact: true })).toBeVisible()
  await expect(page.getByRole('tab', { name: /ended 3/ })).toBeVisible()
  await expect(async () => {
    await page.keyboard.press('Enter')
    await expect(page.getByText('The shell has ended', { exact: false }).first()).toBeHidden({ timeout: 500 })
  }).toPass()
  await untilPrompt(page)
  await untilText(page, /^last words$[\s\S]*─ new shell ─/m)
})

test('the terminal counts down an eviction and returns with its devbox', async ({ page }) => {
  const id = await openTerminal(page, 'doomed')
  await type(page, 'echo before\n')
  await untilText(page, /^before$/m)
  const evict = (inMs: number) =>
    product.service.evictions.schedule({ body: { devbox_id: id, eviction_deadline_ms: Date.now() + inMs } })
  await evict(120_000)
  await expect(page.getByText(/^Eviction in 0\d:\d\d: the devbox will be suspended/)).toBeVisible()
  await evict(200)
  const notice = page.locator('[data-notice]')
  await expect(notice).toContainText('suspended')
  expect(await screenText(page)).toContain('before')
  await notice.getByRole('button', { name: 'Resume devbox' }).click()
  await expect(notice).toBeHidden()
  await untilText(page, /^before$[\s\S]*─ new shell ─[\s\S]*\$\s*$/m)
  await type(page, 'echo after\n')
  await untilText(page, /^after$/m)
})

test('the keyboard leaves the terminal for its notice or bar', async ({ page }) => {
  await openTerminal(page, 'left')
  await page.keyboard.press('Control+Shift+X')
  const back = page.getByRole('button', { name: 'Back to the terminal' })
  await expect(back).toBeFocused()
  await page.keyboard.press('Shift+Tab')
  await expect(back).not.toBeFocused()
  await expect(page.locator('.xterm-helper-textarea')).not.toBeFocused()
  await page.keyboard.press('Tab')
  await expect(back).toBeFocused()
  await page.keyboard.press('Enter')
  await expect(page.locator('.xterm-helper-textarea')).toBeFocused()
  network.break()
  await expect(page.getByText(/^Connection lost \d/)).toBeVisible()
  await page.keyboard.press('Control+Shift+X')
  await expect(page.getByRole('button', { name: 'Reconnect now' })).toBeFocused()
})
