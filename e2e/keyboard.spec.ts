import type { Locator, Page } from '@playwright/test'
import { hasJobEnded } from '#lib/contract/benchmark-jobs.ts'
import { expect, isLive, test } from './product.ts'
import { finishedJob, makeScenarios, startJob } from './small-jobs.ts'

// Only keys are pressed here: no clicks, and no focus that Tab didn't set.
test.use({ journeys: 'keyboard' })

/** Presses Tab (or Shift+Tab) until the control has the focus, and checks that the focus is visible. */
const tabTo = async (control: Locator, key: 'Tab' | 'Shift+Tab' = 'Tab') => {
  await expect(control).toBeVisible()
  for (let presses = 0; presses < 150; presses++) {
    const focus = await control.evaluate((element) => {
      if (element !== document.activeElement) return 'elsewhere'
      // Links of rows draw their outline around the row.
      const styles = [getComputedStyle(element), getComputedStyle(element, '::after')]
      const isVisible = styles.some(({ outlineStyle, boxShadow }) => outlineStyle !== 'none' || boxShadow !== 'none')
      return isVisible ? 'visible' : 'invisible'
    })
    if (focus === 'invisible') throw new Error(`${control} shows no focus`)
    if (focus === 'visible') return
    await control.page().keyboard.press(key)
  }
  throw new Error(`${key} doesn't reach ${control}`)
}

const press = async (control: Locator, key = 'Enter') => {
  await tabTo(control)
  await control.page().keyboard.press(key)
}

const type = async (control: Locator, text: string) => {
  await tabTo(control)
  await control.page().keyboard.type(text)
}

/** Walks an open menu to an item and chooses it. */
const choose = async (page: Page, item: string) => {
  await expect(page.getByRole('menu').locator(':focus')).toBeVisible()
  const wanted = page.getByRole('menu').locator('[role^=menuitem]').filter({ hasText: item })
  await expect(wanted).toBeVisible()
  while (!(await wanted.evaluate((element) => element === document.activeElement)))
    await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
}

test('with keys alone: a wrong key, the right one, the theme, and out again', async ({ page, product }) => {
  await page.goto(`${product.url}/sign-in`)
  const key = page.getByLabel('API key')
  await expect(key).toBeFocused()
  await page.keyboard.type('ak_wrong')
  await page.keyboard.press('Enter')
  await expect(page.getByText('Invalid API key.')).toBeVisible()
  await tabTo(key)
  await page.keyboard.press('Control+a')
  await page.keyboard.type(product.apiKey)
  await page.keyboard.press('Enter')
  await page.waitForURL(`${product.url}/`)
  await isLive(page)

  await press(page.getByRole('button', { name: 'Theme' }))
  await choose(page, 'Dark theme')
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark')

  await press(page.getByRole('button', { name: 'Account' }))
  await choose(page, 'Sign out')
  await page.waitForURL(/\/sign-in/)
})

test('with keys alone: an eviction drill from its start to its end', async ({ signedIn: page, product }) => {
  const { id } = await product.service.devboxes.createAndAwaitRunning({ body: { name: 'keyed-box' } })
  await page.goto(`${product.url}/evictions`)
  await isLive(page)
  await press(page.getByRole('button', { name: 'Start drill' }))
  const dialog = page.getByRole('dialog')
  await expect(dialog.getByLabel('Devbox')).toHaveValue(id)
  await press(dialog.getByRole('button', { name: 'Start drill' }))
  await expect(dialog).toBeHidden()
  const row = page.getByRole('row', { name: /keyed-box/ })
  await press(row.getByRole('button', { name: 'Acknowledge' }))
  await expect(row).toContainText('Acknowledged')
  await press(row.getByRole('button', { name: 'More actions for keyed-box' }))
  await choose(page, 'Cancel drill')
  await expect(row).toHaveCount(0)
})

test('with keys alone: two jobs are compared, and a scenario side by side', async ({ signedIn: page, product }) => {
  const scenarios = await makeScenarios(product, ['scenario 0', 'scenario 1'])
  await finishedJob(product, 'keyed before', scenarios, [1, 0])
  await finishedJob(product, 'keyed after', scenarios, [1, 1])
  await page.goto(`${product.url}/benchmark-jobs`)
  await isLive(page)
  await press(page.getByRole('checkbox', { name: 'Select keyed after' }), 'Space')
  await press(page.getByRole('checkbox', { name: 'Select keyed before' }), 'Space')
  await press(page.getByRole('button', { name: 'Compare jobs' }))
  await page.waitForURL(/\/benchmark-jobs\/compare\?jobs=/)
  await press(page.getByRole('link', { name: 'Side by side' }).first())
  await page.waitForURL(/side-by-side/)
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
})

test('with keys alone: a running job is found, opened and canceled', async ({ signedIn: page, product }) => {
  const job = await startJob(product, 'keyed job', await makeScenarios(product, ['endless']), 'sleep infinity')
  await page.goto(`${product.url}/benchmark-jobs`)
  await isLive(page)
  await page.keyboard.press('/')
  await expect(page.getByRole('searchbox')).toBeFocused()
  await page.keyboard.type('keyed job')
  await expect(page.getByText('Showing 1 of 1')).toBeVisible()
  await press(page.getByRole('link', { name: 'keyed job', exact: true }))
  await press(page.getByRole('button', { name: 'Cancel job' }))
  await press(page.getByRole('dialog').getByRole('button', { name: 'Cancel job' }))
  await expect.poll(async () => hasJobEnded((await job.read()).state)).toBe(true)
  await expect(page.getByRole('button', { name: 'Cancel job' })).toHaveCount(0)
})

test('with keys alone: an axon is created and given an event', async ({ signedIn: page, product }) => {
  await page.goto(`${product.url}/axons`)
  await isLive(page)
  await press(page.getByRole('button', { name: 'Create axon' }).first())
  const dialog = page.getByRole('dialog')
  await type(dialog.getByRole('textbox', { name: /^Name/ }), 'keyed axon')
  await page.keyboard.press('Enter')
  await expect(dialog).toBeHidden()
  await press(page.getByRole('link', { name: 'keyed axon', exact: true }))
  await expect(page.getByRole('heading', { level: 1, name: 'keyed axon' })).toBeVisible()
  await press(page.getByRole('link', { name: 'Events', exact: true }))
  await press(page.getByRole('button', { name: 'Publish event' }))
  await type(page.getByRole('textbox', { name: 'Type', exact: true }), 'note')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('main').getByText('note', { exact: true }).first()).toBeVisible()
})
