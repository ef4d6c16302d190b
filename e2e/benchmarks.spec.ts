import { execFileSync } from 'node:child_process'
import { hasJobEnded } from '#lib/contract/benchmark-jobs.ts'
import { expect, open, type Product, test } from './product.ts'
import { makeScenarios } from './small-jobs.ts'

/** A benchmark whose scenarios are solved by a file named `done`, with a started run. */
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

test('a run is canceled, and its logs are downloaded and opened', async ({ signedIn: page, product }) => {
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

  // Cancels two runs from the list; the completed one is skipped.
  const benchmark_id = run.benchmark_id ?? ''
  const idle = []
  for (const run_name of ['idle-1', 'idle-2', 'idle-3'])
    idle.push(await service.benchmarks.startRun({ body: { benchmark_id, run_name } }))
  await service.benchmarkRuns.complete({ params: { id: idle[2]?.id ?? '' } })
  await open(page, `${product.url}/benchmark-runs`)
  for (const name of ['idle-1', 'idle-2', 'idle-3'])
    await page.getByRole('checkbox', { name: `Select ${name}` }).check()
  await page.getByRole('region', { name: 'Selected runs' }).getByRole('button', { name: 'Cancel 2' }).click()
  const question = page.getByRole('dialog', { name: 'Cancel 2 runs?' })
  await expect(question).toContainText('Not possible for 1 of the 3 selected')
  await question.getByRole('button', { name: 'Cancel 2 runs' }).click()
  await expect(page.getByText('Canceled (2 of 2)')).toBeVisible()
  for (const name of ['idle-1', 'idle-2'])
    await expect(page.getByRole('row', { name: new RegExp(name) })).toContainText('Canceled')

  await page.getByRole('link', { name: 'nightly' }).click()
  await expect(page.getByRole('row', { name: /Running/ })).toHaveCount(2)

  await page.getByRole('button', { name: 'Cancel run' }).click()
  const dialog = page.getByRole('dialog')
  await expect(dialog).toContainText('2 running scenarios will be canceled and their devboxes shut down')
  await expect(dialog).toContainText('1 completed scenario keeps its score')
  await dialog.getByRole('button', { name: 'Cancel run' }).click()
  await expect(page.getByRole('main').getByRole('status').getByText('Canceled').first()).toBeVisible()
  await expect(page.getByRole('row', { name: /Canceled/ })).toHaveCount(2)
  // Canceling returns before the devboxes are shut down.
  for (const { devbox_id } of scenarioRuns)
    await expect.poll(async () => (await service.devboxes.get({ params: { id: devbox_id } })).status).toBe('shutdown')
  // One of three: incomplete trials score 0.
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

  await open(page, `${product.url}/devboxes`)
  const ofTrials = page
    .getByRole('main')
    .getByRole('row')
    .filter({ hasText: solved.devbox_id.slice(-4) })
  await expect(page.getByText(/trial devbox/).first()).toBeVisible()
  await expect(ofTrials).toHaveCount(0)
  await page.getByRole('link', { name: 'Show trial devboxes' }).click()
  await expect(ofTrials).toBeVisible()
  await expect(page.getByText(/trial devboxes? included/)).toBeVisible()
})

test('the first screen of a job has its verdict, agents and failures, with a link to the attempts', async ({
  signedIn: page,
  product: { service, url },
}) => {
  const scenario_ids = await makeScenarios({ service }, ['first', 'second', 'third', 'fourth'])
  const agentOf = (name: string, command: string) => ({ name, type: 'job_agent' as const, kwargs: { command } })
  const { id } = await service.benchmarkJobs.create({
    body: {
      name: 'why they fail',
      spec: {
        type: 'scenarios',
        scenario_ids,
        agent_configs: [
          agentOf('solver', 'echo 1 > ~/answer'),
          agentOf(
            'guesser',
            'case $(<"$HARBOR_INSTRUCTION_FILE") in 0) echo 0.5 > ~/answer ;; *) echo 0 > ~/answer ;; esac',
          ),
          agentOf('crasher', 'echo no key 123 >&2; exit 3'),
        ],
        orchestrator_config: { n_concurrent_trials: 8 },
      },
    },
  })
  await expect.poll(async () => hasJobEnded((await service.benchmarkJobs.get({ params: { id } })).state)).toBe(true)
  await page.setViewportSize({ width: 1440, height: 900 })
  await open(page, `${url}/benchmark-jobs/${id}`)
  const failures = page.getByRole('region', { name: 'Failures' })
  await expect(page.getByRole('region', { name: 'Verdict' })).toContainText('solver leads guesser by 0.875')
  for (const part of [
    page.getByRole('region', { name: 'Verdict' }),
    page.getByRole('table', { name: /^Agents of the job/ }).getByRole('row', { name: /crasher/ }),
    failures.getByRole('row', { name: /Scored between 0 and 1/ }),
  ]) {
    const box = await part.boundingBox()
    expect(box && box.y + box.height).toBeLessThanOrEqual(900)
  }
  await expect(failures.getByRole('row').nth(1)).toContainText('1.000')
  await expect(failures.getByRole('row').nth(2)).toContainText(/3.*Wrong answer: scored 0.*guesser 3.*0\.750/)
  await failures.getByRole('button', { name: 'Show 3 attempts' }).click()
  await expect(page.getByText('Showing 3 of 3 outcomes')).toBeVisible()
  await expect(page).toHaveURL(/failure=zero/)

  const agents = page.getByRole('table', { name: /^Agents of the job/ })
  const dialog = page.getByRole('dialog').last()
  await page
    .getByRole('checkbox', { name: /^Select .*, guesser/ })
    .first()
    .check()
  await page
    .getByRole('checkbox', { name: /^Select .*, guesser/ })
    .nth(1)
    .check()
  await page.getByRole('button', { name: 'Label…' }).click()
  await dialog.getByRole('button', { name: 'reward hacking' }).click()
  await dialog.getByRole('button', { name: 'Add label' }).click()
  const labels = page.getByRole('region', { name: 'Labels', exact: true })
  await expect(labels).toContainText('reward hacking 2 attempts guesser 2')
  await labels.getByRole('button', { name: 'Show attempts labeled reward hacking' }).click()
  await expect(page.getByText('Showing 2 of 2 outcomes')).toBeVisible()
  await expect(page).toHaveURL(/label=reward/)

  await labels.getByRole('button', { name: 'Exclude 2 attempts labeled reward hacking' }).click()
  await expect(dialog.getByRole('button', { name: /^Exclude/ })).toHaveAttribute('aria-disabled', 'true')
  await dialog.getByLabel('Note').fill('Reads the answer of the task before')
  await dialog.getByRole('button', { name: 'Exclude' }).click()
  const exclusions = page.getByRole('region', { name: 'Exclusions' })
  await expect(exclusions).toContainText('2 attempts excluded from the figures.')
  // (0.5 + 0) / 2 instead of 0.5 / 4
  const guesser = agents.getByRole('row', { name: /guesser/ })
  await expect(guesser).toContainText('0.250 (n = 2)')
  await expect(guesser).toContainText('with excluded 0.125 (n = 4)')

  await page.getByRole('button', { name: 'Show all', exact: true }).click()
  await page.getByRole('button', { name: 'Show as grid' }).click()
  const grid = page.getByRole('grid')
  await expect(grid.getByRole('gridcell', { name: /excluded, labeled reward hacking/ })).toHaveCount(2)
  await grid.getByRole('row', { name: /first/ }).hover()
  await grid.getByRole('button', { name: 'Exclude first' }).click()
  await dialog.getByRole('button', { name: 'Exclude' }).click()
  await expect(exclusions).toContainText('1 scenario and 2 attempts excluded')
  await exclusions.getByRole('button', { name: 'Show' }).click()
  await expect(exclusions.getByRole('listitem').filter({ hasText: 'All agents, 3 attempts' })).toContainText(
    'Broken task',
  )
  await exclusions.getByRole('button', { name: 'Count them' }).click()
  await expect(guesser).toContainText('0.125 (n = 4)')
  await expect(page).toHaveURL(/exclusions=ignore/)
  await exclusions.getByRole('button', { name: 'Leave them out' }).click()

  // By keyboard: from a cell to the outcome, and the scenario back in.
  await page.getByRole('searchbox', { name: 'Search scenarios' }).fill('first')
  await expect(page.getByText('Showing 1 of 4 scenarios')).toBeVisible()
  await grid.locator('td[tabindex="0"]').press('Enter')
  const sheet = page.getByRole('dialog')
  await sheet.getByRole('button', { name: /^Include again/ }).press('Enter')
  await expect(sheet.getByRole('list', { name: 'Exclusions of this attempt' })).toHaveCount(0)
  await page.keyboard.press('Escape')
  await expect(exclusions).toContainText('2 attempts excluded from the figures.')
})

test('job errors point at their lines; the job is created and followed to its end', async ({
  signedIn: page,
  product,
}) => {
  const { isolation } = await product.service.accounts.me()
  test.skip(isolation !== 'bubblewrap', "tasks in Harbor's format need bubblewrap")

  const jobIds = async () => (await product.service.benchmarkJobs.list()).jobs.map(({ id }) => id)
  const idsBefore = await jobIds()
  await open(page, `${product.url}/benchmark-jobs`)
  await page.getByRole('button', { name: 'Create job' }).first().click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('textbox', { name: /^Name/ }).fill('first job')
  const file = dialog.getByRole('textbox', { name: 'Job file' })
  await file.fill('datasets:\n  - path: no-such-folder\nagents:\n  - name: claude-code\n')
  await dialog.getByRole('button', { name: 'Create job' }).click()
  await expect(dialog.getByText('2 problems; nothing was created')).toBeVisible()
  await dialog.getByRole('button', { name: /claude-code/ }).click()
  await expect
    .poll(() => file.evaluate((area: HTMLTextAreaElement) => area.value.slice(area.selectionStart, area.selectionEnd)))
    .toBe('  - name: claude-code')
  expect(await jobIds()).toEqual(idsBefore)

  await file.fill(
    'datasets:\n  - path: tasks\n    task_names: [hello-file, sum-column, no-reward]\nagents:\n  - name: oracle\n    env:\n      API_TOKEN: hidden-from-view\n  - name: nop\n',
  )
  await dialog.getByRole('button', { name: 'Create job' }).click()
  await page.waitForURL(/\/benchmark-jobs\/bmj_\w+/)
  await expect(page.getByRole('heading', { name: 'first job' })).toBeVisible()
  await expect(page).toHaveTitle(/^(\(\d+\) )?first job · Devdeck$/)
  await expect(page.getByRole('main').getByRole('status').getByText('Completed').first()).toBeVisible({
    timeout: 200_000,
  })
  await expect(page.getByText('6 of 6')).toBeVisible()
  // Two of three pass; the third has no reward, which counts as 0 or is excluded.
  await expect(page.getByRole('region', { name: 'Verdict' })).toContainText('oracle leads nop by 0.667')
  const agents = page.getByRole('table', { name: /^Agents of the job/ })
  await expect(agents.getByRole('row', { name: /oracle/ })).toContainText('0.667 (n = 3)')
  await expect(agents.getByRole('row', { name: /nop/ })).toContainText('0.000 (n = 3)')
  await page.getByText('Exclude failures').click()
  await expect(page).toHaveURL(/failures=leave_out/)
  await expect(agents.getByRole('row', { name: /oracle/ })).toContainText('1.000 (n = 2)')
  await expect(page.getByRole('region', { name: 'Failures' })).toContainText('RewardFileNotFoundError')

  // Keyboard use of the grid: disagreements first, Enter opens an outcome, arrows move on.
  const grid = page.getByRole('grid')
  await grid.locator('td[tabindex="0"]').focus()
  await page.keyboard.press('Control+End')
  await expect(grid.locator('td:focus')).toHaveAttribute('data-column', '1')
  await page.keyboard.press('Control+Home')
  await expect(grid.locator('td:focus')).toHaveAttribute('data-column', '0')
  await page.keyboard.press('ArrowRight')
  await expect(grid.locator('td:focus')).toHaveAttribute('data-column', '1')
  await page.keyboard.press('Enter')
  const sheet = page.getByRole('dialog')
  await expect(sheet).toContainText('nop')
  await page.keyboard.press('ArrowLeft')
  await expect(sheet).toContainText('oracle')
  await expect(page).toHaveURL(/scenario=.*run=bmr_/)
  await page.reload()
  await expect(sheet).toContainText('oracle')
  await page.keyboard.press('Escape')
  await expect(sheet).toBeHidden()
  await page.getByRole('searchbox', { name: 'Search scenarios' }).fill('no-rew')
  await expect(page.getByText('Showing 1 of 3 scenarios')).toBeVisible()
  await expect(page).toHaveURL(/search=no-rew/)
  await page.getByRole('button', { name: 'Show as table' }).click()
  await expect(page.getByText('Showing 2 of 2 outcomes')).toBeVisible()
  const outcomes = page.getByRole('table', { name: /^Outcomes of the scenarios shown/ })
  await outcomes.getByRole('button', { name: 'no-reward' }).first().press('Enter')
  await expect(sheet).toContainText('no-reward')
  await page.keyboard.press('Escape')
  await expect(sheet).toBeHidden()
  await expect(outcomes.getByRole('button', { name: 'no-reward' }).first()).toBeFocused()

  const source = page.getByRole('region', { name: 'Source and configuration' })
  await expect(source).not.toContainText('hidden-from-view')
  await source.getByRole('button', { name: 'Reveal the job file' }).click()
  await expect(source).toContainText('hidden-from-view')

  await page.getByRole('button', { name: 'Rerun failed' }).click()
  const rerun = page.getByRole('dialog')
  await expect(rerun).toContainText('2 attempts failed, timed out or were canceled, in 1 scenario')
  await expect(rerun.getByRole('textbox', { name: 'Job file' })).toHaveValue(/task_names:\s+- no-reward\n/)
  await page.keyboard.press('Escape')

  await agents
    .getByRole('row', { name: /oracle/ })
    .getByRole('link', { name: 'oracle' })
    .click()
  await page.waitForURL(/\/benchmark-runs\/bmr_\w+/)
  await expect(page.getByText('(n = 3 scenario runs)')).toBeVisible()
  await expect(page.getByText('2.00 points over 3 trials; 1 without a score counts as 0.')).toBeVisible()
  await expect(page.getByRole('link', { name: 'first job' })).toBeVisible()
  await expect(page.getByRole('button', { name: 'Cancel run' })).toHaveAttribute('aria-disabled', 'true')
})
