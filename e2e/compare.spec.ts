import { readFileSync } from 'node:fs'
import { expect, test } from './product.ts'
import { finishedJob, makeScenarios } from './small-jobs.ts'

test.use({ journeys: 'compare' })

test('two jobs are found, selected and compared, and the address brings the comparison back', async ({
  signedIn: page,
  product,
}) => {
  test.setTimeout(240_000)
  const scenarioIds = await makeScenarios(product, ['scenario 0', 'scenario 1', 'scenario 2'])
  const before = await finishedJob(product, 'before the change', scenarioIds, [1, 0.5, 0])
  const after = await finishedJob(product, 'after the change', scenarioIds, [1, 1, 0])

  await page.goto(`${product.url}/benchmark-jobs`)
  const row = page.getByRole('row', { name: /after the change/ })
  await expect(row).toContainText('solver 0.667 (n = 3)')
  await page.getByRole('combobox', { name: 'State' }).selectOption('Failed')
  await expect(row).toHaveCount(0)
  await page.getByRole('combobox', { name: 'State' }).selectOption('Completed')
  await expect(row).toHaveCount(1)
  await page.getByRole('checkbox', { name: 'Select before the change' }).check()
  await page.getByRole('checkbox', { name: 'Select after the change' }).check()
  await page.getByRole('button', { name: 'Compare jobs' }).click()

  await page.waitForURL(`**/benchmark-jobs/compare?jobs=${before},${after}`)
  const differences = page.getByRole('region', { name: 'Differences' })
  await expect(differences.getByRole('row', { name: /over solver in before/ })).toContainText('+0.167 (n = 3)')
  const changed = page.getByRole('region', { name: 'Scenarios that changed' })
  await expect(changed.getByRole('row', { name: /scenario 1/ })).toContainText('0.50 to 1.00')
  await page.getByRole('combobox', { name: 'Baseline' }).selectOption('after the change, agent by agent')
  await expect(differences.getByRole('row', { name: /over solver in after/ })).toContainText('-0.167 (n = 3)')
  await changed.getByText('Still failing').click()
  await expect(changed.getByRole('row', { name: /scenario 2/ })).toBeVisible()

  await page.reload()
  await expect(differences.getByRole('row', { name: /over solver in after/ })).toContainText('-0.167 (n = 3)')
  await expect(changed.getByRole('row', { name: /scenario 2/ })).toBeVisible()
  const downloading = page.waitForEvent('download')
  await page.getByRole('link', { name: 'CSV' }).click()
  expect(readFileSync(await (await downloading).path(), 'utf8')).toContain('"solver"')
})
