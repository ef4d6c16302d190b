import { globSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from '@playwright/test'
import { startHosted } from './hosted/hosted.ts'
import { expect, isLive, type Product, signIn, startProduct, test } from './product.ts'

type Hosted = Awaited<ReturnType<typeof startHosted>>

const wrongWords = /\b(?:undefined|null|NaN|Invalid Date|0 of 0)\b|\[object \w+\]/

/** Every page of the app, with the ids of records that exist. */
const routesOf = async ({ url, key, mainDevboxId }: Hosted) => {
  const first = async (path: string, name: string, wanted: (row: Record<string, unknown>) => boolean = () => true) => {
    const response = await fetch(`${url}/v1/${path}`, { headers: { authorization: `Bearer ${key}` } })
    const { [name]: rows = [] } = (await response.json()) as Record<string, { id: string }[]>
    return rows.find(wanted)?.id ?? 'missing'
  }
  const ids: Record<string, string> = {
    devboxes: mainDevboxId,
    axons: await first('axons', 'axons', ({ name }) => name === 'orders 10'),
    blueprints: await first('blueprints', 'blueprints'),
    agents: await first('agents', 'agents'),
    objects: await first('objects', 'objects'),
    'benchmark-jobs': await first('benchmark_jobs', 'jobs', ({ name }) => name === 'after'),
    'benchmark-runs': await first('benchmark_runs', 'runs', ({ state }) => state === 'completed'),
    'benchmarks/scenarios': await first('scenarios', 'scenarios'),
    'settings/secrets': 'OPENAI_KEY',
    'settings/network-policies': await first('network-policies', 'network_policies'),
    'settings/gateway-configs': await first('gateway-configs', 'gateway_configs'),
    'settings/mcp-configs': await first('mcp-configs', 'mcp_configs'),
  }
  return globSync('**/page.tsx', { cwd: join(import.meta.dirname, '../app/(console)') })
    .map((file) => `/${file.replace(/\/?page\.tsx$/, '')}`)
    .filter((path) => !path.includes('[...'))
    .map((path) => {
      const [collection = '', rest] = path.slice(1).split('/[id]')
      return rest === undefined ? path : `/${collection}/${encodeURIComponent(ids[collection] ?? 'missing')}${rest}`
    })
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
  for (const path of await routesOf(hosted)) {
    await page.goto(product.url + path)
    await isLive(page)
    await isSettled(page)
    expect.soft(await problemsOf(page, path)).toEqual([])
  }
  expect.soft(errors).toEqual([])
  const refused = hosted.requests.filter(({ status }) => status >= 400).map(({ method, path }) => `${method} ${path}`)
  expect(new Set(refused)).toEqual(new Set(['GET /healthz']))
})
