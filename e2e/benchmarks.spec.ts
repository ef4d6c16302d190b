import { execFileSync } from 'node:child_process'
import { expect, type Product, test } from './product.ts'

test.use({ journeys: 'benchmarks' })

/** A benchmark of scenarios that are solved by a file named `done`, and a run of it with all of them started. */
const startRun = async ({ service }: Product, names: string[]) => {
  const scenarioIds: string[] = []
  for (const name of names) {
    const { id } = await service.scenarios.create({
      body: {
        name,
        input_context: { problem_statement: 'Make a file named done' },
        scoring_contract: {
          scoring_function_parameters: [
            { name: 'check', weight: 1, scorer: { type: 'command_scorer', command: 'test -f done' } },
          ],
        },
      },
    })
    scenarioIds.push(id)
  }
  const benchmark = await service.benchmarks.create({
    body: { name: 'files', scenario_ids: scenarioIds, metadata: { suite: 'smoke' } },
  })
  const run = await service.benchmarks.startRun({
    body: { benchmark_id: benchmark.id, run_name: 'nightly', metadata: { branch: 'main' } },
  })
  const scenarioRuns = []
  for (const scenario_id of scenarioIds) {
    const started = await service.scenarioRuns.start({ body: { scenario_id, benchmark_run_id: run.id } })
    await service.devboxes.waitForStatus({ params: { id: started.devbox_id }, body: { statuses: ['running'] } })
    scenarioRuns.push(started)
  }
  return { run, scenarioRuns }
}

test('a run is cancelled, and its logs are downloaded and opened', async ({ signedIn: page, product }) => {
  const { service } = product
  const { run, scenarioRuns } = await startRun(product, ['first', 'second', 'third'])
  const [solved] = scenarioRuns
  if (!solved) throw new Error('no scenario was started')
  await service.executions.executeSync({
    params: { id: solved.devbox_id },
    body: { command: 'touch done; echo this-is-in-the-log' },
  })
  await service.scenarioRuns.score({ params: { id: solved.id } })
  await expect.poll(async () => (await service.scenarioRuns.get({ params: { id: solved.id } })).state).toBe('scored')
  await service.scenarioRuns.complete({ params: { id: solved.id } })

  await page.goto(`${product.url}/benchmark-runs`)
  await page.getByRole('link', { name: 'nightly' }).click()
  await expect(page.getByRole('row', { name: /Running/ })).toHaveCount(2)

  await page.getByRole('button', { name: 'Cancel run' }).click()
  const dialog = page.getByRole('dialog')
  await expect(dialog).toContainText('2 running scenarios will be cancelled and their devboxes shut down')
  await expect(dialog).toContainText('1 completed scenario keeps its score')
  await dialog.getByRole('button', { name: 'Cancel run' }).click()
  await expect(page.getByRole('main').getByRole('status').getByText('Cancelled').first()).toBeVisible()
  await expect(page.getByRole('row', { name: /Cancelled/ })).toHaveCount(2)
  for (const { devbox_id } of scenarioRuns)
    expect((await service.devboxes.get({ params: { id: devbox_id } })).status).toBe('shutdown')
  // One of three: what was not completed counts as nothing.
  await expect(page.getByText('0.333')).toBeVisible()
  await expect(page.getByText('(n = 3 scenario runs)')).toBeVisible()

  const downloading = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download logs' }).click()
  const download = await downloading
  expect(download.suggestedFilename()).toBe(`nightly-${run.id}-logs.zip`)
  const script =
    'import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); assert z.testzip() is None; print("".join(z.read(n).decode("utf8", "replace") for n in z.namelist()))'
  const text = execFileSync('python3', ['-c', script, await download.path()], { encoding: 'utf8' })
  expect(text).toContain('this-is-in-the-log')
  await expect(page.getByText(/^Saved, /)).toBeVisible()
})
