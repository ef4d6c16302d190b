import type { Page } from '@playwright/test'
import { expect, isLive, open, openPalette, signIn, startProduct, test } from './product.ts'

const terminalText = async (page: Page) => (await page.locator('.xterm-rows').innerText()).replaceAll('\u00a0', ' ')

test('the printed link works once', async ({ page, product, browser }) => {
  await page.goto(product.signInLink)
  await expect(page).toHaveURL(`${product.url}/`)
  await expect(page.getByRole('heading', { name: 'Overview' })).toBeVisible()

  const stranger = await browser.newPage()
  await stranger.goto(product.signInLink)
  await expect(stranger).toHaveURL(/\/sign-in\?problem=link-used/)
  await stranger.goto(`${product.url}/devboxes`)
  await expect(stranger).toHaveURL(/\/sign-in\?next=/)
  await stranger.close()
})

test('an empty account loads demo data in one click, compares its jobs, and removes it', async ({ browser }) => {
  const product = await startProduct()
  try {
    const lines = product.output().split('\n')
    const own = lines.slice(lines.findIndex((line) => line.startsWith('Sign in')))
    expect(own.filter((line) => line !== '')).toHaveLength(4)
    const page = await browser.newPage()
    await signIn(page, product)
    await open(page, product.url)
    const start = page.getByRole('region', { name: 'Get started' })
    await start.getByRole('button', { name: 'Load demo data' }).click()
    const demo = page.getByRole('region', { name: 'Demo data' })
    await expect(demo.getByRole('listitem').filter({ hasText: 'demo-1-invented-scores' })).toContainText('Ready')
    await expect(demo.getByRole('status')).toHaveText('2 devboxes, 1 snapshot, 2 axons, 3 jobs')

    await start.getByRole('link', { name: 'Open a terminal' }).click()
    await expect.poll(() => terminalText(page)).toContain('$ ')
    await open(page, product.url)
    await start.getByRole('link', { name: 'Compare the demo jobs' }).click()
    await expect(page.getByRole('main')).toContainText('demo-1-chores-improved')
    await open(page, product.url)
    await expect(demo.getByRole('status')).toBeVisible()
    await expect(start).toHaveCount(0)

    await demo.getByRole('button', { name: 'Remove demo data' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove demo data' }).click()
    // While it is open, the rest of the page has no roles.
    await expect(page.getByRole('dialog')).toHaveCount(0)
    await expect(demo).toHaveCount(0)
    expect((await product.service.devboxes.list({ query: {} })).devboxes).toEqual([])
    expect((await product.service.benchmarkJobs.list({ query: {} })).jobs).toEqual([])
    await page.close()
  } finally {
    await product.stop()
  }
})

test('a command runs, streams output and is killed', async ({ signedIn: page, product }) => {
  const { id } = await product.service.devboxes.createAndAwaitRunning({ body: { name: 'command-box' } })
  await page.goto(`${product.url}/devboxes/${id}/commands`)
  await isLive(page)
  await page.getByRole('textbox', { name: 'Command', exact: true }).fill('echo started; sleep 100')
  await page.keyboard.press('Control+Enter')
  await expect(page.getByLabel('Output').getByText('started')).toBeVisible()
  await page.getByRole('button', { name: /Kill/ }).first().click()
  await expect(page.getByText('Exit 137 (SIGKILL)', { exact: true })).toBeVisible()

  await page.getByRole('textbox', { name: 'Command', exact: true }).fill('echo out; echo err >&2; exit 3')
  await page.getByRole('button', { name: 'Run command' }).click()
  const failing = page.getByRole('article', { name: 'Command echo out; echo err >&2; exit 3' })
  await expect(failing.getByRole('log', { name: 'Output' })).toContainText(/stderr\s*err\b/)
  await expect(failing.getByText('Exit 3', { exact: true })).toBeVisible()

  // Escape sequences are interpreted, and never shown, found or copied.
  const noisy = [
    "printf '\\033[2K\\033[1G\\033[32mbuilt\\033[0m ok \\033]8;;https://example.org/x\\007link\\033]8;;\\007 end\\033[K\\n'",
    "printf 'Working 100%%\\r\\033[?25h\\n\\033[4:3munder\\033[4:0mplain\\033[0m\\n'",
    'for i in $(seq 1 3000); do printf \'\\r%4d/3000 [####      ]\' "$i"; done; echo; echo FINISHED',
  ].join('\n')
  const lines = ['built ok link end', 'Working 100%', 'underplain', '3000/3000 [####      ]', 'FINISHED']
  await page.getByRole('textbox', { name: 'Command', exact: true }).fill(noisy)
  await page.keyboard.press('Control+Enter')
  const output = page.getByRole('article').first().getByRole('log', { name: 'Output' })
  await expect(output).toHaveText(lines.join('\n'))
  await expect(output.getByText('under', { exact: true }).locator('..')).toHaveCSS('text-decoration-line', 'underline')
  await page.goto(`${product.url}/devboxes/${id}/log?search=ok%20link`)
  const records = page.getByRole('log', { name: 'Records' })
  await expect(records.getByText('built ok link end')).toBeVisible()
  await page.goto(`${product.url}/devboxes/${id}/log`)
  for (const line of lines) await expect(records.getByText(line, { exact: true }).last()).toBeVisible()
  await expect(records.getByText('2999/3000')).toHaveCount(0)
})

test('a command started elsewhere is listed, opened by address and receives input', async ({
  signedIn: page,
  product,
}) => {
  const { id } = await product.service.devboxes.createAndAwaitRunning({ body: { name: 'shared-box' } })
  const { execution_id } = await product.service.executions.executeAsync({
    params: { id },
    body: { command: 'read -r line; printf "\\e[1;31mgot $line\\e[0m\\n"; exit 4', attach_stdin: true },
  })
  await open(page, `${product.url}/devboxes/${id}/commands`)
  await page.getByRole('button', { name: /read -r line/ }).click()
  await expect(page).toHaveURL(new RegExp(`execution=${execution_id}`))
  await page.reload()
  await isLive(page)
  const command = page.getByRole('article', { name: /read -r line/ })
  await command.getByRole('textbox', { name: 'Standard input' }).fill('hello')
  await command.getByRole('button', { name: 'Send line' }).click()
  await expect(command.getByRole('log', { name: 'Output' })).toHaveText('got hello')
  await expect(command.getByText('Exit 4', { exact: true })).toBeVisible()
})

test('suspend, resume and shut down explain their effect', async ({ signedIn: page, product }) => {
  const { id } = await product.service.devboxes.createAndAwaitRunning({ body: { name: 'cycle-box' } })
  await product.service.executions.executeSync({ params: { id }, body: { command: 'echo kept > note' } })

  await open(page, `${product.url}/devboxes/${id}`)
  await page.getByRole('button', { name: 'Suspend devbox' }).click()
  const dialog = page.getByRole('dialog')
  await expect(dialog).toContainText(/process/)
  await dialog.getByRole('button', { name: 'Suspend devbox' }).click()
  await expect(page.getByRole('main').getByText('Suspended', { exact: true }).first()).toBeVisible()

  await open(page, `${product.url}/devboxes/${id}/terminal`)
  await page
    .getByRole('button', { name: /Resume/ })
    .first()
    .click()
  await expect.poll(async () => (await product.service.devboxes.get({ params: { id } })).status).toBe('running')
  const { stdout } = await product.service.executions.executeSync({ params: { id }, body: { command: 'cat note' } })
  expect(stdout).toBe('kept\n')
  await expect.poll(() => terminalText(page)).toContain('$ ')

  await page.getByRole('button', { name: 'Shut down devbox' }).click()
  await dialog.getByRole('button', { name: 'Shut down devbox' }).click()
  await expect(page.getByRole('main').getByText('Shut down', { exact: true }).first()).toBeVisible()
  await expect(page.getByText(/\(shutdown\).* Showing the last screen\.$/).first()).toBeVisible()

  await page.getByRole('link', { name: 'Activity' }).click()
  const done = page.getByRole('row').filter({ has: page.getByTitle(id) })
  for (const operation of ['shutdown', 'resume', 'suspend'])
    await expect(done.filter({ hasText: `devboxes.${operation}` })).toContainText('Done')
})

test('filters are stored in the address and survive a reload', async ({ signedIn: page, product }) => {
  for (const env of ['prod', 'staging', 'dev'])
    await product.service.axons.create({ body: { name: `filter-${env}`, metadata: { env } } })
  await page.goto(`${product.url}/axons?metadata[env][in]=prod,staging&name=filter-`)
  const names = () => page.getByRole('table').getByRole('rowheader').allInnerTexts()
  const seen = async () => (await names()).join(' ')
  await expect.poll(seen).toContain('filter-staging')
  expect(await seen()).not.toContain('filter-dev')
  await expect(page.getByText(/2 of 2/)).toBeVisible()
  await page.reload()
  await isLive(page)
  await expect.poll(seen).toContain('filter-prod')
  expect(await seen()).not.toContain('filter-dev')

  await page.getByLabel('Search name, ID or key:value').fill('staging')
  await expect(page).toHaveURL(/search=staging/)
  await expect.poll(seen).not.toContain('filter-prod')
  await page.goto(`${product.url}/devboxes?status=suspended&older_than=7d`)
  await page.reload()
  await isLive(page)
  await page.getByRole('button', { name: 'Filters', exact: true }).click()
  const filters = page.getByRole('dialog', { name: 'Filter devboxes' })
  await expect(filters.getByRole('checkbox', { name: 'Suspended' })).toBeChecked()
  await expect(filters.getByLabel('Older than')).toHaveValue('7d')
  await filters.getByRole('checkbox', { name: 'Running' }).check()
  await expect(page).toHaveURL(/status=running,suspended&older_than=7d/)
  await expect(page.getByRole('link', { name: 'Remove filter: status is running or suspended' })).toBeVisible()
})

test('the palette finds a devbox by part of its name', async ({ signedIn: page, product }) => {
  const { id } = await product.service.devboxes.createAndAwaitRunning({ body: { name: 'Looked for by name' } })
  await page.goto(`${product.url}/axons`)
  await isLive(page)
  await openPalette(page)
  await page.getByRole('dialog', { name: 'Command palette' }).getByRole('combobox').fill('for by nam')
  // Search results appear after the search option, and Enter opens them.
  await expect(page.getByRole('option', { name: /^Looked for by name/, selected: true })).toBeVisible()
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(`${product.url}/devboxes/${id}`)
  await expect(page.getByRole('heading', { name: 'Looked for by name' })).toBeVisible()

  await openPalette(page)
  const palette = page.getByRole('dialog', { name: 'Command palette' })
  await palette.getByRole('combobox').fill('snp_none')
  await expect(palette.getByRole('status')).toHaveText('This account has no snapshot with this ID')
  await palette.getByRole('combobox').fill(` ${id} `)
  await expect(palette.getByRole('option')).toHaveText([/^Looked for by name/])
})

test('selected devboxes are suspended together, skipping those in another state', async ({
  signedIn: page,
  product,
}) => {
  const make = (name: string) => product.service.devboxes.createAndAwaitRunning({ body: { name } })
  const [, , third] = [await make('several-1'), await make('several-2'), await make('several-3')]
  await product.service.devboxes.shutdown({ params: { id: third.id } })
  await page.goto(`${product.url}/devboxes?search=several-`)
  await isLive(page)
  const row = (name: string) => page.getByRole('row', { name: new RegExp(name) })
  await row('several-3').getByRole('checkbox').check()
  await row('several-1')
    .getByRole('checkbox')
    .click({ modifiers: ['Shift'] })
  const bar = page.getByRole('region', { name: 'Selected devboxes' })
  await expect(bar.getByRole('status')).toHaveText('3 selected')
  await expect(bar.getByRole('button', { name: 'Resume 0' })).toHaveAttribute('aria-disabled', 'true')
  await bar.getByRole('button', { name: 'Suspend 2' }).click()
  const dialog = page.getByRole('dialog', { name: 'Suspend 2 devboxes?' })
  await expect(dialog).toContainText('Not possible for 1 of the 3 selected')
  await dialog.getByRole('button', { name: 'Suspend 2 devboxes' }).click()
  await expect(page.getByText('Suspending (2 of 2)')).toBeVisible()
  await expect(bar.getByRole('button', { name: 'Resume 2' })).toBeEnabled()
  for (const name of ['several-1', 'several-2'])
    await expect(row(name).getByText('Suspended', { exact: true })).toBeVisible()
  await bar.getByRole('button', { name: 'Clear selection' }).click()
  await expect(bar).toHaveCount(0)
})
