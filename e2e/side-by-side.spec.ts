import { zipOf } from '#lib/service/testing/harbor-job.ts'
import { expect, open, test } from './product.ts'

test.use({ journeys: 'side by side' })

const bash = (command: string, message = '') => ({
  source: 'agent',
  message,
  tool_calls: [{ tool_call_id: command, function_name: 'bash', arguments: { command } }],
  observation: { results: [{ source_call_id: command, content: `output of ${command}` }] },
})

const cast = [
  '{"version":3,"term":{"cols":40,"rows":5}}',
  '# recorded by hand',
  '[0.1,"o","$ cat README\\r\\n"]',
  '[0.2,"o","recorded <b>text</b>"]',
  '[0.1,"x","0"]',
].join('\n')

test('two attempts are compared by step, file and recording, and n opens the next disagreement', async ({
  signedIn: page,
  product,
}) => {
  const trial = (agent: string, task: string, reward: number, steps?: object[]) => {
    const folder = `nightly/${task}__${agent}`
    return {
      [`${folder}/result.json`]: {
        task_name: task,
        trial_name: `${task}__${agent}`,
        config: { agent: { name: agent } },
        verifier_result: { rewards: { reward } },
        finished_at: '2026-11-01T13:00:00Z',
      },
      [`${folder}/agent/agent.log`]: `${agent} starts\nboth do this\n`,
      [`${folder}/verifier/test-stdout.txt`]: `ran 2 tests\n${reward === 1 ? 'ok' : 'FAILED <img src=x onerror=alert(1)>'}\n`,
      ...(steps && { [`${folder}/agent/trajectory.json`]: { schema_version: 'ATIF-v1.4', steps } }),
    }
  }
  const start = [{ source: 'user', message: 'fix the task' }, bash('ls', 'I look'), bash('pwd')]
  const archive = await zipOf({
    'nightly/result.json': { id: 'side', finished_at: '2026-11-01T13:00:00Z', n_total_trials: 6 },
    ...trial('careful', 'pay', 1, [...start, bash('cat README'), bash('make')]),
    ...trial('hasty', 'pay', 0, [...start, bash('make'), { source: 'agent', message: 'giving up' }]),
    'nightly/pay__hasty/agent/recording.cast': cast,
    ...trial('careful', 'ship', 0),
    ...trial('hasty', 'ship', 1),
    ...trial('careful', 'same', 1),
    ...trial('hasty', 'same', 1),
  })
  await product.service.benchmarkJobs.import({ file: archive })
  const { jobs } = await product.service.benchmarkJobs.list()
  const job_id = jobs[0]?.id
  await open(page, `${product.url}/benchmark-jobs/${job_id}`)
  await page.getByRole('link', { name: /^1 vs 1/ }).click()
  await page.waitForURL(/side-by-side\?a=/)
  await expect(page.getByText('1 of 2 disagreements: only one passes')).toBeVisible()
  await expect(page.getByRole('heading', { name: 'pay' })).toBeVisible()
  const steps = page.getByRole('region', { name: 'Trajectories' })
  await expect(
    steps.getByText(/^Same for 3 steps; step 4 differs: (cat README vs make|make vs cat README)$/),
  ).toBeVisible()
  await expect(steps.getByRole('button', { name: /^First divergence/ })).toBeInViewport()
  await expect(steps.getByText('output of cat README')).toBeVisible()

  const files = page.getByRole('region', { name: 'Files' })
  await expect(files.getByText('FAILED <img src=x onerror=alert(1)>')).toBeVisible()
  await files.getByText('agent_recording.cast').click()
  await files.getByRole('button', { name: 'Play' }).click()
  await expect(files.getByLabel('Recorded screen')).toContainText('recorded <b>text</b>')

  await page.keyboard.press('j')
  await page.keyboard.press('Enter')
  await expect(steps.getByText('I look')).toBeHidden()
  await page.keyboard.press('n')
  await expect(page.getByText('2 of 2 disagreements: only one passes')).toBeVisible()
  await expect(page.getByRole('heading', { name: 'ship' })).toBeVisible()
  await expect(steps.getByText(/^A: the agent wrote no trajectory/)).toBeVisible()
  await expect(files.getByText('careful starts')).toBeVisible()
  await page.goBack()
  await expect(page.getByRole('heading', { name: 'pay' })).toBeVisible()
  await page.setViewportSize({ width: 390, height: 844 })
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
  await page.setViewportSize({ width: 1440, height: 900 })

  await open(page, `${product.url}/benchmark-jobs/${job_id}`)
  await page.getByRole('grid').locator('td[tabindex="0"]').focus()
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Compare with…' }).click()
  await page.getByRole('menuitem').first().click()
  await page.waitForURL(/side-by-side\?.*scenario=/)
  await page.keyboard.press('o')
  await page.waitForURL(/\/benchmarks\/scenarios\//)
})
