import { expect, open, test } from './product.ts'
import { untilPrompt } from './terminal-page.ts'

test('a devbox is created from a preset in two clicks, and the form checks sizes and times before sending', async ({
  signedIn: page,
  product,
}) => {
  await open(page, product.url)
  await page.getByRole('button', { name: 'Create devbox from a preset' }).click()
  await page.getByRole('menuitem', { name: /Small, 1 hour.*4 GB disk/ }).click()
  await page.waitForURL(/\/devboxes\/dbx_\w+\/terminal/)
  await untilPrompt(page)
  const id = /dbx_\w+/.exec(page.url())?.[0] ?? ''
  expect((await product.service.devboxes.get({ params: { id } })).launch_parameters).toMatchObject({
    resource_size_request: 'SMALL',
    keep_alive_time_seconds: 3600,
  })

  await open(page, `${product.url}/devboxes`)
  await page.getByRole('button', { name: 'Create devbox', exact: true }).first().click()
  const dialog = page.getByRole('dialog', { name: 'Create devbox' })
  await dialog.getByLabel('Size').selectOption({ label: 'Medium: 2 CPU, 4 GB memory, 8 GB disk' })
  await dialog.getByLabel('Size').selectOption({ label: 'Custom' })
  await dialog.getByLabel('CPU cores').fill('2')
  await dialog.getByLabel('Memory (GB)').fill('64')
  await dialog.getByText('Lifetime', { exact: true }).click()
  await dialog.getByLabel('Shut down after').fill('90')
  await dialog.getByRole('button', { name: 'Create devbox' }).click()
  await expect(dialog.getByText('from 4 to 16 GB for 2 cores')).toBeVisible()
  await expect(dialog.getByText('Add a unit, such as 90m or 90h')).toBeVisible()
  await dialog.getByLabel('Memory (GB)').fill('4')
  await dialog.getByLabel('Shut down after').fill('1h 30m')
  await dialog.getByRole('button', { name: 'Create devbox' }).click()
  await page.waitForURL((url) => /\/terminal/.test(url.pathname) && !url.pathname.includes(id))
  const made = /dbx_\w+/.exec(page.url())?.[0] ?? ''
  expect((await product.service.devboxes.get({ params: { id: made } })).launch_parameters).toMatchObject({
    custom_cpu_cores: 2,
    custom_gb_memory: 4,
    keep_alive_time_seconds: 5400,
  })
})
