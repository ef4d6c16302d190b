import type { Page } from '@playwright/test'
import { expect, open, type Product, signIn, test } from './product.ts'

test.use({ journeys: 'axons' })

const total = 640
const envs = ['prod', 'staging', 'dev']
const hostileName = `=HYPERLINK("http://x") <img src=x onerror="document.title='owned'"> a\u202eb ${'x'.repeat(10_000)}`

const names = (page: Page) => page.getByRole('table').getByRole('rowheader').allInnerTexts()
const size = (page: Page, text: string | RegExp) =>
  expect(page.getByRole('status').filter({ hasText: text })).toBeVisible()
test('an empty account sees an introduction to axons', async ({ signedIn: page, product }) => {
  await page.goto(`${product.url}/axons`)
  await expect(page.getByRole('heading', { name: 'No axons yet' })).toBeVisible()
  await expect(page.getByText('curl http')).toBeVisible()
})

test('a fully loaded list is sorted without a request and shows its size', async ({ signedIn: page, product }) => {
  await seed(product)
  await open(page, `${product.url}/axons`)
  await size(page, '640 of 640')
  const calls: string[] = []
  page.on('request', (request) => request.url().includes('/api/v1/axons?') && calls.push(request.url()))

  await page.getByRole('button', { name: 'Name', exact: true }).click()
  await expect.poll(async () => (await names(page))[2]).toBe('run-2')
  await page.getByRole('button', { name: 'Name', exact: true }).click()
  await expect.poll(async () => (await names(page))[0]).toBe('run-639')
  await expect(page.getByRole('columnheader', { name: 'Name' })).toHaveAttribute('aria-sort', 'descending')
  await page.getByRole('combobox', { name: 'State' }).selectOption('deleted')
  await size(page, 'Showing 1 of 640')
  // Except for the refresh of the loaded rows.
  expect(calls.filter((url) => !url.includes('limit=740'))).toEqual([])
  await page.goBack()
  await size(page, '640 of 640')

  await page.getByLabel('Search name, ID or key:value').pressSequentially('run-6')
  await size(page, 'Showing 51 of 51')
  await expect(page).toHaveURL(/\?search=run-6&sort=-name$/)
  await page.getByRole('combobox', { name: 'State' }).selectOption('deleted')
  await size(page, 'Showing 1 of 51')

  await page.goBack()
  await page.getByRole('link', { name: 'Clear filters' }).click()
  await size(page, '640 of 640')
})

test('only visible rows are rendered, and arrow keys move the focus', async ({ signedIn: page, product }) => {
  await seed(product)
  await open(page, `${product.url}/axons`)
  await size(page, '640 of 640')
  const table = page.getByRole('table')
  await expect(table).toHaveAttribute('aria-rowcount', '641')
  const heights = page
    .locator('tbody tr[data-key]')
    .evaluateAll((rows) => rows.map((row) => row.getBoundingClientRect().height))
  // Row positions are computed from this height.
  expect(new Set(await heights)).toEqual(new Set([36]))
  const rows = () => page.locator('tbody tr').count()
  expect(await rows()).toBeLessThanOrEqual(60)
  await page.evaluate(() => window.scrollTo(0, 12_000))
  await expect(page.getByRole('row').nth(20)).toHaveAttribute('aria-rowindex', /^3\d\d$/)
  expect(await rows()).toBeLessThanOrEqual(60)

  await page.keyboard.press('j')
  const focused = () =>
    page.evaluate(() => Number(document.activeElement?.closest('tr')?.getAttribute('aria-rowindex')))
  await expect.poll(focused).toBeGreaterThan(300)
  const start = await focused()
  for (let i = 0; i < 40; i++) await page.keyboard.press('j')
  await expect.poll(focused).toBe(start + 40)
  // The focused row stays in the DOM when scrolled out of view.
  await page.evaluate(() => window.scrollTo(0, 0))
  await expect(page.locator('tr[aria-rowindex="2"]')).toBeVisible()
  expect(await focused()).toBe(start + 40)
  expect(await rows()).toBeLessThanOrEqual(60)

  await page.keyboard.press('x')
  for (let i = 0; i < 4; i++) await page.keyboard.press('j')
  await page.keyboard.press('Shift+X')
  await expect(page.getByText('5 selected')).toBeVisible()
})

test('Back and reload restore the scroll position', async ({ signedIn: page, product }) => {
  await seed(product)
  await page.goto(`${product.url}/axons?sort=name`)
  await size(page, '640 of 640')
  await page.evaluate(() => window.scrollTo(0, 9_000))
  const first = async () => Math.round(await page.evaluate(() => window.scrollY))
  await expect.poll(first).toBe(9_000)
  // A mouse click may scroll first while rows are still rendering.
  await page.getByRole('link', { name: 'run-250', exact: true }).evaluate((link: HTMLElement) => link.click())
  await expect(page.getByRole('navigation', { name: 'Axon' })).toBeVisible()
  await page.goBack()
  await size(page, '640 of 640')
  await expect.poll(first).toBe(9_000)
  await page.reload()
  await size(page, '640 of 640')
  await expect.poll(first).toBe(9_000)
  await expect(page.getByRole('link', { name: 'run-250', exact: true })).toBeVisible()
})

test('a shared address shows the same rows, order and columns', async ({ signedIn: page, product, browser }) => {
  await seed(product)
  await open(page, `${product.url}/axons`)
  await page.getByRole('search').getByRole('button', { name: 'Metadata' }).click()
  await page.getByLabel('Metadata key').fill('env')
  await page.getByRole('combobox', { name: 'Comparison' }).selectOption('in')
  await page.getByRole('button', { name: 'staging', exact: true }).click()
  await page.getByRole('button', { name: 'prod', exact: true }).click()
  await page.getByRole('button', { name: 'Add filter' }).click()
  await size(page, /Showing (\d+) of \1/)
  await page.getByRole('button', { name: 'Columns' }).click()
  const dialog = page.getByRole('dialog', { name: 'Columns' })
  await dialog.getByLabel('Metadata key').fill('env')
  await dialog.getByRole('button', { name: 'Add column' }).click()
  await dialog.getByRole('button', { name: 'Hide ID' }).click()
  await dialog.getByRole('button', { name: 'Move env up' }).click()
  await dialog.getByRole('button', { name: 'Make Name wider' }).click()
  await dialog.getByRole('button', { name: 'Done' }).click()
  await page.getByRole('button', { name: 'env', exact: true }).click()
  await expect(page).toHaveURL(
    /\/axons\?metadata\[env\]\[in\]=prod,staging&sort=metadata\.env&columns=name:184,state,metadata,metadata\.env,created$/,
  )
  const seen = async (where: Page) => ({
    heads: await where.getByRole('columnheader').allInnerTexts(),
    width: await where
      .getByRole('columnheader', { name: 'Name' })
      .evaluate((cell) => (cell as HTMLElement).style.width),
    names: await names(where),
    size: await where.getByRole('status').filter({ hasText: 'Showing' }).innerText(),
  })
  await expect(page.getByRole('columnheader', { name: 'env', exact: true })).toBeVisible()

  const stranger = await (await browser.newContext({ viewport: { width: 1440, height: 900 } })).newPage()
  await signIn(stranger, product)
  await stranger.goto(page.url())
  // The address changes before the rows do.
  await expect(async () => expect(await seen(stranger)).toEqual(await seen(page))).toPass()
  await stranger.context().close()

  await open(page, `${product.url}/axons`)
  await expect(page).toHaveURL(/\?columns=name:184,/)
  await page.getByRole('button', { name: 'Columns' }).click()
  await dialog.getByRole('button', { name: 'Reset to default' }).click()
  await dialog.getByRole('button', { name: 'Done' }).click()
  await expect(page).toHaveURL(`${product.url}/axons`)
})

test('metadata changes are previewed, and an axon is deleted permanently', async ({ signedIn: page, product }) => {
  const { id } = await product.service.axons.create({ body: { name: 'edited', metadata: { keep: '1', drop: '2' } } })
  await open(page, `${product.url}/axons/${id}`)
  await page.getByRole('button', { name: 'Edit metadata' }).click()
  const dialog = page.getByRole('dialog', { name: 'Edit metadata' })
  await expect(dialog.getByText('No changes.')).toBeVisible()
  await dialog.getByRole('textbox', { name: 'value 1' }).fill('changed')
  await dialog.getByRole('button', { name: 'Remove drop' }).click()
  const changes = dialog.getByRole('region', { name: 'Changes' }).getByRole('listitem')
  await expect(changes).toHaveText([/Removed\s*drop=2/, /Changed\s*keep=1\s*changed/])
  // A stray key or click must not discard input.
  await page.keyboard.press('Escape')
  await expect(dialog.getByText("Your changes aren't saved.")).toBeVisible()
  await expect(dialog.getByRole('button', { name: 'Discard changes' })).toBeFocused()
  await page.mouse.click(5, 5)
  await expect(changes).toHaveText([/Removed\s*drop=2/, /Changed\s*keep=1\s*changed/])
  await dialog.getByRole('button', { name: 'Save metadata' }).click()
  await expect(dialog).toBeHidden()
  expect((await product.service.axons.get({ params: { id } })).metadata).toEqual({ keep: 'changed' })

  await page.getByRole('button', { name: 'Delete axon' }).click()
  const confirm = page.getByRole('dialog', { name: 'Delete this axon?' })
  await confirm.getByRole('textbox').fill('edited')
  await confirm.getByRole('button', { name: 'Delete axon' }).click()
  await expect(page.getByText('This axon is deleted')).toBeVisible()
  await expect(page.getByRole('button', { name: /^Edit metadata\s?: The axon is deleted/ })).toBeVisible()
})

test('the list shows its age and picks up new axons by itself', async ({ signedIn: page, product }) => {
  const { service } = product
  const { id } = await service.axons.create({ body: { name: 'refreshed one' } })
  await page.clock.install()
  await open(page, `${product.url}/axons?search=refreshed`)
  await size(page, 'Showing 1 of 1')
  await expect(page.getByText(/^As of \d\d:\d\d:\d\d \S+, /)).toBeVisible()
  await service.axons.create({ body: { name: 'refreshed two' } })
  await service.axons.delete({ params: { id } })
  await page.clock.runFor(11_000)
  await size(page, 'Showing 2 of 2')
  await expect(page.getByRole('row', { name: /refreshed one/ })).toContainText('Deleted')
})

test('the event log follows events published anywhere', async ({ signedIn: page, product }) => {
  const { id } = await product.service.axons.create({ body: { name: 'logged' } })
  const publish = (event_type: string, payload = '{}') =>
    product.service.axons.publish({
      params: { id },
      body: { event_type, origin: 'AGENT_EVENT', source: 'journey', payload },
    })
  await page.goto(`${product.url}/axons/${id}/events`)
  await expect(page.getByRole('heading', { name: 'No events yet' })).toBeVisible()
  await publish('first', '{"big":12345678901234567890}')
  const log = page.getByRole('log', { name: 'Event log' })
  await expect(log.getByText('first')).toBeVisible()

  await page.getByRole('button', { name: 'Publish event' }).click()
  const form = page.getByRole('form', { name: 'Publish an event' })
  await form.getByLabel('Type').fill('from-here')
  await form.getByLabel('Payload').fill('not json')
  await form.getByRole('button', { name: 'Publish event' }).click()
  await expect(log.getByText('from-here')).toBeVisible()
  await page.getByRole('button', { name: 'Publish event' }).first().click()

  for (let i = 0; i < 60; i++) await publish(`step-${i}`)
  await expect(log.getByText('step-59')).toBeVisible()
  await log.evaluate((region) => region.scrollTo(0, 0))
  await expect(log.getByText('first')).toBeVisible()
  await publish('while-away')
  await page.getByRole('button', { name: '1 new' }).click()
  await expect(log.getByText('while-away')).toBeVisible()

  await page.getByLabel('Type contains').fill('first')
  await expect(page.getByText('1 of 1 matches in the whole log')).toBeVisible()
  await log.getByRole('button', { name: /first/ }).click()
  await expect(page.getByRole('region', { name: 'Payload of event 1' })).toContainText('12345678901234567890')
  await expect(page).toHaveURL(/\/events\?event=1&type=first$/)
  await page.getByLabel('Type contains').fill('step')
  await expect(page.getByRole('region', { name: 'Event 1', exact: true })).toBeVisible()
  await page.goto(`${product.url}/axons/${id}?tab=events&event=9999`)
  await expect(page).toHaveURL(/\/events\?event=9999$/)
  await expect(page.getByText('No event has this sequence.')).toBeVisible()
})

test("SQL statements run in the axon's database and errors appear next to them", async ({
  signedIn: page,
  product,
}) => {
  const { id } = await product.service.axons.create({ body: { name: 'queried' } })
  await open(page, `${product.url}/axons/${id}/sql`)
  const tables = page.getByRole('region', { name: 'Tables' }).getByRole('button')
  await expect(tables).toHaveText([/^rl_axon_events\s*0 rows/])
  const sql = page.getByRole('textbox', { name: 'Statements' })
  await sql.fill(
    "CREATE TABLE notes (id INTEGER, text TEXT);\nINSERT INTO notes VALUES (1, 'a;b'), (2, NULL);\nSELECT * FROM notes",
  )
  await page.getByRole('button', { name: 'Run 3 statements' }).click()
  const last = page.getByRole('article', { name: /SELECT \* FROM notes/ })
  await expect(last.getByRole('table')).toContainText('a;b')
  await expect(last.getByRole('table')).toContainText('NULL')
  await expect(tables).toHaveText([/^notes\s*2 rows\s*id INTEGER, text TEXT$/, /^rl_axon_events/])
  await sql.fill('')
  await tables.first().click()
  await expect(sql).toBeFocused()
  await expect(sql).toHaveValue('SELECT "id", "text"\nFROM "notes"\nLIMIT 50')
  await sql.press('Control+Enter')
  await expect(page.getByRole('table', { name: 'Result' })).toContainText('a;b')
  await sql.fill('SELECT * FROM nowhere')
  await sql.press('Control+Enter')
  await expect(page.getByRole('alert').filter({ hasText: /no such table: nowhere/ })).toBeVisible()
  await sql.fill('SELECT ? + ?')
  await page.getByLabel('Parameters').fill('[20, 22]')
  await sql.press('Control+Enter')
  await expect(page.getByRole('table', { name: 'Result' })).toContainText('42')
})

const seeded = new WeakSet<Product>()

const seed = async (product: Product) => {
  if (seeded.has(product)) return
  seeded.add(product)
  const { service } = product
  for (let i = 0; i < total - 1; i += 20)
    for (const { id } of await Promise.all(
      Array.from({ length: Math.min(20, total - 1 - i) }, (_, at) =>
        service.axons.create({ body: { name: `run-${i + at + 1}`, metadata: { env: envs[(i + at) % 3] as string } } }),
      ),
    ))
      expect(id).toMatch(/^axn_/)
  await service.axons.create({ body: { name: hostileName, metadata: { '<b>': '</script>' } } })
  const { axons } = await service.axons.list({ query: { search: 'run-600' } })
  await service.axons.delete({ params: { id: axons[0]?.id ?? '' } })
}
