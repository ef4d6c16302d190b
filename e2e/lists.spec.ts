import { readFileSync } from 'node:fs'
import { ignoreFilters } from '#lib/service/testing/ignore-filters.ts'
import { expect, isLive, open, openPalette, signIn, startProduct, test } from './product.ts'
import { makeScenarios, startJob } from './small-jobs.ts'

test.use({ journeys: 'lists' })

test('each list keeps its own columns, and one is exported in full', async ({ signedIn: page, product }) => {
  const { service } = product
  await makeScenarios(
    product,
    Array.from({ length: 230 }, (_, number) => `listed ${number}`),
  )
  await service.devboxes.create({ body: { name: 'listed-box', metadata: { env: 'prod' } } })
  const head = (name: string) => page.getByRole('columnheader', { name, exact: true })

  await open(page, `${product.url}/devboxes`)
  await expect(page.getByRole('link', { name: 'listed-box' })).toBeVisible()
  await page.getByRole('button', { name: 'Columns' }).click()
  const dialog = page.getByRole('dialog', { name: 'Columns' })
  await dialog.getByLabel('Metadata key').fill('env')
  await dialog.getByRole('button', { name: 'Add column' }).click()
  await dialog.getByRole('button', { name: 'Hide Created' }).click()
  await dialog.getByRole('button', { name: 'Done' }).click()
  await expect(head('env')).toBeVisible()
  await expect(head('Created')).toHaveCount(0)
  await expect(page.getByRole('row', { name: /listed-box/ }).getByTitle('prod', { exact: true })).toBeVisible()
  const columns = 'columns=name,status,id,metadata,time-left,metadata.env'
  await expect(page).toHaveURL(`${product.url}/devboxes?${columns}`)

  await open(page, `${product.url}/benchmarks/scenarios?search=listed&columns=name,id,status`)
  await expect(page.getByText(/^Showing \d+ of 230$/)).toBeVisible()
  await expect(head('Verifier')).toHaveCount(0)
  await page.getByRole('button', { name: 'Export', exact: true }).click()
  const downloading = page.waitForEvent('download')
  await page.getByRole('menuitem', { name: 'JSON lines, all matching' }).click()
  const download = await downloading
  await expect(page.getByRole('dialog')).toContainText(/Saved 230 rows to scenarios-[\d-]+\.ndjson/)
  expect(download.suggestedFilename()).toMatch(/^scenarios-[\d-]+\.ndjson$/)
  const rows = readFileSync(await download.path(), 'utf8')
    .trimEnd()
    .split('\n')
  expect(rows).toHaveLength(230)
  expect(Object.keys(JSON.parse(rows[0] ?? ''))).toEqual(['name', 'id', 'status'])
  await page.getByRole('dialog').getByRole('button', { name: 'Done' }).click()

  // Each list remembers its own.
  await page.goto(`${product.url}/devboxes`)
  await expect(page).toHaveURL(`${product.url}/devboxes?${columns}`)
  await expect(head('env')).toBeVisible()
  await open(page, `${product.url}/benchmarks/scenarios`)
  await expect(head('Verifier')).toBeVisible()
  // On a phone, rows are selected by thumb, and their actions are within its reach.
  await page.setViewportSize({ width: 390, height: 844 })
  await page.emulateMedia({ reducedMotion: 'reduce' })
  await page.goto(`${product.url}/devboxes`)
  await isLive(page)
  const box = page.getByRole('row', { name: /listed-box/ })
  await expect(box.getByText('Running', { exact: true })).toBeVisible()
  await box.getByRole('checkbox').check()
  const bar = page.getByRole('region', { name: 'Selected devboxes' })
  const suspend = bar.getByRole('button', { name: 'Suspend 1' })
  await expect(suspend).toBeVisible()
  for (const target of [box.locator('label'), suspend, bar.getByRole('button', { name: 'Clear selection' })])
    await expect.poll(async () => (await target.boundingBox())?.height).toBeGreaterThanOrEqual(44)
  await suspend.click()
  await page.getByRole('dialog').getByRole('button', { name: 'Suspend 1 devbox' }).click()
  await expect(box.getByText('Suspended', { exact: true })).toBeVisible()
  await bar.getByRole('button', { name: 'Clear selection' }).click()
  await expect(bar).toHaveCount(0)
})

test('a list is sorted by the service or over its loaded rows, with pinned columns and saved views', async ({
  signedIn: page,
  product,
}) => {
  await makeScenarios(
    product,
    Array.from({ length: 45 }, (_, number) => `sorted ${number}`),
  )
  const head = (name: string) => page.getByRole('columnheader', { name, exact: true })
  // Sorted by the service over all rows, or by the page over those it loads.
  const firstRow = page.getByRole('main').locator('tr[data-key]').first()
  await open(page, `${product.url}/benchmarks/scenarios?search=sorted&columns=name,verifier,id`)
  await head('Name').getByRole('button').click()
  await expect(page.getByText('Sorted by the service over all 45')).toBeVisible()
  await expect(head('Name')).toHaveAttribute('aria-sort', 'ascending')
  await expect(firstRow).toContainText('sorted 0')
  await head('Name').getByRole('button').click()
  await expect(firstRow).toContainText('sorted 9')
  await expect(page.getByText('Showing 45 of 45')).toBeVisible()
  await head('Verifier').getByRole('button').click()
  await expect(page.getByText('Sorted over all 45 loaded')).toBeVisible()
  await expect(page).toHaveURL(/sort=verifier/)

  // Dragging a column's edge resizes the column; a double click resets it.
  const edge = head('Verifier').locator('[data-edge]')
  const [atEdge, own] = [await edge.boundingBox(), (await head('Verifier').boundingBox())?.width ?? 0]
  const [x, y] = [(atEdge?.x ?? 0) + 4, (atEdge?.y ?? 0) + 8]
  const dragged = Math.round(own + 60)
  await page.mouse.move(x, y)
  await page.mouse.down()
  await page.mouse.move(x - 60, y)
  await page.mouse.up()
  await expect(page).toHaveURL(new RegExp(`verifier:${dragged}`))
  await expect.poll(async () => (await head('Verifier').boundingBox())?.width).toBe(dragged)
  await edge.dblclick()
  await expect(page).not.toHaveURL(/verifier:\d/)

  // Pinned columns stay while the others scroll.
  const columnsOf = page.getByRole('dialog', { name: 'Columns' })
  await page.getByRole('button', { name: 'Columns' }).click()
  await columnsOf.getByRole('button', { name: 'Pin Verifier left' }).click()
  for (const _ of [1, 2]) await columnsOf.getByRole('button', { name: 'Make ID wider' }).click({ clickCount: 20 })
  await columnsOf.getByRole('button', { name: 'Done' }).click()
  await expect(page).toHaveURL(/columns=name,verifier:pin,id:\d+/)
  const leftOf = async (name: string) => (await head(name).boundingBox())?.x
  const before = [await leftOf('Name'), await leftOf('Verifier'), await leftOf('ID')]
  await head('ID').evaluate((cell) => cell.closest('.overflow-x-auto')?.scrollBy(100, 0))
  await expect.poll(() => leftOf('ID')).toBeLessThan(before[2] ?? 0)
  expect([await leftOf('Name'), await leftOf('Verifier')]).toEqual(before.slice(0, 2))

  // A view keeps the filters, order and columns under a name.
  const menu = page.getByRole('menu', { name: 'View' })
  const openView = async () => {
    await expect(menu).toHaveCount(0)
    await page.getByRole('button', { name: 'View', exact: true }).click()
    await expect(menu).toBeVisible()
  }
  await openView()
  await page.getByRole('menuitem', { name: 'Save or edit views…' }).click()
  const views = page.getByRole('dialog', { name: 'Saved views' })
  await views.getByLabel('Name of the current view').fill('By verifier')
  await page.keyboard.press('Enter')
  await views.getByLabel('Rename By verifier').fill('Verifiers')
  await views.getByRole('button', { name: 'Done' }).click()
  await open(page, `${product.url}/benchmarks/scenarios?columns=name,verifier,id,status,metadata`)
  await openView()
  await page.getByRole('menuitemcheckbox', { name: 'Compact' }).click()
  await expect(page.locator('html')).toHaveAttribute('data-density', 'compact')
  await openView()
  await page.getByRole('menuitem', { name: 'Verifiers' }).click()
  for (const part of [/search=sorted/, /sort=verifier/, /columns=name,verifier:pin/]) await expect(page).toHaveURL(part)
  await expect(page.getByText('Sorted over all 45 loaded')).toBeVisible()
  await openView()
  await page.getByRole('menuitemcheckbox', { name: 'Comfortable' }).click()
  await openView()
  await page.getByRole('menuitem', { name: 'Save or edit views…' }).click()
  await views.getByRole('button', { name: 'Delete Verifiers' }).click()
  await expect(views.getByRole('list', { name: 'Saved views' })).toHaveCount(0)
  await views.getByRole('button', { name: 'Done' }).click()
})

test('an unknown address leads to the resource whose id it contains', async ({ signedIn: page, product }) => {
  const { id } = await product.service.devboxes.create({ body: { name: 'strayed' } })
  await page.goto(`${product.url}/devboxs/${id}`)
  await expect(page.getByRole('heading', { name: 'Page not found' })).toBeVisible()
  const found = page.getByRole('list', { name: 'Results' })
  await expect(found.getByRole('link', { name: 'strayed devbox' })).toBeVisible()
  const search = page.getByRole('textbox', { name: 'Search by name or ID' })
  await search.fill('bmj_none')
  await expect(page.getByText('This account has no benchmark job with this ID.')).toBeVisible()
  await search.fill('straye')
  await found.getByRole('link', { name: 'strayed devbox' }).click()
  await expect(page).toHaveURL(`${product.url}/devboxes/${id}`)
  // An id in the address of another kind of record.
  await page.goto(`${product.url}/benchmark-jobs/${id}`)
  await expect(page.getByRole('heading', { name: 'No benchmark job with this ID' })).toBeVisible()
  await expect(found.getByRole('link', { name: 'strayed devbox' })).toBeVisible()
})

test("lists, selections and the palette filter by themselves if the service doesn't", async ({ page, product }) => {
  const { service } = product
  const devboxes = await Promise.all(
    ['keep a', 'keep b', 'other'].map((name) => service.devboxes.createAndAwaitRunning({ body: { name } })),
  )
  await service.devboxes.suspend({ params: { id: devboxes[1]?.id ?? '' } })
  for (const name of ['keep axon', 'other axon']) await service.axons.create({ body: { name } })
  const [first] = devboxes
  for (const env of ['keep', 'other'])
    await service.snapshots.create({
      params: { id: first?.id ?? '' },
      body: { name: `${env} disk`, metadata: { env } },
    })
  const scenarios = await makeScenarios(product, ['keep scenario', 'other scenario'])
  for (const name of ['keep set', 'other set'])
    await service.benchmarks.create({ body: { name, scenario_ids: scenarios } })
  for (const name of ['keep job', 'other job']) {
    const { read } = await startJob(product, name, scenarios, 'echo 1 > ~/answer')
    await expect.poll(async () => (await read()).state).toBe('completed')
  }
  const foreign = await ignoreFilters(product.serviceUrl)
  const elsewhere = await startProduct({ DEVDECK_SERVICE_URL: foreign.url })
  try {
    await signIn(page, { url: elsewhere.url, apiKey: product.apiKey })
    const rows = page.getByRole('main').locator('tr[data-key]')
    const note = page.getByText("Filtered in the browser because the service returned rows that don't match.")
    const lists = [
      ['/devboxes?search=keep', 2],
      ['/devboxes?search=keep&status=running', 1],
      ['/devboxes?search=keep&status=suspended&trials=shown', 1],
      ['/axons?name=keep', 1],
      ['/snapshots?metadata[env]=keep', 1],
      ['/benchmark-jobs?name=keep', 1],
      ['/benchmark-runs?search=keep', 1],
      ['/benchmarks?search=keep', 1],
      ['/benchmarks/scenarios?search=keep', 1],
    ] as const
    for (const [path, count] of lists) {
      await page.goto(elsewhere.url + path)
      await expect(note, path).toBeVisible()
      await expect(rows, path).toHaveCount(count)
      await expect(rows.filter({ hasText: 'other' }), path).toHaveCount(0)
    }
    await open(page, `${elsewhere.url}/devboxes?search=nothing-has-this`)
    await expect(page.getByRole('heading', { name: 'No devboxes match' })).toBeVisible()

    await open(page, `${elsewhere.url}/devboxes?search=keep`)
    await page.getByRole('checkbox', { name: 'Select all rows shown' }).check()
    const bar = page.getByRole('region', { name: 'Selected devboxes' })
    await expect(bar.getByRole('button', { name: 'Shut down 2' })).toBeVisible()
    await expect(bar.getByRole('button', { name: 'Resume 1' })).toBeVisible()
    await page.getByRole('button', { name: 'Export', exact: true }).click()
    const downloading = page.waitForEvent('download')
    await page.getByRole('menuitem', { name: 'JSON lines, all matching' }).click()
    const saved = readFileSync(await (await downloading).path(), 'utf8')
      .trimEnd()
      .split('\n')
    expect(saved.map((line) => JSON.parse(line).name).sort()).toEqual(['keep a', 'keep b'])
    await page.getByRole('dialog').getByRole('button', { name: 'Done' }).click()

    await openPalette(page)
    const palette = page.getByRole('dialog', { name: 'Command palette' })
    await palette.getByRole('combobox').fill('keep')
    await expect(palette.getByRole('option', { name: 'keep b' })).toBeVisible()
    await expect(palette.getByRole('option', { name: /^other/ })).toHaveCount(0)
  } finally {
    await elsewhere.stop()
    await foreign.close()
  }
})

test('opening every tab adds nothing to the activity', async ({ signedIn: page, product }) => {
  const { service, url } = product
  const { id } = await service.devboxes.createAndAwaitRunning({ body: { name: 'only-read' } })
  const axon = await service.axons.create({ body: { name: 'only-read' } })
  const written = async () =>
    ((await (await page.request.get(`${url}/api/activity`)).json()) as { total_count: number }).total_count
  const before = await written()
  for (const path of [`/devboxes/${id}`, `/axons/${axon.id}`]) {
    await open(page, url + path)
    const tabs = page.getByRole('main').getByRole('navigation').getByRole('link')
    for (const tab of await tabs.all()) {
      await tab.click()
      await expect(tab).toHaveAttribute('aria-current', 'page')
      await page.waitForLoadState('networkidle')
    }
  }
  expect(await written()).toBe(before)
})
