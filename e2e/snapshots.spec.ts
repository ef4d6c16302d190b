import { expect, open, test } from './product.ts'

test('the devbox log follows events live', async ({ signedIn: page, product }) => {
  const { id } = await product.service.devboxes.createAndAwaitRunning({
    body: { name: 'logged-box', launch_parameters: { launch_commands: ['echo preparing'] } },
  })
  await page.goto(`${product.url}/devboxes/${id}/log`)
  const records = page.getByRole('log', { name: 'Records' })
  await expect(records).toContainText('preparing')
  await expect(page.getByRole('region', { name: 'Log' }).getByText('Live', { exact: true })).toBeVisible()

  await product.service.executions.executeSync({ params: { id }, body: { command: 'echo from-outside; exit 3' } })
  await expect(records).toContainText('$ echo from-outside; exit 3')
  await expect(records.getByText('exit 3', { exact: true })).toBeVisible()

  await page.getByRole('combobox', { name: 'Source' }).selectOption('exec')
  await expect(records).not.toContainText('preparing')
  await expect(page).toHaveURL(/source=exec/)
  await expect(records).toContainText('from-outside')

  // Filters accept regular expressions, and a catastrophic one times out.
  await product.service.executions.executeSync({ params: { id }, body: { command: `echo ${'a'.repeat(40)}!` } })
  await page.getByRole('checkbox', { name: 'Regular expression' }).check()
  const search = page.getByRole('textbox', { name: 'Search the log' })
  await search.fill('^a+!$')
  await expect(records).toHaveText(/a{40}!$/)
  await expect(records).not.toContainText('from-outside')
  await expect(page).toHaveURL(/search=/)
  await open(page, page.url())
  await expect(records).toHaveText(/a{40}!$/)
  await search.fill('^(a+)+$')
  await expect(page.getByRole('region', { name: 'Log' }).getByRole('alert')).toHaveText(/timed out/)
  await expect(records).toContainText('from-outside')
  await search.fill('')

  await product.service.devboxes.shutdown({ params: { id } })
  await expect(page.getByText('The devbox has ended. The log is complete.')).toBeVisible()
  await page.reload()
  await expect(records).toContainText('from-outside')
})

test('a devbox is created from a snapshot, which is then deleted', async ({ signedIn: page, product }) => {
  const { id } = await product.service.devboxes.createAndAwaitRunning({ body: { name: 'source-box' } })
  const run = async (devboxId: string, command: string) =>
    (await product.service.executions.executeSync({ params: { id: devboxId }, body: { command } })).stdout
  await run(id, 'echo kept > note; mkdir -p deep/er; ln -s ../note deep/link')

  await open(page, `${product.url}/devboxes/${id}/snapshots`)
  await page.getByRole('button', { name: 'Take snapshot' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('textbox', { name: /^Name/ }).fill('after-setup')
  await dialog.getByRole('textbox', { name: /^Commit message/ }).fill('x'.repeat(1001))
  await dialog.getByRole('button', { name: 'Take snapshot' }).click()
  await expect(dialog).toContainText('Must be at most 1000 characters; it has 1001')
  await dialog.getByRole('textbox', { name: /^Commit message/ }).fill('Everything installed')
  await dialog.getByRole('button', { name: 'Take snapshot' }).click()
  await expect(dialog).toBeHidden()
  await expect(page.getByRole('row', { name: /after-setup/ })).toContainText(/\d+(\.\d+)? (B|KiB)/)

  // Later changes to the devbox don't affect the snapshot.
  await run(id, 'echo changed > note')
  await product.service.devboxes.shutdown({ params: { id } })

  await open(page, `${product.url}/snapshots`)
  const row = page.getByRole('row', { name: /after-setup/ })
  await page.getByRole('searchbox', { name: 'Search name, message or ID' }).fill('INSTALLED')
  await expect(page).toHaveURL(`${product.url}/snapshots?search=INSTALLED`)
  await expect(row).toBeVisible()
  await page
    .getByRole('button', { name: 'Clear filters' })
    .or(page.getByRole('link', { name: 'Clear filters' }))
    .click()
  // A snapshot's sheet has an address.
  await row.getByRole('button', { name: 'after-setup', exact: true }).click()
  const sheet = page.getByRole('dialog', { name: 'after-setup' })
  await expect(sheet).toContainText('Everything installed')
  await expect(page).toHaveURL(/\/snapshots\?snapshot=snp_/)
  await page.reload()
  await expect(sheet).toContainText('Everything installed')
  await page.keyboard.press('Escape')
  await expect(sheet).toBeHidden()
  await expect(page).toHaveURL(`${product.url}/snapshots`)
  await row.hover()
  await row.getByRole('button', { name: 'Create devbox from after-setup' }).click()
  await dialog.getByRole('button', { name: 'Create devbox' }).click()
  await page.waitForURL(/\/devboxes\/dbx_\w+/)
  const copy = /dbx_\w+/.exec(page.url())?.[0] ?? ''
  await product.service.devboxes.waitForStatus({ params: { id: copy }, body: { statuses: ['running'] } })
  await expect(page.getByRole('main').getByText('Running', { exact: true }).first()).toBeVisible()
  expect(await run(copy, 'cat note deep/link')).toBe('kept\nkept\n')

  await open(page, `${product.url}/snapshots`)
  await row.hover()
  await row.getByRole('button', { name: 'Edit after-setup' }).click()
  await dialog.getByRole('textbox', { name: /^Name/ }).fill('renamed')
  await dialog.getByRole('button', { name: 'Save changes' }).click()
  const renamed = page.getByRole('row', { name: /renamed/ })
  await expect(renamed).toBeVisible()

  for (const name of ['several-1', 'several-2'])
    await product.service.snapshots.create({ params: { id: copy }, body: { name } })
  await open(page, `${product.url}/snapshots`)
  for (const name of ['several-1', 'several-2']) await page.getByRole('checkbox', { name: `Select ${name}` }).check()
  const selected = page.getByRole('region', { name: 'Selected snapshots' })
  await selected.getByRole('button', { name: 'Delete 2' }).click()
  await dialog.getByRole('button', { name: 'Delete 2 snapshots' }).click()
  await expect(page.getByText('Deleted (2 of 2)')).toBeVisible()
  await expect(page.getByRole('row', { name: /several-/ })).toHaveCount(0)
  await expect(selected).toHaveCount(0)

  await renamed.hover()
  await renamed.getByRole('button', { name: 'Delete renamed' }).click()
  await dialog.getByRole('button', { name: 'Delete snapshot' }).click()
  await expect(page.getByRole('heading', { name: 'No snapshots yet' })).toBeVisible()
  expect(await run(copy, 'cat note')).toBe('kept\n')
})
