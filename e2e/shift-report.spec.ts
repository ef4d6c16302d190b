import { readFile } from 'node:fs/promises'
import { expect, open, test } from './product.ts'

test.use({ journeys: 'shift-report' })

test('an unattended eviction is on the overview, resumed from there, and counted in the shift report and the history', async ({
  signedIn: page,
  product,
}) => {
  const { devboxes, executions, evictions } = product.service
  const { id } = await devboxes.createAndAwaitRunning({ body: { name: 'night-box' } })
  await executions.executeAsync({ params: { id }, body: { command: 'sleep 600' } })
  await open(page, `${product.url}/evictions`)
  await evictions.schedule({ body: { devbox_id: id, eviction_deadline_ms: Date.now() + 1_000 } })
  await expect(page.getByRole('region', { name: 'Closed since you opened this page' })).toContainText('Evicted')

  await open(page, product.url)
  const recap = page.getByRole('region', { name: 'Since you last looked' })
  await expect(recap).toContainText('Evicted unacknowledged 1')
  await expect(recap.getByRole('listitem').filter({ hasText: 'night-box' })).toContainText('1 command interrupted')
  await recap.getByRole('button', { name: 'Resume night-box' }).click()
  await expect(recap.getByRole('button', { name: 'Resume night-box' })).toBeHidden()
  await expect.poll(async () => (await devboxes.get({ params: { id } })).status).toBe('running')

  await recap.getByRole('link', { name: /^Shift report since/ }).click()
  await expect(page.getByRole('region', { name: 'Response' })).toContainText('0 of 1 raised')
  await expect(page.getByRole('region', { name: 'Losses' })).toContainText('1 of 1 eviction (1 command)')
  await expect(page.getByRole('region', { name: 'Ended unacknowledged' })).toContainText('night-box')
  const download = page.waitForEvent('download')
  await page.getByRole('link', { name: 'Download Markdown' }).click()
  const report = await readFile(await (await download).path(), 'utf8')
  expect(report).toContain('Evicted with running work: 1 of 1 (1 command).')

  await page.getByRole('link', { name: 'History', exact: true }).first().click()
  await expect(page.getByRole('heading', { name: 'Eviction history' })).toBeVisible()
  await page.getByRole('combobox', { name: 'Period' }).selectOption('This month (UTC)')
  await expect(
    page.getByText('1 of 1 eviction this month hit running work (1 command); 1 ended unacknowledged'),
  ).toBeVisible()
  await page.getByRole('link', { name: '1 of 1 eviction' }).click()
  await expect(page.getByRole('combobox', { name: 'Outcome' })).toHaveValue('interrupted')
  await expect(page.getByRole('row', { name: /night-box/ })).toContainText('1 command')

  await page.evaluate(() => {
    const seen_ms = Date.now()
    for (const key of Object.keys(localStorage).filter((key) => key.startsWith('devdeck.last-look.')))
      localStorage.setItem(key, JSON.stringify({ since_ms: seen_ms, seen_ms }))
  })
  await open(page, product.url)
  await expect(recap).toContainText(/Nothing happened since \d\d:\d\d/)
})
