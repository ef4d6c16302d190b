import type { Locator, Page } from '@playwright/test'
import { hasJobEnded } from '#lib/contract/benchmark-jobs.ts'
import { expect, isLive, test } from './product.ts'
import { finishedJob, makeScenarios, startJob } from './small-jobs.ts'
import { untilFocused, untilPrompt, untilText } from './terminal-page.ts'

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

test('by keyboard: a wrong key, the right one, the theme, and signing out', async ({ page, product }) => {
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

test('by keyboard: an eviction drill from its start to its end', async ({ signedIn: page, product }) => {
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

test('by keyboard: two jobs are compared, and a scenario side by side', async ({ signedIn: page, product }) => {
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

test('by keyboard: a running job is found, opened and canceled', async ({ signedIn: page, product }) => {
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

test('by keyboard: an axon is created and given an event', async ({ signedIn: page, product }) => {
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

test('by keyboard: a devbox is created, and its terminal entered and left', async ({ signedIn: page, product }) => {
  await page.goto(`${product.url}/devboxes`)
  await isLive(page)
  await press(page.getByRole('button', { name: 'Create devbox', exact: true }).first())
  await type(page.getByRole('dialog').getByRole('textbox', { name: /^Name/ }), 'keyed terminal')
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/devboxes\/dbx_\w+\/terminal/)
  await untilPrompt(page)
  await page.keyboard.type('echo $((40+2))\n')
  await untilText(page, /^42$/m)
  await page.keyboard.press('Control+Shift+X')
  await expect(page.getByRole('button', { name: 'Back to the terminal' })).toBeFocused()
  await page.keyboard.press('Enter')
  await untilFocused(page)
  await page.keyboard.press('Control+Shift+X')
  await press(page.getByRole('navigation', { name: 'Devbox' }).getByRole('link', { name: 'Overview' }), 'Enter')
  await expect(page.getByRole('heading', { level: 1, name: 'keyed terminal' })).toBeVisible()
})

test('by keyboard: a command is run, read and killed', async ({ signedIn: page, product }) => {
  const { id } = await product.service.devboxes.createAndAwaitRunning({ body: { name: 'keyed commands' } })
  await page.goto(`${product.url}/devboxes/${id}/commands`)
  await isLive(page)
  await type(page.getByRole('textbox', { name: 'Command', exact: true }), 'echo started; sleep infinity')
  await page.keyboard.press('Control+Enter')
  const output = page.getByRole('log', { name: 'Output' })
  await expect(output).toContainText('started')
  await tabTo(output)
  await press(page.getByRole('button', { name: 'Kill command' }))
  await expect(page.getByText('Exit 137 (SIGKILL)', { exact: true })).toBeVisible()
})

test('by keyboard: a file is opened, edited and saved', async ({ signedIn: page, product }) => {
  const { devboxes, files } = product.service
  const { id } = await devboxes.createAndAwaitRunning({ body: { name: 'keyed files' } })
  await files.write({ params: { id }, body: { file_path: 'note.txt', contents: 'first\n' } })
  await page.goto(`${product.url}/devboxes/${id}/files`)
  await isLive(page)
  await press(page.getByRole('row').getByRole('link', { name: 'note.txt' }))
  await press(page.getByRole('button', { name: 'Edit file' }))
  const text = page.getByRole('textbox', { name: 'Text of note.txt' })
  await expect(text).toBeFocused()
  await page.keyboard.type('zeroth ')
  // The editor takes Tab until Escape.
  await page.keyboard.press('Escape')
  await press(page.getByRole('button', { name: 'Save file' }))
  await expect(page.getByRole('region', { name: 'Text of note.txt' })).toContainText('zeroth first')
  await page.keyboard.press('Backspace')
  await expect(page.getByRole('row').getByRole('link', { name: 'note.txt' })).toBeFocused()
})

test('by keyboard: a snapshot is taken, and a devbox created from it', async ({ signedIn: page, product }) => {
  const { id } = await product.service.devboxes.createAndAwaitRunning({ body: { name: 'keyed source' } })
  await page.goto(`${product.url}/devboxes/${id}`)
  await isLive(page)
  await press(page.getByRole('button', { name: 'More actions' }))
  await choose(page, 'Take snapshot')
  const dialog = page.getByRole('dialog')
  await type(dialog.getByRole('textbox', { name: /^Name/ }), 'keyed snapshot')
  await page.keyboard.press('Enter')
  await expect(page.getByText('Snapshot keyed snapshot is ready')).toBeVisible()
  await press(page.getByRole('navigation', { name: 'Devbox' }).getByRole('link', { name: 'Snapshots' }))
  await press(page.getByRole('main').getByRole('button', { name: 'Create devbox' }).last())
  await expect(dialog.getByRole('combobox', { name: 'Source' })).toHaveValue('snapshot')
  await type(dialog.getByRole('textbox', { name: /^Name/ }), 'keyed restore')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { level: 1, name: 'keyed restore' })).toBeVisible()
})

test('by keyboard: a secret is created, found in a sorted list, and deleted', async ({ signedIn: page, product }) => {
  for (const name of ['KEYED_A', 'KEYED_C']) await product.service.secrets.create({ body: { name, value: name } })
  await page.goto(`${product.url}/settings/secrets`)
  await isLive(page)
  await press(page.getByRole('button', { name: 'Create secret' }).first())
  const dialog = page.getByRole('dialog')
  await type(dialog.getByRole('textbox', { name: 'Name' }), 'KEYED_B')
  await type(dialog.getByRole('textbox', { name: 'Value' }), 'value')
  await press(dialog.getByRole('button', { name: 'Create secret' }))
  await expect(dialog).toBeHidden()
  await press(page.getByRole('columnheader', { name: 'Name' }).getByRole('button'))
  await expect(page.getByRole('columnheader', { name: 'Name' })).toHaveAttribute('aria-sort', /ascending|descending/)
  await page.keyboard.press('/')
  await expect(page.getByRole('searchbox')).toBeFocused()
  await page.keyboard.type('keyed_b')
  await expect(page.getByText('Showing 1 of 3')).toBeVisible()
  await press(page.getByRole('button', { name: 'KEYED_B', exact: true }))
  await press(dialog.getByRole('button', { name: 'Delete secret' }))
  await press(page.getByRole('dialog', { name: 'Delete KEYED_B?' }).getByRole('button', { name: 'Delete secret' }))
  await expect(page.getByRole('button', { name: 'KEYED_B', exact: true })).toHaveCount(0)
  await expect.poll(() => page.evaluate(() => document.activeElement?.tagName)).not.toBe('BODY')
})
