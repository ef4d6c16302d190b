import type { Page, Request } from '@playwright/test'
import { expect, isLive, signIn, test } from './product.ts'
import { finishedJob, makeScenarios } from './small-jobs.ts'
import { untilPrompt } from './terminal-page.ts'

/** Compressed JavaScript that each page may load before it rests, in KiB. */
const budgets = {
  '/sign-in': 180,
  '/': 270,
  '/axons': 280,
  '/devboxes': 280,
  '/snapshots': 280,
  '/benchmark-jobs': 280,
  '/benchmark-jobs/{job}': 320,
  '/benchmark-runs': 280,
  '/benchmark-jobs/trend': 270,
  '/benchmarks/scenarios': 280,
  '/settings': 270,
  '/recordings': 270,
  '/axons/{axon}': 270,
  '/devboxes/{devbox}': 270,
  '/devboxes/{devbox}/terminal': 380,
}

// An alert that another journey left would load on every page.
test.use({ journeys: 'first loads' })

test('every page loads within its JavaScript budget', async ({ page, product }) => {
  const { service } = product
  const devbox = await service.devboxes.createAndAwaitRunning({ body: { name: 'first-load' } })
  const axon = await service.axons.create({ body: { name: 'first-load' } })
  // Enough scenarios that the parts below the grid are out of view, as in most jobs.
  const names = Array.from({ length: 12 }, (_, number) => `first-load ${number}`)
  const job = await finishedJob(
    product,
    'first-load',
    await makeScenarios(product, names),
    names.map(() => 1),
  )
  // Nothing comes from the cache: a page of its own for each would start a process for each.
  const network = await page.context().newCDPSession(page)
  await network.send('Network.enable')
  await network.send('Network.setCacheDisabled', { cacheDisabled: true })
  const over: string[] = []
  for (const [path, budget] of Object.entries(budgets)) {
    // Pending loads of the previous page don't count.
    await page.goto('about:blank')
    const loaded = countScripts(page)
    await page.goto(product.url + path.replace('{devbox}', devbox.id).replace('{axon}', axon.id).replace('{job}', job))
    if (path.endsWith('terminal')) await untilPrompt(page)
    else await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
    await page.waitForLoadState('networkidle')
    const kiB = (await loaded()) / 1024
    console.log(`${path}: ${kiB.toFixed(1)} of ${budget} KiB`)
    if (kiB > budget) over.push(`${path} loads ${kiB.toFixed(1)} KiB of JavaScript`)
    if (path === '/sign-in') await signIn(page, product)
  }
  expect(over).toEqual([])
})

test('dialogs and menus open at the first key press or click and restore focus', async ({
  signedIn: page,
  product,
}) => {
  await page.goto(`${product.url}/devboxes`)
  // The stream is followed once the page takes keys.
  await isLive(page)
  const account = page.getByRole('button', { name: /^Account / })
  await account.focus()
  await page.keyboard.press('Control+k')
  const palette = page.getByRole('dialog', { name: 'Command palette' }).getByRole('combobox')
  await expect(palette).toBeFocused()
  await page.keyboard.type('axon')
  await expect(palette).toHaveValue('axon')
  await page.keyboard.press('Escape')
  await expect(account).toBeFocused()
  await page.keyboard.press('?')
  await expect(page.getByRole('dialog', { name: 'Keyboard shortcuts' })).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(account).toBeFocused()

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

/** Counts the transferred bytes of scripts until the returned function is called. */
const countScripts = (page: Page) => {
  const sizes: Promise<number>[] = []
  const count = (request: Request) => {
    const size = async () => {
      const type = (await request.response())?.headers()['content-type'] ?? ''
      return type.includes('javascript') ? (await request.sizes()).responseBodySize : 0
    }
    sizes.push(size())
  }
  page.on('requestfinished', count)
  return async () => {
    page.off('requestfinished', count)
    return (await Promise.all(sizes)).reduce((sum, bytes) => sum + bytes, 0)
  }
}
