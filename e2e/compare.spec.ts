import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { Locator, Page } from '@playwright/test'
import { hasJobEnded } from '#lib/contract/benchmark-jobs.ts'
import { expect, isLive, open, type Product, signIn, startProduct, test } from './product.ts'
import { finishedJob, makeScenarios } from './small-jobs.ts'

test.use({ journeys: 'compare' })

test('two jobs are found, selected and compared, and the address restores the comparison', async ({
  signedIn: page,
  product,
}) => {
  const scenarioIds = await makeScenarios(product, ['scenario 0', 'scenario 1', 'scenario 2'])
  for (const [i, id] of scenarioIds.entries())
    if (i < 2)
      await product.service.scenarios.update({ params: { id }, body: { metadata: { level: i ? 'hard' : 'easy' } } })
  const before = await finishedJob(product, 'before the change', scenarioIds, [1, 0.5, 0])
  const after = await finishedJob(product, 'after the change', scenarioIds, [1, 1, 0])

  await open(page, `${product.url}/benchmark-jobs`)
  const row = page.getByRole('row', { name: /after the change/ })
  await expect(row).toContainText('solver 0.667 (n = 3)')
  await showsEveryAgent(page, product, scenarioIds)
  await page.getByRole('combobox', { name: 'State' }).selectOption('Failed')
  await expect(row).toHaveCount(0)
  await page.getByRole('combobox', { name: 'State' }).selectOption('Completed')
  await expect(row).toHaveCount(1)
  await page.getByRole('checkbox', { name: 'Select before the change' }).check()
  await page.getByRole('checkbox', { name: 'Select after the change' }).check()
  const selected = page.getByRole('region', { name: 'Selected jobs' })
  await expect(selected.getByRole('button', { name: 'Cancel 0' })).toHaveAttribute('aria-disabled', 'true')
  await selected.getByRole('button', { name: 'Compare jobs' }).click()

  await page.waitForURL(`**/benchmark-jobs/compare?jobs=${before},${after}`)
  const differences = page.getByRole('region', { name: 'Differences' })
  await expect(differences.getByRole('row', { name: /vs the same in before/ })).toContainText('+0.167 (n = 3)')
  await expect(page.getByText(/solver in after the change scores 0\.167 higher than in before/)).toBeVisible()
  const inMarkdown = await page.request.get(
    `${product.url}/api/benchmark-jobs/compare/report?jobs=${before},${after}&format=md`,
  )
  for (const words of (await inMarkdown.text()).split('\n\n').slice(1, 3))
    await expect(page.getByText(words)).toBeVisible()
  const changed = page.getByRole('region', { name: 'Changed scenarios' })
  await expect(changed.getByRole('row', { name: /scenario 1/ })).toContainText('0.500 to 1.000')
  await page.getByRole('combobox', { name: 'Group by' }).selectOption('level')
  const groups = page.getByRole('table', { name: 'Groups by level' })
  await expect(groups.getByRole('row')).toHaveText([
    /^Group/,
    /^easy.*0\.000 \(n = 1\)/,
    /^hard.*\+0\.500 \(n = 1\)/,
    /^not set/,
  ])
  await page.getByText('Largest difference first').click()
  await expect(groups.getByRole('row').nth(1)).toHaveText(/^hard/)
  const spent = page.getByRole('region', { name: 'Score against cost' })
  await expect(spent.getByRole('row', { name: /^\d solver in after the change/ })).toContainText('0.667')
  await expect(spent.getByRole('img')).toHaveAccessibleName(/^Score against mean duration per attempt/)
  await expect(spent.getByText('On the frontier').first()).toBeVisible()
  await page.getByRole('combobox', { name: 'Gate' }).selectOption('Not worse by a margin')
  await expect(page.getByText(/^Gate failed \(not worse than the baseline by 0\.05 or more\)/)).toBeVisible()
  await page.getByLabel('Margin').fill('0.8')
  await page.getByLabel('Margin').press('Enter')
  await expect(page.getByRole('status').getByText(/the lower bound -0\.550442 is above -0\.8/)).toBeVisible()
  await expect(page).toHaveURL(/gate=non_inferior&margin=0\.8/)
  await page.getByRole('combobox', { name: 'Baseline' }).selectOption('after the change, agent by agent')
  await expect(differences.getByRole('row', { name: /vs the same in after/ })).toContainText('-0.167 (n = 3)')
  await changed.getByText('Still failing').click()
  await expect(changed.getByRole('row', { name: /scenario 2/ })).toBeVisible()

  await page.reload()
  await isLive(page)
  await expect(differences.getByRole('row', { name: /vs the same in after/ })).toContainText('-0.167 (n = 3)')
  await expect(changed.getByRole('row', { name: /scenario 2/ })).toBeVisible()
  const downloading = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Export' }).click()
  await page.getByRole('menuitem', { name: 'Agents CSV' }).click()
  expect(readFileSync(await (await downloading).path(), 'utf8')).toContain('"solver"')

  await open(page, `${product.url}/benchmark-jobs/${after}?failures=leave_out`)
  await page.getByRole('main').getByRole('link', { name: 'Compare' }).click()
  await page.getByRole('combobox', { name: 'Compare with' }).selectOption(before)
  await expect(differences.getByRole('row', { name: /vs the same in before/ })).toContainText('+0.167 (n = 3)')
  await changed
    .getByRole('row', { name: /scenario 1/ })
    .getByRole('link', { name: '1.000' })
    .click()
  await expect(page.getByRole('dialog')).toContainText('scenario 1')
  await expect(page).toHaveURL(/failures=leave_out/)

  // With one job missing, the others are compared against another baseline.
  await open(page, `${product.url}/benchmark-jobs/compare?jobs=bmj_gone,${before},${after}&baseline=bmj_gone`)
  await expect(page.getByText(/No benchmark job with ID bmj_gone/)).toBeVisible()
  await page.getByRole('link', { name: 'Compare the other 2 jobs' }).click()
  await expect(differences.getByRole('row', { name: /vs the same in before/ })).toContainText('+0.167 (n = 3)')
})

test('a comparison shows its age while the service is down, and why a report could not be saved', async ({ page }) => {
  const outcome = { scenario_definition_id: 'scn_1', scenario_name: 'one', state: 'COMPLETED', score: 1 }
  const benchmark_outcomes = [{ benchmark_run_id: 'bmr_1', agent_name: 'solver', scenario_outcomes: [outcome] }]
  const answers: Record<string, object> = {
    '/v1/accounts/me': { id: 'acc', name: 'Lead' },
    '/v1/benchmark_jobs/bmj_1': { id: 'bmj_1', name: 'goes on', state: 'running', benchmark_outcomes },
  }
  const service = createServer(({ url = '' }, response) => {
    const answer = answers[url]
    response.writeHead(answer ? 200 : 404, { 'content-type': 'application/json' })
    response.end(JSON.stringify(answer ?? { code: 'not_found', message: 'no' }))
  }).listen(0, '127.0.0.1')
  await once(service, 'listening')
  const { port } = service.address() as { port: number }
  const front = await startProduct({ DEVDECK_SERVICE_URL: `http://127.0.0.1:${port}` })
  await signIn(page, { url: front.url, apiKey: 'ak_lead' })
  await page.goto(`${front.url}/benchmark-jobs/compare?jobs=bmj_1`)
  await expect(page.getByRole('row', { name: /solver/ })).toContainText('1.000 (n = 1)')
  service.close()
  service.closeAllConnections()
  await expect(page.getByText('This data is out of date')).toBeVisible()
  await page.getByRole('button', { name: 'Export' }).click()
  await page.getByRole('menuitem', { name: 'JSON' }).click()
  await expect(page.getByText("Couldn't save comparison.json")).toBeVisible()
  await expect(page.getByRole('row', { name: /solver/ })).toContainText('1.000 (n = 1)')
  await front.stop()
})

/** Ten agents: a row shows the best two without truncation and expands to the rest. */
const showsEveryAgent = async (page: Page, { service }: Product, [scenario = '']: readonly string[]) => {
  const agents = Array.from({ length: 10 }, (_, at) => ({
    name: `agent-${at}-with-a-long-name`,
    model_name: `provider/model-${at}-2026-11-23`,
    type: 'job_agent' as const,
    kwargs: { command: `echo 0.${at} > ~/answer` },
  }))
  const spec = { type: 'scenarios' as const, scenario_ids: [scenario], agent_configs: agents }
  const { id } = await service.benchmarkJobs.create({
    body: { name: 'ten agents', spec: { ...spec, orchestrator_config: { n_concurrent_trials: 4 } } },
  })
  const isOver = async () => hasJobEnded((await service.benchmarkJobs.get({ params: { id } })).state)
  await expect.poll(isOver).toBe(true)
  await page.reload()
  await isLive(page)
  const row = page.getByRole('row', { name: /ten agents/ })
  await expect(row).toContainText(
    /agent-9-with-a-long-name.*0.900 \(n = 1\).*agent-8-with-a-long-name.*0.800 \(n = 1\)/,
  )
  await expect(row.getByText('agent-7-with')).toHaveCount(0)
  expect((await row.boundingBox())?.height).toBeLessThan(130)
  await expect.poll(() => cutOff(row)).toEqual([])
  await row.getByRole('button', { name: 'and 8 more' }).click()
  await expect(row).toContainText(/agent-0-with-a-long-name.*0.000 \(n = 1\)/)
  await page.setViewportSize({ width: 390, height: 844 })
  await expect(row.getByText('0.900 best of 10')).toBeVisible()
  await page
    .getByRole('row', { name: /ten agents/ })
    .getByRole('button', { name: 'Show more' })
    .click()
  const card = page.getByRole('row').filter({ hasText: 'Agents and scores' }).filter({ hasText: 'agent-9' })
  await expect(card.getByRole('button', { name: 'and 8 more' })).toBeVisible()
  await expect.poll(() => cutOff(card)).toEqual([])
  await page.setViewportSize({ width: 1440, height: 900 })
  await page.getByRole('columnheader', { name: 'Agents and scores' }).getByRole('button').click()
  await expect(page).toHaveURL(/sort=agents/)
  const best = () =>
    page.getByRole('row').evaluateAll((rows) => rows.flatMap((each) => each.querySelector('b')?.textContent ?? []))
  await expect.poll(async () => (await best()).at(-1)).toBe('0.900')
  expect(await best()).toEqual((await best()).toSorted())
  await page.goBack()
}

/** Truncated texts within an element. */
const cutOff = (element: Locator): Promise<string[]> =>
  element
    .locator('td *, td')
    .evaluateAll((all) =>
      all
        .filter(
          (each) =>
            each.clientWidth > 1 &&
            each.scrollWidth > each.clientWidth + 1 &&
            getComputedStyle(each).overflowX !== 'visible',
        )
        .map((each) => each.textContent ?? ''),
    )
