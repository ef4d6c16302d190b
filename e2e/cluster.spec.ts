import { hasSwarm } from '#lib/service/testing/has-swarm.ts'
import { ownSwarm } from '#lib/service/testing/swarm.ts'
import { test as base, expect, open, type Product, signIn, startProduct } from './product.ts'
import { screenText, untilPrompt, untilText } from './terminal-page.ts'

const test = base.extend<object, { cluster: Product }>({
  cluster: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright requires the pattern
    async ({}, use) => {
      const swarm = await ownSwarm()
      const [product] = await Promise.all([
        startProduct({
          DEVDECK_ENGINE: 'swarm',
          DEVDECK_ENGINE_URL: swarm.manager.url,
          DEVDECK_ENGINE_REGISTRY: swarm.registry,
          DEVDECK_IMAGE: 'base',
        }),
        swarm.image('base'),
      ])
      await use(product)
      await product.stop()
      await swarm.close()
    },
    { scope: 'worker', timeout: 480_000 },
  ],
})

test.skip(!hasSwarm, 'needs Docker, docker-registry, iptables and root')

test('devboxes of a drained node are announced, saved, resumed on another node with their files, and kept in the history', async ({
  page,
  cluster: { url, apiKey, service },
}) => {
  await signIn(page, { url, apiKey })
  const mover = await service.devboxes.createAndAwaitRunning({ body: { name: 'mover' } })
  const node = mover.node?.hostname ?? ''
  // A second devbox on the same node.
  const metadata = { 'devdeck.placement': `node.hostname==${node}` }
  await service.devboxes.createAndAwaitRunning({ body: { name: 'stayer', metadata } })

  await open(page, `${url}/devboxes/${mover.id}`)
  await page.getByRole('link', { name: 'Terminal', exact: true }).click()
  await untilPrompt(page)
  await page.keyboard.type('echo kept > ~/note.txt; sync; echo writ""ten\n')
  await untilText(page, /written/)

  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Cluster' }).click()
  const row = page.getByRole('row', { name: new RegExp(node) })
  await expect(row).toContainText('Ready')
  await row.getByRole('button', { name: `Drain ${node}` }).click()
  const dialog = page.getByRole('dialog', { name: `Drain ${node}?` })
  await expect(dialog).toContainText('2 devboxes get an eviction notice')
  await expect(dialog).toContainText('They can be resumed on another node')
  await dialog.getByLabel('Deadline').selectOption('in 5 minutes')
  await dialog.getByRole('button', { name: 'Drain node' }).click()
  await expect(row).toContainText(/Drains in 0[45]:\d\d/)

  const bar = page.getByRole('region', { name: 'Pending evictions' })
  await expect(bar).toContainText(new RegExp(`2 devboxes on ${node}\\s*will be evicted in 0[45]:`))
  await bar.getByRole('link', { name: `2 devboxes on ${node}` }).click()
  const group = page.getByRole('button', { name: `2 devboxes, drain of ${node}`, exact: true })
  await expect(group).toHaveAttribute('aria-expanded', 'true')
  await group.click()
  await expect(page.getByRole('row', { name: /mover/ })).toBeHidden()
  await group.click()
  const moving = page.getByRole('row', { name: /mover/ })
  await moving.getByRole('button', { name: 'More actions for mover' }).click()
  await page.getByRole('menuitem', { name: 'Suspend now' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Suspend devbox' }).click()
  await expect(page.getByRole('region', { name: 'Closed since you opened this page' })).toContainText(/Suspended by/)
  await expect(bar).toContainText(`stayer on ${node}`)

  await open(page, `${url}/devboxes/${mover.id}`)
  await page.getByRole('button', { name: 'Resume devbox' }).first().click()
  await expect(page.getByRole('status').filter({ hasText: 'Running' })).toBeVisible()
  const place = page.locator('dt', { hasText: /^Node$/ }).locator('+ dd')
  await expect(place).toContainText('node-')
  await expect(place).not.toContainText(node)
  await page.getByRole('link', { name: 'Terminal', exact: true }).click()
  await untilPrompt(page)
  await page.keyboard.type('cat ~/note.txt\n')
  await expect.poll(() => screenText(page)).toMatch(/^kept$/m)

  // Activating the node withdraws the other eviction; the next drain doesn't wait.
  await open(page, `${url}/cluster`)
  await row.getByRole('button', { name: `Activate ${node}` }).click()
  await expect(row).toContainText('Ready')
  await expect(bar).toBeHidden()
  await row.getByRole('button', { name: `Drain ${node}` }).click()
  await expect(dialog).toContainText('1 devbox gets an eviction notice')
  await dialog.getByLabel('Deadline').selectOption('now')
  await dialog.getByRole('button', { name: 'Drain node' }).click()
  await expect(row).toContainText('Drained')

  await page.goto(`${url}/evictions/history`)
  await expect(page.getByRole('row', { name: /mover/ })).toContainText(/Suspended by .*/)
  await expect(page.getByRole('row', { name: /stayer/ }).filter({ hasText: 'Evicted' })).toContainText(node)
  await page.goto(`${url}/activity`)
  await expect(page.getByRole('row', { name: new RegExp(node) })).toHaveCount(3)
})
