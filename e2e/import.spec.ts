import { zipOf } from '#lib/service/testing/harbor-job.ts'
import { expect, test } from './product.ts'

test("a job's zip dropped on the job list is imported under the chosen agent name", async ({
  signedIn: page,
  product,
}) => {
  const trial = (task: string, reward: number) => ({ task_name: task, verifier_result: { rewards: { reward } } })
  const archive = await zipOf({
    'nightly/result.json': { id: 'dropped', finished_at: '2026-11-01T13:00:00Z', n_total_trials: 3 },
    'nightly/pay__aaaaaaa/result.json': trial('pay', 1),
    'nightly/ship__bbbbbbb/result.json': trial('ship', 0.25),
  })
  const base64 = Buffer.from(await archive.arrayBuffer()).toString('base64')
  await page.goto(`${product.url}/benchmark-jobs`)
  await expect(page.getByRole('button', { name: 'Import job' })).toBeEnabled()
  const dropped = await page.evaluateHandle((text) => {
    const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
    const transfer = new DataTransfer()
    transfer.items.add(new File([bytes], 'nightly.zip', { type: 'application/zip' }))
    return transfer
  }, base64)
  const dialog = page.getByRole('dialog', { name: 'Import job' })
  // Retries until the page is hydrated.
  await expect(async () => {
    await page.dispatchEvent('main', 'drop', { dataTransfer: dropped })
    await expect(dialog).toBeVisible({ timeout: 2_000 })
  }).toPass()
  await dialog.getByLabel('Agent name').fill('solver')
  await dialog.getByLabel('Judged metric').fill('speed')
  await dialog.getByRole('button', { name: 'Import' }).click()
  await expect(dialog.getByRole('alert')).toContainText('Rewards in this job: reward')
  await dialog.getByLabel('Judged metric').fill('')
  await dialog.getByRole('button', { name: 'Import' }).click()
  const summary = dialog.getByRole('status').filter({ hasText: 'nightly' })
  await expect(summary).toContainText('2 trials')
  await dialog.getByRole('link', { name: 'Open job' }).click()
  await page.waitForURL('**/benchmark-jobs/bmj_*')
  await expect(page.getByRole('heading', { level: 1, name: 'nightly' })).toBeVisible()
  await expect(page.getByRole('button', { name: 'Clone job' })).toBeDisabled()

  const { runs } = await product.service.benchmarkRuns.list()
  const run = runs.find(({ agent_name }) => agent_name === 'solver')
  await page.goto(`${product.url}/benchmark-runs/${run?.id}`)
  await expect(page.getByRole('row', { name: /ship/ })).toContainText('0.250')
  await expect(page.getByText(/^1\.25 points/)).toBeVisible()
  await expect(page.getByText('1970')).toHaveCount(0)
})
