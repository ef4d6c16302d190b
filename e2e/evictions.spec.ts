import { readFile } from 'node:fs/promises'
import { expect, test } from './product.ts'

test.use({ journeys: 'evictions' })

test('a drill: announced in one tab, taken on in all, saved, evicted, resumed and in the history', async ({
  signedIn: page,
  product,
  context,
}) => {
  const { id } = await product.service.devboxes.createAndAwaitRunning({
    body: { name: 'drilled-box', metadata: { team: 'core' } },
  })
  const other = await context.newPage()
  await other.goto(`${product.url}/axons`)
  await expect(other.getByText('Live', { exact: true })).toBeVisible()
  await page.bringToFront()
  await page.goto(`${product.url}/evictions`)
  await expect(page.getByRole('heading', { name: 'No evictions pending' })).toBeVisible()

  await page.getByRole('button', { name: 'Start drill' }).click()
  const dialog = page.getByRole('dialog')
  await expect(dialog.getByLabel('Devbox')).toHaveValue(id)
  await dialog.getByLabel('Deadline').selectOption('in 15 minutes')
  await dialog.getByRole('button', { name: 'Start drill' }).click()
  await expect(dialog).toBeHidden()

  const row = page.getByRole('row', { name: /drilled-box/ })
  await expect(row).toContainText('New')
  const bars = [page, other].map((tab) => tab.getByRole('region', { name: 'Pending evictions' }))
  for (const bar of bars) await expect(bar).toContainText('drilled-box')
  // Both tabs know of it, and one of them has announced it.
  const announced = () =>
    Promise.all(
      [page, other].map((tab) =>
        tab
          .getByRole('alert')
          .filter({ hasText: /drilled-box will be/ })
          .count(),
      ),
    )
  await expect.poll(async () => (await announced()).sort()).toEqual([0, 1])

  await bars[1]?.getByRole('button', { name: 'Acknowledge' }).click()
  await expect(row).toContainText('Acknowledged')
  for (const bar of bars) await expect(bar.getByRole('button', { name: 'Acknowledge' })).toHaveCount(0)
  await page.reload()
  await expect(row).toContainText('Acknowledged')

  await row.getByRole('button', { name: 'More actions for drilled-box' }).click()
  await page.getByRole('menuitem', { name: 'Take snapshot now' }).click()
  await expect
    .poll(async () =>
      (
        await product.service.snapshots.list({ query: { devbox_id: id, limit: 20, include_total_count: false } })
      ).snapshots.map(({ name }) => name),
    )
    .toEqual(['before-eviction'])

  // An earlier deadline is news again, and what was before it is told of.
  await product.service.evictions.schedule({ body: { devbox_id: id, eviction_deadline_ms: Date.now() + 2_000 } })
  await expect(page.getByRole('region', { name: 'Over since this page was opened' })).toContainText('Moved')
  await expect(page.getByRole('region', { name: 'Over since this page was opened' })).toContainText('Evicted')
  for (const bar of bars) await expect(bar).toBeHidden()
  await product.service.devboxes.resume({ params: { id } })

  await page.getByRole('link', { name: 'History' }).click()
  await expect(page.getByRole('row', { name: /drilled-box/ })).toHaveCount(2)
  await page.getByLabel('Search devbox or metadata').fill('core')
  await page.getByLabel('State').selectOption('Evicted')
  await expect(page.getByRole('row', { name: /drilled-box/ })).toHaveCount(1)
  const download = page.waitForEvent('download')
  await page.getByRole('link', { name: 'Export CSV' }).click()
  const file = await readFile(await (await download).path(), 'utf8')
  expect(file.split('\r\n').filter((line) => line.includes(id))).toHaveLength(1)
})
