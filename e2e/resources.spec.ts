import { expect, open, openPalette, test } from './product.ts'

test.use({ journeys: 'resources' })

const sesame = 'open-sesame-7316'

test('a secret is created by keyboard, used by a devbox, replaced, and deleted with its users named', async ({
  signedIn: page,
  product: { url, service, output },
}) => {
  await open(page, `${url}/`)
  await openPalette(page)
  await page.keyboard.type('secrets')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { name: 'No secrets yet' })).toBeVisible()
  await page.getByRole('button', { name: 'Create secret' }).first().focus()
  await page.keyboard.press('Enter')
  const dialog = page.getByRole('dialog')
  await expect(dialog.getByRole('textbox', { name: 'Name' })).toBeFocused()
  await page.keyboard.type('API KEY')
  await page.keyboard.press('Tab')
  await page.keyboard.type(sesame)
  await page.keyboard.press('Tab')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await expect(dialog.getByRole('alert')).toContainText('Name must be')
  await expect(dialog.getByRole('textbox', { name: 'Name' })).toBeFocused()
  await page.keyboard.press('Control+a')
  await page.keyboard.type('API_KEY')
  await page.keyboard.press('Enter')
  await expect(page.getByText('Showing 1 of 1')).toBeVisible()

  const box = await service.devboxes.createAndAwaitRunning({ body: { name: 'uses-it', secrets: { KEY: 'API_KEY' } } })
  const inBox = async () =>
    (await service.executions.executeSync({ params: { id: box.id }, body: { command: 'printf %s "$KEY"' } })).stdout
  expect(await inBox()).toBe(sesame)
  await page.getByRole('button', { name: 'API_KEY', exact: true }).focus()
  await page.keyboard.press('Enter')
  await expect(dialog.getByText('Secret values are write-only')).toBeVisible()
  const user = dialog.getByRole('list', { name: 'Used by' }).getByRole('listitem')
  await expect(user).toHaveText(/uses-it.*devbox.*KEY/)

  await dialog.getByRole('button', { name: 'Replace value' }).click()
  await page.getByRole('textbox', { name: 'Value' }).fill('second')
  await page.getByRole('dialog', { name: 'Replace value' }).getByRole('button', { name: 'Replace value' }).click()
  await expect(page.getByText('Value replaced')).toBeVisible()
  await dialog.getByRole('button', { name: 'Delete secret' }).click()
  const confirm = page.getByRole('dialog', { name: 'Delete API_KEY?' })
  await expect(confirm).toContainText('Used by 1 devbox')
  await confirm.getByRole('button', { name: 'Delete secret' }).click()
  await expect(page.getByRole('heading', { name: 'No secrets yet' })).toBeVisible()

  await page.goto(`${url}/activity`)
  await expect(page.getByRole('row', { name: /API_KEY/ }).first()).toBeVisible()
  expect(await page.content()).not.toContain(sesame)
  expect(output()).not.toContain(sesame)
  await service.devboxes.shutdown({ params: { id: box.id } })
})

test('a network policy is created, edited and deleted, and its rules are checked', async ({
  signedIn: page,
  product: { url, service },
}) => {
  await open(page, `${url}/settings/network-policies`)
  await page.getByRole('button', { name: 'Create network policy' }).first().click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('textbox', { name: 'Name', exact: true }).fill('registries')
  await dialog.getByRole('textbox', { name: /^Host names/ }).fill('github.com\nnot a host!')
  await dialog.getByRole('button', { name: 'Add IP range' }).click()
  await dialog.getByRole('textbox', { name: /key 1$/ }).fill('10.12.0.0/16')
  await dialog.getByRole('textbox', { name: /value 1$/ }).fill('443, 8000-8100/tcp')
  await dialog.getByRole('button', { name: 'Create network policy' }).click()
  await expect(dialog.getByRole('alert')).toContainText('Entry 4 must be a host name')
  await dialog.getByRole('textbox', { name: /^Host names/ }).fill('github.com\n*.npmjs.org')
  await dialog.getByRole('button', { name: 'Create network policy' }).click()
  await expect(page.getByRole('cell', { name: '2 host names, 1 IP range' })).toBeVisible()

  await page.getByRole('button', { name: 'registries', exact: true }).click()
  await expect(dialog).toContainText('10.12.0.0/16 443, 8000-8100/tcp')
  await expect(dialog.getByText('No active devboxes')).toBeVisible()
  await dialog.getByRole('button', { name: 'Edit network policy' }).click()
  const form = page.getByRole('dialog', { name: 'Edit network policy' })
  await form.getByRole('combobox', { name: 'Outgoing connections' }).selectOption('All')
  await form.getByRole('button', { name: 'Save changes' }).click()
  await expect(page.getByRole('cell', { name: 'All connections' })).toBeVisible()
  const { network_policies } = await service.networkPolicies.list()
  expect(network_policies).toMatchObject([{ name: 'registries', egress: { allow_all: true } }])

  await dialog.getByRole('button', { name: 'Delete network policy' }).click()
  const confirm = page.getByRole('dialog', { name: 'Delete registries?' })
  await confirm.getByRole('button', { name: 'Delete network policy' }).click()
  await expect(page.getByRole('heading', { name: 'No network policies yet' })).toBeVisible()
})

test('an object is uploaded, found by its metadata, downloaded, mounted by a devbox and deleted', async ({
  signedIn: page,
  product: { url, service },
}) => {
  await open(page, `${url}/objects`)
  await page.getByRole('button', { name: 'Upload object' }).first().click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Upload object' }).click()
  await expect(dialog.getByRole('alert')).toHaveText('Choose a file')
  await dialog
    .getByLabel('File')
    .setInputFiles({ name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('kept in an object') })
  await expect(dialog.getByRole('combobox', { name: 'Type' })).toHaveValue('text')
  await dialog.getByRole('button', { name: 'Add metadata' }).click()
  await dialog.getByRole('textbox', { name: /key 1$/ }).fill('env')
  await dialog.getByRole('textbox', { name: /value 1$/ }).fill('ci')
  await dialog.getByRole('button', { name: 'Upload object' }).click()
  await page
    .getByRole('row', { name: /notes\.txt/ })
    .getByRole('link', { name: 'env = ci' })
    .click()
  await expect(page.getByRole('list', { name: 'Active filters' })).toContainText('env=ci')
  await page.getByRole('button', { name: 'notes.txt', exact: true }).click()
  const downloading = page.waitForEvent('download')
  await dialog.getByRole('link', { name: 'Download' }).click()
  const download = await downloading
  expect(download.suggestedFilename()).toBe('notes.txt')
  expect((await (await download.createReadStream()).toArray()).join('')).toBe('kept in an object')

  await dialog.getByRole('button', { name: 'Create devbox' }).click()
  const create = page.getByRole('dialog', { name: 'Create devbox' })
  await expect(create.getByRole('textbox', { name: 'Path of mount 1' })).toHaveValue('~/notes.txt')
  await create.getByRole('button', { name: 'Create devbox' }).click()
  await page.waitForURL(/\/devboxes\/dbx_\w+/)
  const id = /dbx_\w+/.exec(page.url())?.[0] ?? ''
  await service.devboxes.waitForStatus({ params: { id }, body: { statuses: ['running'] } })
  const { stdout } = await service.executions.executeSync({ params: { id }, body: { command: 'cat notes.txt' } })
  expect(stdout).toBe('kept in an object')

  await open(page, `${url}/objects`)
  await page.getByRole('button', { name: 'notes.txt', exact: true }).click()
  await dialog.getByRole('button', { name: 'Delete object' }).click()
  await page.getByRole('dialog', { name: 'Delete notes.txt?' }).getByRole('button', { name: 'Delete object' }).click()
  await expect(page.getByRole('heading', { name: 'No objects yet' })).toBeVisible()
  await service.devboxes.shutdown({ params: { id } })
})

test('an agent is created, offered to a new devbox and deleted', async ({ signedIn: page, product: { url } }) => {
  await open(page, `${url}/agents`)
  await page.getByRole('button', { name: 'Create agent' }).first().click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('textbox', { name: 'Name' }).fill('reviewer')
  await dialog.getByRole('textbox', { name: 'Package', exact: true }).fill('--global')
  await dialog.getByRole('button', { name: 'Create agent' }).click()
  await expect(dialog.getByRole('alert')).toContainText('start with -')
  await dialog.getByRole('textbox', { name: 'Package', exact: true }).fill('@acme/agent')
  await dialog.getByRole('textbox', { name: /^Package version/ }).fill('1.2')
  await dialog.getByRole('button', { name: 'Create agent' }).click()
  await expect(page.getByRole('cell', { name: 'npm @acme/agent@1.2' })).toBeVisible()

  await expect(page.getByRole('cell', { name: '0', exact: true })).toBeVisible()
  await page.getByRole('button', { name: 'reviewer', exact: true }).click()
  await dialog.getByRole('button', { name: 'Create devbox' }).click()
  const create = page.getByRole('dialog', { name: 'Create devbox' })
  await expect(create.getByRole('combobox', { name: 'Agent of mount 1' }).locator('option:checked')).toHaveText(
    'reviewer',
  )
  await create.getByRole('button', { name: 'Cancel' }).click()
  await dialog.getByRole('button', { name: 'Delete agent' }).click()
  await page.getByRole('dialog', { name: 'Delete reviewer?' }).getByRole('button', { name: 'Delete agent' }).click()
  await expect(page.getByRole('heading', { name: 'No agents yet' })).toBeVisible()
})

test('gateways and MCP servers are created with a header from a secret, edited and deleted', async ({
  signedIn: page,
  product: { url, service },
}) => {
  await service.secrets.create({ body: { name: 'TEAM_KEY', value: 'x' } })
  await open(page, `${url}/settings/gateways`)
  await page.getByRole('button', { name: 'Create gateway' }).first().click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('textbox', { name: 'Name' }).fill('models')
  await dialog.getByRole('textbox', { name: 'URL' }).fill('api.example.com')
  await dialog.getByRole('combobox', { name: 'Authentication' }).selectOption('Header')
  await dialog.getByRole('button', { name: 'Create gateway' }).click()
  await expect(dialog.getByText('It must be a URL such as https://api.example.com')).toBeVisible()
  await expect(dialog.getByText('It must be the name of an HTTP header, such as x-api-key')).toBeVisible()
  await dialog.getByRole('textbox', { name: 'URL' }).fill('https://api.example.com')
  await dialog.getByRole('textbox', { name: 'Header', exact: true }).fill('x-api-key')
  await dialog.getByRole('button', { name: 'Add header from a secret' }).click()
  await dialog.getByRole('textbox', { name: 'Headers from secrets: key 1' }).fill('x-team')
  await dialog.getByRole('combobox', { name: 'Headers from secrets: value 1' }).fill('TEAM_KEY')
  await dialog.getByRole('button', { name: 'Create gateway' }).click()
  await expect(page.getByRole('cell', { name: 'Header x-api-key' })).toBeVisible()

  await open(page, `${url}/settings/secrets?secret=TEAM_KEY`)
  await dialog.getByRole('link', { name: 'models' }).click()
  await expect(dialog).toContainText('https://api.example.com')
  await dialog.getByRole('button', { name: 'Delete gateway' }).click()
  await page.getByRole('dialog', { name: 'Delete models?' }).getByRole('button', { name: 'Delete gateway' }).click()
  await expect(page.getByRole('heading', { name: 'No gateways yet' })).toBeVisible()

  const { id } = await service.mcpConfigs.create({
    body: { name: 'github', endpoint: 'https://mcp.example.com', allowed_tools: ['*'] },
  })
  await open(page, `${url}/settings/mcp-servers?config=${id}`)
  await dialog.getByRole('button', { name: 'Edit MCP server' }).click()
  const form = page.getByRole('dialog', { name: 'Edit MCP server' })
  await form.getByRole('textbox', { name: 'Allowed tools' }).fill('github.search_*')
  await form.getByRole('button', { name: 'Save changes' }).click()
  await expect(page.getByRole('cell', { name: 'github.search_*' })).toBeVisible()
  await service.mcpConfigs.delete({ params: { id } })
  await service.secrets.delete({ params: { name: 'TEAM_KEY' } })
})
