import { hasJobEnded } from '#lib/contract/benchmark-jobs.ts'
import { expect, open, test } from './product.ts'
import { makeScenarios, startJob } from './small-jobs.ts'

test.use({ journeys: 'run logs' })

test('a job with chosen scenarios is created, and a line of its logs is found and linked', async ({
  signedIn: page,
  product,
}) => {
  const trajectory = {
    schema_version: 'ATIF-v1.4',
    steps: [
      { source: 'user', message: 'talkative' },
      {
        source: 'agent',
        message: 'I look <img src=x onerror=alert(1)>',
        tool_calls: [{ tool_call_id: 'c', function_name: 'bash', arguments: { command: 'ls' } }],
        observation: { results: [{ source_call_id: 'c', content: 'no such folder' }] },
      },
    ],
    final_metrics: { total_prompt_tokens: 1200, total_completion_tokens: 34, total_cost_usd: 0.25 },
  }
  const command =
    `echo '${JSON.stringify(trajectory)}' >"$HARBOR_AGENT_LOGS/trajectory.json"; ` +
    'echo 1 > ~/answer; for i in $(seq 1200); do printf "\\033[32mstep\\033[0m %s <img src=x onerror=alert(1)>\\n" $i; done'
  await makeScenarios(product, ['talkative'])

  await open(page, `${product.url}/benchmark-jobs`)
  await page.getByRole('button', { name: 'Create job' }).first().click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('textbox', { name: /^Name/ }).fill('with logs')
  await dialog.getByText('Scenarios', { exact: true }).click()
  await dialog.getByRole('textbox', { name: /^Command/ }).fill(command)
  await dialog.getByRole('button', { name: 'Create job' }).click()
  await expect(dialog.getByText('Choose at least one scenario')).toBeVisible()
  await expect(dialog.getByText('Enter an agent name')).toBeVisible()
  await dialog.getByRole('searchbox', { name: 'Search scenarios' }).fill('talk')
  await dialog.getByRole('checkbox', { name: 'talkative' }).check()
  await expect(dialog.getByText('1 chosen')).toBeVisible()
  // The agent doesn't exist; the input must survive.
  await dialog.getByRole('combobox', { name: 'Agent name' }).fill('solver')
  await dialog.getByRole('button', { name: 'Create job' }).click()
  await page.waitForURL(/\/benchmark-jobs\/bmj_\w+/)
  await expect(page.getByRole('main').getByRole('status').getByText('Completed').first()).toBeVisible()

  await page.getByRole('grid').locator('td[tabindex="0"]').focus()
  await page.keyboard.press('Enter')
  await expect(page.getByRole('dialog').getByText('1,200 in, 34 out · $0.25')).toBeVisible()
  const steps = page.getByRole('dialog').getByRole('region', { name: 'Trajectory' })
  await steps.getByRole('button', { name: 'Show steps' }).click()
  await steps.getByText('I look <img src=x onerror=alert(1)>').click()
  await expect(steps.getByText('no such folder')).toBeVisible()
  await page.getByRole('dialog').getByRole('link', { name: 'Log files' }).click()
  await page.waitForURL(/\/benchmark-runs\/bmr_\w+\/logs\?files=scr_\w+/)
  await expect(page.getByText(/^\d+ of \d+ files$/)).toBeVisible()
  const tree = page.getByRole('tree', { name: 'Files of the archive' })
  await tree
    .getByRole('treeitem', { name: /^stdout .* KiB$/ })
    .first()
    .focus()
  await page.keyboard.press('Enter')

  const file = page.getByRole('region', { name: 'File' })
  await expect(file.getByText('1,200 lines')).toBeVisible()
  await expect(file.getByText('step', { exact: true }).first()).toHaveCSS('color', /./)
  await file.getByRole('searchbox', { name: 'Search in the file' }).fill('STEP 1000')
  await expect(file.getByText('1 match', { exact: true })).toBeVisible()
  await page.keyboard.press('Enter')
  await expect(file.getByText('1 of 1 matches')).toBeVisible()
  await file.getByRole('link', { name: 'Line 1000', exact: true }).click()
  await expect(page).toHaveURL(/file=.*stdout.*line=1000/)

  await page.reload()
  await expect(file.locator('[aria-current="location"]')).toContainText('step 1000 <img src=x onerror=alert(1)>')
  await expect(file.locator('[aria-current="location"]')).toBeInViewport()
})

test('a job is canceled, unscored trials are rerun, and the job is cloned', async ({ signedIn: page, product }) => {
  const scenarios = await makeScenarios(product, ['fast', 'slow'])
  const command = '[ "$(<"$HARBOR_INSTRUCTION_FILE")" = 1 ] && sleep infinity; echo 1 > ~/answer'
  const job = await startJob(product, 'half done', scenarios, command)
  const ended = async () => (await job.read()).benchmark_outcomes?.[0]?.scenario_outcomes.length ?? 0
  await expect.poll(ended).toBe(1)

  await open(page, `${product.url}/benchmark-jobs/${job.id}`)
  await expect(page.getByText('4 concurrent trials')).toBeVisible()
  await page.getByRole('button', { name: 'Change', exact: true }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('textbox', { name: 'Concurrent trials' }).fill('5')
  await dialog.getByRole('button', { name: 'Change', exact: true }).click()
  await expect(page.getByText('5 concurrent trials')).toBeVisible()
  expect((await job.read()).job_spec?.orchestrator_config?.n_concurrent_trials).toBe(5)

  await page.getByRole('button', { name: 'Cancel job' }).click()
  await expect(dialog).toContainText('1 run is active')
  await expect(dialog).toContainText('1 of 2 trials are finished and keep their outcomes; the other 1 get no score')
  await dialog.getByRole('button', { name: 'Cancel job' }).click()
  await expect(dialog).toBeHidden()
  await expect.poll(async () => hasJobEnded((await job.read()).state)).toBe(true)
  await expect(page.getByRole('button', { name: 'Cancel job' })).toHaveCount(0)

  await page.getByRole('button', { name: 'Rerun failed' }).click()
  await expect(dialog).toContainText('1 attempt failed, timed out or were canceled, in 1 scenario')
  await dialog.getByRole('button', { name: 'Create job' }).click()
  await expect(page.getByRole('heading', { name: 'half done rerun' })).toBeVisible()
  const jobId = () => page.url().split('/').at(-1) ?? ''
  const rerun = await product.service.benchmarkJobs.get({ params: { id: jobId() } })
  expect(rerun.job_spec?.scenario_ids).toEqual([scenarios[1]])

  await open(page, `${product.url}/benchmark-jobs/${job.id}`)
  await page.getByRole('button', { name: 'Clone job' }).click()
  await expect(dialog).toContainText('2 scenarios with 1 agent: solver; 2 trials.')
  await dialog.getByRole('button', { name: 'Create job' }).click()
  await expect(page.getByRole('heading', { name: 'half done again' })).toBeVisible()
  const clone = await product.service.benchmarkJobs.get({ params: { id: jobId() } })
  expect(clone.job_spec?.scenario_ids).toEqual(scenarios)
})
