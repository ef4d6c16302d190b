import { harborJob, zipOf } from '#lib/service/testing/harbor-job.ts'
import { expect, test } from './product.ts'

test('a zip of a Harbor job, dropped on the list of jobs, becomes a job', async ({ signedIn: page, product }) => {
  const archive = await zipOf(
    harborJob(
      { pay__aaaaaaa: { task: 'pay', reward: 1 }, ship__bbbbbbb: { task: 'ship', reward: 0 } },
      { id: 'dropped', n_total_trials: 3 },
    ),
  )
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
  // The page takes a drop only once its script runs.
  await expect(async () => {
    await page.dispatchEvent('main', 'drop', { dataTransfer: dropped })
    await expect(dialog).toBeVisible({ timeout: 2_000 })
  }).toPass()
  const summary = dialog.getByRole('status').filter({ hasText: 'nightly' })
  await expect(summary).toContainText('2 trials')
  await dialog.getByRole('link', { name: 'Open job' }).click()
  await page.waitForURL('**/benchmark-jobs/bmj_*')
  await expect(page.getByRole('heading', { level: 1, name: 'nightly' })).toBeVisible()
  await expect(page.getByRole('button', { name: 'Clone job' })).toBeDisabled()
})
