import type { Page } from '@playwright/test'
import { expect, isLive, signIn, test } from './product.ts'
import { finishedJob, makeScenarios } from './small-jobs.ts'
import { untilPrompt } from './terminal-page.ts'

/**
 * KiB of JavaScript, compressed as Chromium downloads it, that a page may take until it rests: what it needs to be drawn
 * and to live, and nothing that only a press or a key asks for. A page that needs more has to say so here. The goals are
 * 160 for sign-in, 215 for lists, 235 for a devbox and 330 for a terminal; what a page takes beyond its goal is owed.
 */
const budgets = [
  { name: 'sign-in', path: '/sign-in', budgetKiB: 162 },
  { name: 'overview', path: '/', budgetKiB: 222 },
  { name: 'axons', path: '/axons', budgetKiB: 237 },
  { name: 'devboxes', path: '/devboxes', budgetKiB: 238 },
  { name: 'snapshots', path: '/snapshots', budgetKiB: 232 },
  { name: 'benchmark jobs', path: '/benchmark-jobs', budgetKiB: 236 },
  { name: 'benchmark job', path: '/benchmark-jobs/{job}', budgetKiB: 253 },
  { name: 'benchmark runs', path: '/benchmark-runs', budgetKiB: 236 },
  { name: 'trend', path: '/benchmark-jobs/trend', budgetKiB: 232 },
  { name: 'scenarios', path: '/benchmarks/scenarios', budgetKiB: 234 },
  { name: 'settings', path: '/settings', budgetKiB: 188 },
  { name: 'recordings', path: '/recordings', budgetKiB: 225 },
  { name: 'axon', path: '/axons/{axon}', budgetKiB: 216 },
  { name: 'devbox', path: '/devboxes/{devbox}', budgetKiB: 232 },
  { name: 'terminal', path: '/devboxes/{devbox}?tab=terminal', budgetKiB: 364 },
]

// An alert that another journey left would load on every page.
test.use({ journeys: 'first loads' })

test('every page loads within its budget of JavaScript', async ({ browser, product }) => {
  const { service } = product
  const devbox = await service.devboxes.createAndAwaitRunning({ body: { name: 'first-load' } })
  const axon = await service.axons.create({ body: { name: 'first-load' } })
  // As many scenarios as keep what stands below the grid out of sight, as in most jobs.
  const names = Array.from({ length: 12 }, (_, number) => `first-load ${number}`)
  const job = await finishedJob(
    product,
    'first-load',
    await makeScenarios(product, names),
    names.map(() => 1),
  )
  const signedIn = await browser.newContext()
  await signIn(await signedIn.newPage(), product)
  const storageState = await signedIn.storageState()
  const over: string[] = []
  for (const { name, path, budgetKiB } of budgets) {
    // A context of its own: nothing comes from the cache.
    const context = await browser.newContext(name === 'sign-in' ? {} : { storageState })
    const page = await context.newPage()
    const loaded = countScripts(page)
    await page.goto(product.url + path.replace('{devbox}', devbox.id).replace('{axon}', axon.id).replace('{job}', job))
    if (name === 'terminal') await untilPrompt(page)
    else await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
    await page.waitForLoadState('networkidle')
    const kiB = (await loaded()) / 1024
    console.log(`${name}: ${kiB.toFixed(1)} of ${budgetKiB} KiB`)
    if (kiB > budgetKiB) over.push(`${name} loads ${kiB.toFixed(1)} KiB of JavaScript, more than ${budgetKiB}`)
    await context.close()
  }
  expect(over).toEqual([])
})

test('what loads on use opens at the first key or press, and gives the focus back', async ({
  signedIn: page,
  product,
}) => {
  await page.goto(`${product.url}/devboxes`)
  // The stream is followed once the page takes keys.
  await isLive(page)
  const held = Promise.withResolvers<void>()
  await page.route('**/_next/static/**', async (route) => {
    await held.promise
    await route.continue()
  })
  await page.keyboard.press('Control+k')
  await page.keyboard.type('ax')
  held.resolve()
  const palette = page.getByRole('dialog', { name: 'Command palette' }).getByRole('combobox')
  await expect(palette).toBeFocused()
  await page.keyboard.type('on')
  await expect(palette).toHaveValue('axon')
  await page.unroute('**/_next/static/**')
  await page.keyboard.press('Escape')
  await page.keyboard.press('?')
  await expect(page.getByRole('dialog', { name: 'Keyboard shortcuts' })).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(page.getByRole('dialog')).toHaveCount(0)

  const account = page.getByRole('button', { name: /^Account / })
  await account.focus()
  await page.keyboard.press('Enter')
  await expect(page.getByRole('menuitem', { name: 'Keyboard shortcuts' })).toBeFocused()
  await page.keyboard.press('Escape')
  await expect(account).toBeFocused()
  await account.click()
  await expect(page.getByRole('menu', { name: 'Account' })).toBeVisible()
  await account.click()
  await expect(page.getByRole('menu')).toHaveCount(0)

  const create = page.getByRole('button', { name: 'Create devbox' }).first()
  await create.click()
  const name = page.getByRole('dialog').getByLabel(/^Name/)
  await name.fill('typed before')
  await page.keyboard.press('Escape')
  await expect(create).toBeFocused()
  await create.click()
  await expect(name).toHaveValue('typed before')
})

/** Bytes of the scripts that come over the network to `page` from now on, as they are sent. */
const countScripts = (page: Page) => {
  const sizes: Promise<number>[] = []
  page.on('requestfinished', (request) => {
    const size = async () => {
      const type = (await request.response())?.headers()['content-type'] ?? ''
      return type.includes('javascript') ? (await request.sizes()).responseBodySize : 0
    }
    sizes.push(size())
  })
  return async () => (await Promise.all(sizes)).reduce((sum, bytes) => sum + bytes, 0)
}
