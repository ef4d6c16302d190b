import { readFileSync } from 'node:fs'
import { expect, open, test } from './product.ts'
import { finishedJob, makeScenarios } from './small-jobs.ts'

test.use({ journeys: 'trend' })

test("an agent's trend shows regressions, and a scenario its results for every agent", async ({
  signedIn: page,
  product,
}) => {
  const scenarioIds = await makeScenarios(product, ['trend 0', 'trend 1', 'trend 2', 'trend 3'])
  const first = await finishedJob(product, 'monday', scenarioIds, [1, 1, 1, 0])
  await finishedJob(product, 'tuesday', scenarioIds, [1, 1, 0, 0])

  await open(page, `${product.url}/benchmark-jobs/${first}`)
  await page.getByRole('link', { name: 'Trend' }).last().click()
  await page.waitForURL(`**/benchmark-jobs/trend?job=${first}`)
  const status = page.getByRole('status').filter({ hasText: 'solver scores' })
  await expect(status).toContainText('solver scores 0.500 (n = 4) in tuesday, 0.250 below the previous job')
  const row = page.getByRole('row', { name: /tuesday/ })
  await expect(row).toContainText('-0.250 (n = 4)')
  await expect(row).toContainText('Worse, not significant')
  await page.getByRole('combobox', { name: 'Jobs' }).selectOption('Last 5')
  await expect(page).toHaveURL(/last=5/)
  await page.reload()
  await expect(row).toContainText('Worse, not significant')
  const downloading = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Export' }).click()
  await page.getByRole('menuitem', { name: 'CSV' }).click()
  expect(readFileSync(await (await downloading).path(), 'utf8')).toContain('"tuesday"')

  await page.goto(`${product.url}/benchmarks/scenarios?search=trend`)
  await page.getByRole('link', { name: 'trend 2' }).click()
  await page.waitForURL(`**/benchmarks/scenarios/${scenarioIds[2]}`)
  const agents = page.getByRole('table', { name: 'Results by agent' })
  await expect(agents.getByRole('row', { name: /solver/ })).toContainText('1 of 2')
  await expect(agents.getByRole('row', { name: /solver/ })).toContainText('0.500 (n = 2)')
  const attempts = page.getByRole('table', { name: 'Attempts at the scenario' })
  await expect(attempts.getByRole('link', { name: 'monday' })).toBeVisible()
  await expect(attempts.getByRole('link', { name: 'tuesday' })).toBeVisible()
  await expect(page.getByRole('region', { name: 'Verifier' })).toContainText('echo score=$(cat ~/answer)')
  await agents.getByRole('link', { name: 'Trend' }).click()
  await expect(page.getByRole('row', { name: /tuesday/ })).toContainText('-0.250 (n = 4)')
})
