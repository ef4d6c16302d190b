import type { Page, Request } from '@playwright/test'
import { expect, signIn, test } from './product.ts'
import { finishedJob, makeScenarios } from './small-jobs.ts'
import { untilPrompt } from './terminal-page.ts'

/** Compressed JavaScript that a page may load before it rests. */
const budgetKiB = (path: string): number => {
  if (path === '/sign-in') return 180
  if (path.endsWith('/terminal')) return 380
  return path.endsWith('{job}') ? 350 : 310
}
const paths = [
  '/sign-in',
  '/',
  '/axons',
  '/devboxes',
  '/blueprints',
  '/benchmark-jobs',
  '/benchmark-jobs/{job}',
  '/settings',
  '/axons/{axon}',
  '/devboxes/{devbox}/terminal',
]

// An alert left by another journey would load on every page.
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
  // Nothing comes from the cache, and one page serves all: separate pages would start a process each.
  const network = await page.context().newCDPSession(page)
  await network.send('Network.enable')
  await network.send('Network.setCacheDisabled', { cacheDisabled: true })
  const over: string[] = []
  for (const path of paths) {
    const budget = budgetKiB(path)
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
