import { readFileSync } from 'node:fs'
import { hasJobEnded } from '#lib/contract/benchmark-jobs.ts'
import { expect, type Product, test } from './product.ts'

test.use({ journeys: 'compare' })

/** A job of one agent over these scenarios, which answers the i-th with the i-th score; ended. */
const finishedJob = async ({ service }: Product, name: string, scenario_ids: string[], scores: number[]) => {
  const cases = scores.map((score, i) => `${i}) echo ${score} > ~/answer ;;`).join(' ')
  const { id } = await service.benchmarkJobs.create({
    body: {
      name,
      spec: {
        type: 'scenarios',
        scenario_ids,
        agent_configs: [
          {
            name: 'solver',
            type: 'job_agent',
            kwargs: { command: `case $(<"$HARBOR_INSTRUCTION_FILE") in ${cases} esac` },
          },
        ],
        orchestrator_config: { n_concurrent_trials: 4 },
      },
    },
  })
  const state = async () => (await service.benchmarkJobs.get({ params: { id } })).state
  await expect.poll(async () => hasJobEnded(await state()), { timeout: 100_000 }).toBe(true)
  return id
}

test('two jobs are found, selected and compared, and the address brings the comparison back', async ({
  signedIn: page,
  product,
}) => {
  test.setTimeout(240_000)
  const scenarioIds: string[] = []
  for (const i of [0, 1, 2]) {
    const scorer = { type: 'bash_script_scorer' as const, bash_script: 'echo score=$(cat ~/answer)' }
    const { id } = await product.service.scenarios.create({
      body: {
        name: `scenario ${i}`,
        input_context: { problem_statement: `${i}` },
        scoring_contract: { scoring_function_parameters: [{ name: 'answer', weight: 1, scorer }] },
      },
    })
    scenarioIds.push(id)
  }
  const before = await finishedJob(product, 'before the change', scenarioIds, [1, 0.5, 0])
  const after = await finishedJob(product, 'after the change', scenarioIds, [1, 1, 0])

  await page.goto(`${product.url}/benchmark-jobs`)
  const row = page.getByRole('row', { name: /after the change/ })
  await expect(row).toContainText('solver 0.667 (n = 3 of 3)')
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
