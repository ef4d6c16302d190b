import { startHosted } from './hosted/hosted.ts'
import { type Hosted, isSettled, problemsOf, routesOf, watchErrors } from './hosted/walk.ts'
import { expect, isLive, type Product, signIn, startProduct, test } from './product.ts'

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

test("every page shows a hosted service's data, with no wrong words and no failed calls", async ({ page }) => {
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

test("commands, their log, a job's cancellation and the list of operations work against a hosted service", async ({
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
  await expect(main.getByText(/checked just now/)).toBeVisible()
  expect(errors).toEqual([])
})

test('usage is narrowed by dragging and by sliders for all charts at once, and the address keeps the window', async ({
  page,
}) => {
  const now = Date.now()
  for (let minute = 30; minute >= 0; minute--)
    hosted.log(hosted.mainDevboxId, {
      source: 'stats',
      timestamp_ms: now - minute * 60_000,
      message: `3 processes, ${20 + minute} MiB of memory, 15 s of CPU in 60 s, 12 MiB of disk used`,
    })
  await signIn(page, product)
  await page.goto(`${product.url}/devboxes/${encodeURIComponent(hosted.mainDevboxId)}`)
  const chart = (name: string) => page.getByRole('img', { name: new RegExp(`^${name} from 0`) })
  const samples = (count: number | RegExp) =>
    Promise.all(
      ['CPU', 'Memory', 'Disk'].map((name) =>
        expect(chart(name)).toHaveAccessibleName(
          new RegExp(`, ${count instanceof RegExp ? count.source : count} samples`),
        ),
      ),
    )
  await samples(31)
  await expect(page.getByText(/^Mean 0\.25 cores, p95 0\.25 cores, highest 0\.25 cores/)).toBeVisible()

  // The middle third of the time, dragged over one chart.
  await isLive(page)
  await chart('Memory').scrollIntoViewIfNeeded()
  const box = await chart('Memory').boundingBox()
  const at = (share: number): [number, number] => [(box?.x ?? 0) + (box?.width ?? 0) * share, (box?.y ?? 0) + 20]
  await page.mouse.move(...at(1 / 3))
  await page.mouse.down()
  await page.mouse.move(...at(2 / 3))
  await page.mouse.up()
  await samples(/1[01]/)
  await expect(page).toHaveURL(/usage=\d+-\d+/)
  await page.reload()
  await isLive(page)
  await samples(/1[01]/)
  await page.getByRole('slider', { name: /^From/ }).focus()
  await page.keyboard.press('Home')
  await samples(/2[01]/)
  await page.getByRole('combobox', { name: 'Time' }).selectOption('Last 15 minutes')
  await samples(16)
  await expect(page).toHaveURL(/usage=15m/)
  await page.getByRole('button', { name: 'Show all' }).click()
  await samples(31)
})
