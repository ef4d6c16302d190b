import { zipOf } from '#lib/service/testing/harbor-job.ts'
import { expect, test } from './product.ts'

test('a zip of jobs dropped on the job list is imported under the chosen names', async ({
  signedIn: page,
  product,
}) => {
  const trial = (task: string, reward: number) => ({ task_name: task, verifier_result: { rewards: { reward } } })
  const archive = await zipOf({
    'nightly/result.json': { id: 'dropped', finished_at: '2026-11-01T13:00:00Z', n_total_trials: 3 },
    'nightly/pay__aaaaaaa/result.json': trial('pay', 1),
    'nightly/ship__bbbbbbb/result.json': trial('ship', 0.25),
    'weekly/result.json': { id: 'dropped-too', finished_at: '2026-11-01T13:00:00Z', n_total_trials: 1 },
    'weekly/tax__aaaaaaa/result.json': trial('tax', 1),
    'broken/config.json': { job_name: 'broken' },
  })
  const base64 = Buffer.from(await archive.arrayBuffer()).toString('base64')
  await page.goto(`${product.url}/benchmark-jobs`)
  await expect(page.getByRole('button', { name: 'Import jobs' })).toBeEnabled()
  const dropped = await page.evaluateHandle((text) => {
    const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
    const transfer = new DataTransfer()
    transfer.items.add(new File([bytes], 'nightly.zip', { type: 'application/zip' }))
    return transfer
  }, base64)
  const dialog = page.getByRole('dialog', { name: 'Import jobs' })
  // Retries until the page is hydrated.
  await expect(async () => {
    await page.dispatchEvent('main', 'drop', { dataTransfer: dropped })
    await expect(dialog).toBeVisible({ timeout: 2_000 })
  }).toPass()
  await dialog.getByLabel('Judged metric').fill('speed')
  await dialog.getByRole('button', { name: 'Import' }).click()
  await expect(dialog.getByRole('alert')).toContainText('Rewards in this job: reward')
  await dialog.getByLabel('Judged metric').fill('')
  await dialog.getByRole('button', { name: 'Import' }).click()
  const summary = dialog.getByRole('status')
  await expect(summary).toHaveText(/^Imported 2 jobs3 trials, 1 skipped/)
  await expect(dialog.getByRole('region', { name: 'Skipped' })).toContainText('broken: The job has no trial')
  await dialog.getByLabel('Agent name').fill('solver')
  await dialog.getByLabel('Model name').fill('acme/large')
  await dialog.getByRole('button', { name: 'Import again with names' }).click()
  await expect(dialog.getByText("Some trials don't record")).toHaveCount(0)
  await expect(summary).toContainText('Imported 2 jobs')
  await dialog.getByRole('link', { name: /^nightly/ }).click()
  await page.waitForURL('**/benchmark-jobs/bmj_*')
  await expect(page.getByRole('heading', { level: 1, name: /^nightly/ })).toBeVisible()
  await expect(page.getByRole('button', { name: 'Clone job' })).toBeDisabled()

  const jobId = new URL(page.url()).pathname.split('/').at(-1)
  const { runs } = await product.service.benchmarkRuns.list()
  const run = runs.find(({ agent_name, job_id }) => agent_name === 'solver' && job_id === jobId)
  await page.goto(`${product.url}/benchmark-runs/${run?.id}`)
  await expect(page.getByRole('row', { name: /ship/ })).toContainText('0.250')
  await expect(page.getByText(/^1\.25 points/)).toBeVisible()
  await expect(page.getByText('1970')).toHaveCount(0)
})
