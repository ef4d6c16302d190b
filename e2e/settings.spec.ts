import { expect, isLive, open, openPalette, signIn, test } from './product.ts'

test.use({ journeys: 'settings' })

test('time zone, density and single-key shortcuts are set in Settings and apply to every page', async ({
  signedIn: page,
  product,
}) => {
  await product.service.axons.create({ body: { name: 'settled' } })
  const other = await page.context().newPage()
  await open(other, `${product.url}/devboxes`)
  await page.goto(`${product.url}/settings`)
  await isLive(page)
  const storage = page.getByRole('region', { name: 'Storage' })
  await expect(storage).toContainText(/^Storage[\d.]+ \w+ of [\d.]+ [GT]iB/)
  await expect(storage).toContainText('are deleted 30 days after they have ended')
  await page.getByRole('combobox', { name: 'Time zone', exact: true }).selectOption('Other')
  const name = page.getByRole('combobox', { name: 'Time zone name' })
  await name.fill('Moon/Crater')
  await expect(page.getByText('Unknown time zone')).toBeVisible()
  await name.fill('Asia/Tokyo')
  await expect(page.getByText(/^Current time: .* GMT\+9$/)).toBeVisible()
  await page.getByRole('combobox', { name: 'Density' }).selectOption('Compact')
  await page.getByRole('combobox', { name: 'Single-key shortcuts' }).selectOption('Off')
  await page.getByRole('combobox', { name: 'Theme' }).selectOption('Light theme')

  // An open tab picks up the changes on its next navigation.
  await other.getByRole('link', { name: 'Axons', exact: true }).click()
  for (const [name, value] of [
    ['theme', 'light'],
    ['time-zone', 'Asia/Tokyo'],
    ['density', 'compact'],
    ['letters', 'off'],
  ])
    await expect(other.locator('html')).toHaveAttribute(`data-${name}`, value ?? '')
  await other.close()

  await page.goto(`${product.url}/axons`)
  await isLive(page)
  await expect(page.getByText(/^As of \d\d:\d\d:\d\d GMT\+9, /)).toBeVisible()
  const row = page.getByRole('row', { name: /settled/ })
  await expect.poll(async () => (await row.boundingBox())?.height).toBe(28)
  await page.keyboard.press('?')
  await page.keyboard.press('g')
  await page.keyboard.press('d')
  await page.keyboard.press('j')
  // Any effect of those keys precedes the palette.
  await openPalette(page)
  const palette = page.getByRole('dialog', { name: 'Command palette' })
  await expect(palette).toBeVisible()
  await expect(page).toHaveURL(`${product.url}/axons`)
  await palette.getByRole('combobox').fill('keyboard')
  await palette.getByRole('option', { name: 'Keyboard shortcuts' }).click()
  const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
  await expect(help.getByText('Single-key shortcuts are off in this browser.')).toBeVisible()
  await help.getByRole('link', { name: 'Turn them on in Settings' }).click()

  await expect(page.getByRole('combobox', { name: 'Single-key shortcuts' })).toHaveValue('off')
  await page.getByRole('combobox', { name: 'Single-key shortcuts' }).selectOption('On')
  await page.getByRole('combobox', { name: 'Time zone', exact: true }).selectOption('UTC')
  await page.keyboard.press('Escape')
  await page.getByRole('heading', { level: 1 }).click()
  await page.keyboard.press('?')
  await expect(help.getByText('Change keys or turn off single-key shortcuts in Settings')).toBeVisible()
})

test('a session is ended from another browser, and a script uses a personal key until it is revoked', async ({
  signedIn: page,
  product,
  browser,
}) => {
  const userAgent = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'
  const elsewhere = await browser.newPage({ userAgent })
  await signIn(elsewhere, product)
  await open(elsewhere, `${product.url}/devboxes`)
  await open(page, `${product.url}/settings/sessions`)
  await expect(page.getByRole('row', { name: /This session.*Chrome/ })).toBeVisible()
  await page.getByRole('button', { name: /^End session of .*Firefox on Linux$/ }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'End session' }).click()
  await expect(elsewhere).toHaveURL(/\/sign-in\?next=/)
  await expect(page.getByRole('row', { name: /Firefox on Linux/ })).toHaveCount(0)
  await elsewhere.close()

  await page.getByRole('link', { name: 'Personal keys' }).click()
  await page.getByRole('button', { name: 'Create key' }).first().click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('nightly')
  await dialog.getByLabel('Role').selectOption('Viewer')
  await dialog.getByRole('button', { name: 'Create key' }).click()
  const authorization = `Bearer ${await dialog.getByText(/^dvd_/).innerText()}`
  const call = async (method: string) =>
    (await fetch(`${product.url}/api/v1/axons`, { method, headers: { authorization } })).status
  expect([await call('GET'), await call('POST')]).toEqual([200, 403])
  await dialog.getByRole('button', { name: 'Done' }).click()
  await expect(page.getByRole('row', { name: /nightly.*Viewer/i })).toBeVisible()
  await page.getByRole('button', { name: 'Revoke nightly' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke key' }).click()
  await expect(page.getByRole('heading', { name: 'No personal keys yet' })).toBeVisible()
  expect(await call('GET')).toBe(401)
})

test('the palette runs page actions, and their dialogs restore focus', async ({ signedIn: page, product }) => {
  const { id } = await product.service.axons.create({ body: { name: 'acted on' } })
  await page.goto(`${product.url}/axons/${id}`)
  await isLive(page)
  const palette = page.getByRole('dialog', { name: 'Command palette' }).getByRole('combobox')
  const choose = async (text: string, option: RegExp) => {
    await openPalette(page)
    await palette.fill(text)
    await page.getByRole('option', { name: option }).click()
  }
  for (const [button, dialog] of [
    ['Edit metadata', 'Edit metadata'],
    ['Delete axon', 'Delete this axon?'],
  ] as const) {
    await choose(button, new RegExp(`^${button}`))
    await expect(page.getByRole('dialog', { name: dialog })).toBeVisible()
    await page.keyboard.press('Escape')
    await expect(page.getByRole('dialog')).toHaveCount(0)
    await expect(page.getByRole('button', { name: button })).toBeFocused()
  }
  await choose('sql', /SQL$/)
  await expect(page.getByRole('textbox', { name: 'Statements' })).toBeVisible()
  await choose(`http://elsewhere/axons/${id}?tab=events`, /^acted on/)
  await expect(page).toHaveURL(`${product.url}/axons/${id}`)
  await choose('history', /^Eviction history/)
  await expect(page).toHaveURL(`${product.url}/evictions/history`)
})

test('every dialog restores focus to its opener', async ({ signedIn: page, product }) => {
  const { service } = product
  const { id } = await service.devboxes.createAndAwaitRunning({ body: { name: 'focused' } })
  const axon = await service.axons.create({ body: { name: 'focused' } })
  const main = page.getByRole('main')
  const dialogs: [path: string, openers: (readonly [button: string, item?: string])[]][] = [
    ['/axons', [['Create axon'], ['Columns']]],
    [`/axons/${axon.id}`, [['Edit metadata']]],
    ['/devboxes', [['Create devbox']]],
    [`/devboxes/${id}`, [['Shut down devbox'], ['More actions', 'Take snapshot']]],
    ['/benchmark-jobs', [['Create job']]],
    ['/evictions', [['Start drill'], ['Add receiver']]],
  ]
  for (const [path, openers] of dialogs) {
    await page.goto(product.url + path)
    await isLive(page)
    for (const [name, item] of openers) {
      const opener = main.getByRole('button', { name, exact: true }).first()
      await opener.focus()
      await page.keyboard.press('Enter')
      if (item) await page.getByRole('menuitem', { name: item }).click()
      await expect(page.getByRole('dialog'), `${path}: ${item ?? name}`).toBeVisible()
      await page.keyboard.press('Escape')
      await expect(page.getByRole('dialog'), `${path}: ${item ?? name}`).toHaveCount(0)
      await expect(opener, `${path}: ${item ?? name}`).toBeFocused()
    }
  }
  await page.setViewportSize({ width: 390, height: 844 })
  const menu = page.getByRole('button', { name: 'Open navigation' })
  await menu.press('Enter')
  await expect(page.getByRole('dialog', { name: 'Navigation' })).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(menu).toBeFocused()
})
