import { globSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from '@playwright/test'
import { startHosted } from './hosted/hosted.ts'
import { expect, isLive, type Product, signIn, startProduct, test } from './product.ts'

type Hosted = Awaited<ReturnType<typeof startHosted>>

const wrongWords = /\b(?:undefined|null|NaN|Invalid Date|0 of 0)\b|\[object \w+\]/

/** A recording is made by typing in a terminal. */
const unwalked = ['/recordings/[id]']

/** Every page of the app, with the ids of records that exist. */
const routesOf = async ({ url, key, mainDevboxId }: Hosted, alert: string) => {
  const first = async (path: string, name: string, wanted: (row: Record<string, unknown>) => boolean = () => true) => {
    const response = await fetch(`${url}/v1/${path}`, { headers: { authorization: `Bearer ${key}` } })
    const { [name]: rows = [] } = (await response.json()) as Record<string, { id: string }[]>
    return rows.find(wanted)?.id
  }
  const job = await first('benchmark_jobs', 'jobs', ({ name }) => name === 'after')
  const { benchmark_outcomes } = (await (
    await fetch(`${url}/v1/benchmark_jobs/${encodeURIComponent(job ?? '')}`, {
      headers: { authorization: `Bearer ${key}` },
    })
  ).json()) as { benchmark_outcomes: { benchmark_run_id: string }[] }
  const ids: Record<string, string | undefined> = {
    '/devboxes': mainDevboxId,
    '/axons': await first('axons', 'axons', ({ name }) => name === 'orders 10'),
    '/blueprints': await first('blueprints', 'blueprints'),
    '/agents': await first('agents', 'agents'),
    '/objects': await first('objects', 'objects'),
    '/benchmark-jobs': job,
    '/benchmark-runs': benchmark_outcomes[0]?.benchmark_run_id,
    '/benchmarks': await first('benchmarks', 'benchmarks'),
    '/benchmarks/scenarios': await first('scenarios', 'scenarios'),
    '/evictions': alert,
    '/docs': 'agents',
    '/settings/secrets': 'OPENAI_KEY',
    '/settings/network-policies': await first('network-policies', 'network_policies'),
    '/settings/gateways': await first('gateway-configs', 'gateway_configs'),
    '/settings/mcp-servers': await first('mcp-configs', 'mcp_configs'),
  }
  const app = join(import.meta.dirname, '../app/(console)')
  return globSync('**/page.tsx', { cwd: app })
    .map((file) => `/${file.replace(/\/?page\.tsx$/, '')}`)
    .filter((path) => !path.includes('[...') && !unwalked.includes(path))
    .map((path) =>
      path.replace(/^(.*?)\/\[\w+\]/, (_, collection: string) => {
        const id = ids[collection]
        if (id === undefined) throw new Error(`No record for ${path}: add one to the hosted service, or its id here`)
        return `${collection}/${encodeURIComponent(id)}`
      }),
    )
    .sort()
}

const watchErrors = (page: Page, isExpected: (text: string) => boolean = () => false) => {
  const errors: string[] = []
  const add = (text: string) => isExpected(text) || errors.push(`${new URL(page.url()).pathname}: ${text}`)
  page.on('console', (message) => message.type() === 'error' && add(`${message.text()} ${message.location().url}`))
  page.on('pageerror', (error) => add(String(error)))
  return errors
}

/** Wrong words and blank regions of what is shown now. */
const problemsOf = async (page: Page, where: string): Promise<string[]> => {
  const texts = await page.locator('main, [role=dialog], [role=menu]').allInnerTexts()
  return texts.flatMap((text) => {
    const found = wrongWords.exec(text)
    if (found) return [`${where}: “${text.slice(Math.max(0, found.index - 40), found.index + 40)}”`]
    return text.trim().length < 10 ? [`${where} is blank`] : []
  })
}

const isSettled = async (page: Page) => {
  const main = page.getByRole('main')
  await expect(main.getByRole('heading').first()).toBeVisible()
  await expect(main.locator('[aria-busy=true]')).toHaveCount(0)
}

test.describe.configure({ mode: 'serial' })

let hosted: Hosted
let product: Product
test.beforeAll(async () => {
  hosted = await startHosted()
  product = { ...(await startProduct({ DEVDECK_SERVICE_URL: hosted.url })), apiKey: hosted.key }
})
test.afterAll(async () => {
  await product.stop()
  hosted.close()
})

test('every page shows a hosted service’s data, with no wrong words and no failed calls', async ({ page }) => {
  const errors = watchErrors(page)
  await signIn(page, product)
  hosted.evict(hosted.mainDevboxId, Date.now() + 3_600_000)
  await page.goto(`${product.url}/evictions`)
  const link = page.getByRole('main').getByRole('link', { name: 'main', exact: true }).first()
  await expect(link).toBeVisible()
  const { alerts } = await (await page.request.get(`${product.url}/api/alerts`)).json()
  for (const path of await routesOf(hosted, alerts[0].id)) {
    await page.goto(product.url + path)
    await isSettled(page)
    expect.soft(await problemsOf(page, path)).toEqual([])
  }
  expect.soft(errors).toEqual([])
  const refused = hosted.requests.filter(({ status }) => status >= 400).map(({ method, path }) => `${method} ${path}`)
  // Each was tried once, and not again.
  expect(refused.sort()).toEqual([
    'GET /healthz',
    'GET /v1/axons/metadata/keys',
    `GET /v1/devboxes/${encodeURIComponent(hosted.mainDevboxId)}/logs/tail`,
    'GET /v1/devboxes/metadata/keys',
  ])
})

test('commands, their log, a job’s cancellation and the list of operations work against a hosted service', async ({
  page,
}) => {
  const errors = watchErrors(page)
  await signIn(page, product)
  const main = page.getByRole('main')
  const devbox = `${product.url}/devboxes/${encodeURIComponent(hosted.mainDevboxId)}`

  await page.goto(`${devbox}/commands`)
  await isLive(page)
  await main.getByRole('textbox').first().fill('echo from-$((40 + 2))')
  await main.getByRole('button', { name: 'Run command' }).click()
  await expect(main.getByText('from-42').first()).toBeVisible()
  await page.goto(`${devbox}/log`)
  await expect(main.getByText('from-42').first()).toBeVisible()

  await page.goto(`${product.url}/benchmark-jobs`)
  await main.getByRole('link', { name: 'in progress' }).click()
  await main.getByRole('button', { name: 'Cancel job' }).click()
  const dialog = page.getByRole('alertdialog').or(page.getByRole('dialog'))
  await expect(dialog).toContainText('its runs are canceled one by one')
  await dialog.getByRole('button', { name: 'Cancel job' }).click()
  await expect(main.getByText('Canceled').first()).toBeVisible()

  await page.goto(`${product.url}/settings/service`)
  await main.getByLabel('Operations').selectOption('Missing')
  const table = main.getByRole('table', { name: 'Operations of the service' })
  await expect(table.getByRole('row', { name: 'benchmarkJobs.import' })).toContainText('Missing')
  await expect(table.getByRole('row', { name: 'axons.list' })).toHaveCount(0)
  await main.getByRole('button', { name: 'Check again' }).click()
  await expect(main.getByText(/learned just now/)).toBeVisible()
  expect(errors).toEqual([])
})
