import { expect, open, test } from './product.ts'

test('a blueprint is built, used by a devbox, and deleted once nothing depends on it', async ({
  signedIn: page,
  product,
}) => {
  test.setTimeout(120_000)
  const { service } = product
  await open(page, `${product.url}/blueprints`)
  await page.getByRole('button', { name: 'Create blueprint' }).first().click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('textbox', { name: 'Name' }).fill('with-note')
  await dialog
    .getByRole('textbox', { name: /^Setup commands/ })
    .fill('echo first-step\nsleep 6\necho from the blueprint > note\necho last-step')
  await dialog.getByRole('button', { name: 'Preview resulting Dockerfile' }).click()
  await expect(dialog.getByText(/RUN .*echo last-step/)).toBeVisible()
  await dialog.getByRole('button', { name: 'Create blueprint' }).click()

  await page.waitForURL(/\/blueprints\/bpt_\w+\/log$/)
  const id = /bpt_\w+/.exec(page.url())?.[0] ?? ''
  const log = page.getByRole('log', { name: 'Build output' })
  await expect(log).toContainText('first-step')
  await expect(page.getByText('Following the build')).toBeVisible()
  await expect(page.getByText('The build has ended. The log is complete.')).toBeVisible({ timeout: 60_000 })
  await expect(log).toContainText('last-step')
  await expect(page.getByText('Ready', { exact: true })).toBeVisible()

  await page.getByRole('button', { name: 'Create devbox' }).click()
  await expect(dialog.getByRole('radio', { name: /^with-note/ })).toBeChecked()
  await dialog.getByRole('button', { name: 'Create devbox' }).click()
  await page.waitForURL(/\/devboxes\/dbx_\w+/)
  const devbox = /dbx_\w+/.exec(page.url())?.[0] ?? ''
  await service.devboxes.waitForStatus({ params: { id: devbox }, body: { statuses: ['running'] } })
  const { stdout } = await service.executions.executeSync({ params: { id: devbox }, body: { command: 'cat note' } })
  expect(stdout).toBe('from the blueprint\n')
  await open(page, `${product.url}/devboxes/${devbox}`)
  await page.getByRole('main').getByRole('link', { name: id }).click()

  // The devbox depends on it.
  await page.getByRole('main').getByRole('link', { name: 'Devboxes', exact: true }).click()
  await expect(page.getByRole('row', { name: new RegExp(devbox.slice(-5)) })).toBeVisible()
  await page.goBack()
  await page.getByRole('button', { name: 'Delete blueprint' }).click()
  await dialog.getByRole('button', { name: 'Delete blueprint' }).click()
  await expect(dialog.getByRole('alert')).toContainText(devbox)
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await service.devboxes.shutdown({ params: { id: devbox } })
  await page.getByRole('button', { name: 'Delete blueprint' }).click()
  await dialog.getByRole('button', { name: 'Delete blueprint' }).click()
  await page.waitForURL(`${product.url}/blueprints`)
  await expect(page.getByRole('heading', { name: 'No blueprints yet' })).toBeVisible()
})

test('a failed build says which line failed, and is built again from its parameters', async ({
  signedIn: page,
  product,
}) => {
  const { id } = await product.service.blueprints.create({
    body: { name: 'broken', system_setup_commands: ['echo before', 'no-such-command --install'] },
  })
  await open(page, `${product.url}/blueprints/${id}`)
  await expect(page.getByText('The build failed', { exact: true })).toBeVisible({ timeout: 60_000 })
  await expect(
    page
      .getByRole('main')
      .getByText(/no-such-command/)
      .first(),
  ).toBeVisible()
  await expect(page.getByRole('button', { name: /^Create devbox/ })).toHaveAttribute('aria-disabled', 'true')

  await page.getByRole('button', { name: 'Edit and rebuild' }).click()
  const dialog = page.getByRole('dialog')
  await expect(dialog.getByRole('textbox', { name: 'Name' })).toHaveValue('broken')
  await dialog.getByRole('textbox', { name: /^Setup commands/ }).fill('echo before')
  await dialog.getByRole('button', { name: 'Build blueprint' }).click()
  await page.waitForURL((url) => /\/blueprints\/bpt_\w+\/log$/.test(url.pathname) && !url.pathname.includes(id))
  await expect(page.getByText('Ready', { exact: true })).toBeVisible({ timeout: 60_000 })

  await open(page, `${product.url}/blueprints`)
  for (const box of await page.getByRole('checkbox', { name: 'Select broken' }).all()) await box.check()
  await page.getByRole('region', { name: 'Selected blueprints' }).getByRole('button', { name: 'Delete 2' }).click()
  await dialog.getByRole('button', { name: 'Delete 2 blueprints' }).click()
  await expect(page.getByText('Deleted (2 of 2)')).toBeVisible()
})
