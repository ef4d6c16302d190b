import { readFileSync } from 'node:fs'
import type { Page } from '@playwright/test'
import type { BenchmarkJob, BenchmarkJobImported } from '#lib/contract/benchmark-jobs.ts'
import type { CompareReport } from '#lib/protocol/reports.ts'
import { zipOf } from '#lib/service/testing/harbor-job.ts'
import { expect, open, type Product, test } from './product.ts'

const trialsOf = (job: string, rewards: Record<string, number>) => ({
  [`${job}/result.json`]: { id: job, finished_at: '2026-11-01T13:00:00Z', n_total_trials: Object.keys(rewards).length },
  ...Object.fromEntries(
    Object.entries(rewards).map(([task_name, reward], at) => [
      `${job}/${task_name}__${at}/result.json`,
      {
        task_name,
        agent_info: { name: 'solver', version: '1' },
        verifier_result: { rewards: { reward, latency: 10 - 8 * reward } },
      },
    ]),
  ),
})

const importJobs = async ({ serviceUrl, apiKey }: Product): Promise<string[]> => {
  const baseline = { pay: 1, ship: 0.5, tax: 0.5, mail: 0.25, fax: 1 }
  const form = new FormData()
  const archive = await zipOf({
    ...trialsOf('lead-before', baseline),
    ...trialsOf('lead-after', { ...baseline, ship: 0.75, tax: 0.75, fax: 0 }),
  })
  form.append('file', archive, 'jobs.zip')
  const answer = await fetch(`${serviceUrl}/v1/benchmark_jobs/import`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}` },
    body: form,
  })
  const { jobs } = (await answer.json()) as BenchmarkJobImported
  return ['lead-before', 'lead-after'].map((path) => jobs.find((job) => job.path === path)?.job_id ?? '')
}

const excludeScenario = async (page: Page, { serviceUrl, apiKey }: Product, job: string, name: string) => {
  const answer = await fetch(`${serviceUrl}/v1/benchmark_jobs/${job}`, {
    headers: { authorization: `Bearer ${apiKey}` },
  })
  const { benchmark_outcomes } = (await answer.json()) as BenchmarkJob
  const outcome = benchmark_outcomes?.[0]?.scenario_outcomes.find(({ scenario_name }) => scenario_name === name)
  const items = [{ scenario_id: outcome?.scenario_definition_id }]
  const body = JSON.stringify({ job_id: job, items, reason: 'broken_task', note: 'The verifier needs a network' })
  const status = await page.evaluate(async (body) => {
    const headers = { 'content-type': 'application/json' }
    return (await fetch('/api/judgment/exclusions', { method: 'POST', headers, body })).status
  }, body)
  expect(status).toBe(200)
}

const judgeByLatency = async (page: Page, address: string) => {
  await open(page, address)
  const agents = page.getByRole('region', { name: 'Agents' })
  await agents.getByRole('button', { name: 'Metrics' }).click()
  await page.getByRole('menuitemcheckbox', { name: 'latency' }).click()
  await expect(agents.getByRole('columnheader', { name: 'Mean latency' })).toBeVisible()
  // (2 + 4 + 4 + 8 + 10) / 5
  await expect(agents.getByRole('table')).toContainText('5.600 (n = 5)')
  await agents.getByLabel('Metric', { exact: true }).selectOption('latency')
  await agents.getByLabel('Better').selectOption('Lower')
  await agents.getByLabel('Pass threshold').fill('4')
  await agents.getByLabel('Pass threshold').press('Enter')
  await expect(agents.getByRole('table')).toContainText('3 of 5')
  await expect(page).toHaveURL(/[?&]direction=lower/)
}

test('a lead compares two imported jobs, gates them, and shares the result with someone without an account', async ({
  signedIn: page,
  product,
  browser,
}) => {
  const [before = '', after = ''] = await importJobs(product)
  await judgeByLatency(page, `${product.url}/benchmark-jobs/${after}`)
  const address = `${product.url}/benchmark-jobs/compare?jobs=${before},${after}`
  await open(page, address)
  // (0.25 + 0.25 - 1) / 5
  await expect(page.getByRole('table', { name: /^Differences from the baseline/ })).toContainText('-0.100 (n = 5)')
  const isGatePassed = async () => {
    const search = `jobs=${before},${after}&gate=non_inferior&margin=0.2`
    const gate = await page.request.get(`${product.url}/api/benchmark-jobs/compare/report?${search}`)
    return ((await gate.json()) as CompareReport).gate?.passed
  }
  expect(await isGatePassed()).toBe(false)

  await excludeScenario(page, product, after, 'fax')
  await page.reload()
  // (0.25 + 0.25) / 4
  await expect(page.getByRole('table', { name: /^Differences from the baseline/ })).toContainText('0.125 (n = 4)')
  expect(await isGatePassed()).toBe(true)

  const downloading = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Export' }).click()
  await page.getByRole('menuitem', { name: 'HTML' }).click()
  const [counted, whole] = readFileSync(await (await downloading).path(), 'utf8').split('With nothing excluded')
  expect(counted).toContain('<b>+0.125</b>')
  expect(whole).toContain('<b>-0.100</b>')

  await page.getByRole('button', { name: 'Share' }).click()
  const dialog = page.getByRole('dialog', { name: 'Share comparison' })
  await dialog.getByLabel('Expires after').selectOption('7 days')
  await dialog.getByRole('button', { name: 'Create link' }).click()
  const link = await dialog.getByLabel('Link', { exact: true }).inputValue()
  expect(link).toMatch(new RegExp(`^${product.url}/s/[\\w-]{32}$`))

  await page.keyboard.press('Escape')
  await page.emulateMedia({ media: 'print' })
  await page.evaluate(() => dispatchEvent(new Event('beforeprint')))
  await expect(page.getByText(`${address}, printed`)).toBeVisible()
  for (const role of ['navigation', 'button', 'combobox'] as const)
    await expect(page.getByRole(role).filter({ visible: true })).toHaveCount(0)
  await page.emulateMedia({ media: null })
  await page.evaluate(() => dispatchEvent(new Event('afterprint')))

  const context = await browser.newContext()
  const visitor = await context.newPage()
  const requests: string[] = []
  const messages: string[] = []
  visitor.on('request', (request) => requests.push(request.url()))
  visitor.on('console', (message) => messages.push(message.text()))
  await visitor.goto(link)
  await expect(visitor.getByRole('heading', { level: 1 })).toContainText('lead-before')
  await expect(visitor.getByRole('table').first()).toContainText('+0.125')
  await expect(visitor.getByText('The verifier needs a network')).toBeVisible()
  expect([requests, messages]).toEqual([[link], []])
  expect(await context.cookies()).toEqual([])

  await page.goto(`${product.url}/settings`)
  const links = page.getByRole('list', { name: 'Share links' })
  await expect(links.getByRole('listitem')).toContainText('Opened 1 time')
  await links.getByRole('button', { name: 'Revoke' }).click()
  await page.getByRole('dialog', { name: 'Revoke link?' }).getByRole('button', { name: 'Revoke link' }).click()
  await expect(links).toHaveCount(0)
  expect((await visitor.goto(link))?.status()).toBe(404)
  await expect(visitor.getByRole('heading', { level: 1 })).toHaveText('Link not found')
  await context.close()
})
