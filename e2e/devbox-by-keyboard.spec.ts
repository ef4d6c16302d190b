import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Locator } from '@playwright/test'
import { expect, isLive, test } from './product.ts'
import { untilPrompt, untilText } from './terminal-page.ts'

/** Presses a key on the focused element; nothing here is clicked. */
const press = async (what: Locator, key = 'Enter') => {
  await what.focus()
  await expect(what).toBeFocused()
  await what.press(key)
}

test('a devbox is created, used, cloned and shut down by keyboard', async ({ signedIn: page, product }) => {
  const button = (name: string | RegExp) => page.getByRole('button', { name })
  const dialog = page.getByRole('dialog')
  const tab = (name: string) => page.getByRole('navigation', { name: 'Devbox' }).getByRole('link', { name })
  const file = (name: string) => page.getByRole('row').filter({ hasText: name }).getByRole('link')
  const folder = mkdtempSync(join(tmpdir(), 'devdeck-keyboard-'))
  writeFileSync(join(folder, 'up.txt'), 'uploaded\n')

  await page.goto(`${product.url}/devboxes`)
  await isLive(page)
  await press(button('Create devbox').first())
  await dialog.getByRole('textbox', { name: /^Name/ }).fill('by-keyboard')
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/devboxes\/dbx_\w+\/terminal/)
  await untilPrompt(page)
  await page.keyboard.type('echo $((40+2)) > made && cat made\n')
  await untilText(page, /^42$/m)
  await page.keyboard.press('Control+Shift+X')
  await expect(button('Back to the terminal')).toBeFocused()

  await press(tab('Commands'))
  const command = page.getByRole('textbox', { name: 'Command', exact: true })
  await command.fill('echo started; sleep 100')
  await command.press('Control+Enter')
  await expect(page.getByRole('log', { name: 'Output' })).toContainText('started')
  await press(button('Kill command'))
  await expect(page.getByText('Exit 137 (SIGKILL)', { exact: true })).toBeVisible()

  await press(tab('Files'))
  await expect(file('made')).toBeVisible()
  const chosen = page.waitForEvent('filechooser')
  await press(button('Upload files'))
  await (await chosen).setFiles(join(folder, 'up.txt'))
  await expect(dialog.getByRole('textbox')).toHaveValue(/\/up\.txt$/)
  await dialog.getByRole('textbox').press('Enter')
  await expect(dialog).toBeHidden()
  await press(file('up.txt'))
  await expect(page.getByRole('region', { name: 'Text of up.txt' })).toContainText('uploaded')
  const saved = page.waitForEvent('download')
  await press(button(/^Download/))
  await (await saved).saveAs(join(folder, 'down.txt'))
  expect(readFileSync(join(folder, 'down.txt'), 'utf8')).toBe('uploaded\n')
  await press(button('Edit file'))
  const text = page.getByRole('textbox', { name: 'Text of up.txt' })
  await text.fill('edited\n')
  await text.press('Control+s')
  await expect(page.getByRole('region', { name: 'Text of up.txt' })).toContainText('edited')

  await press(button('More actions'))
  await press(page.getByRole('menuitem', { name: 'Take snapshot' }))
  await dialog.getByRole('textbox', { name: /^Name/ }).fill('kept')
  await page.keyboard.press('Enter')
  await expect(page.getByText('Snapshot kept is ready')).toBeVisible()
  const first = /dbx_\w+/.exec(page.url())?.[0] ?? ''
  await press(button('Create devbox'))
  await expect(dialog.getByRole('combobox', { name: 'Source' })).toHaveValue('snapshot')
  await dialog.getByRole('textbox', { name: /^Name/ }).fill('its-copy')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { level: 1, name: 'its-copy' })).toBeVisible()
  expect(page.url()).not.toContain(first)
  await untilPrompt(page)
  await page.keyboard.type('cat made up.txt\n')
  await untilText(page, /^42\nedited$/m)
  await page.keyboard.press('Control+Shift+X')

  await press(button('Shut down devbox'))
  await press(dialog.getByRole('button', { name: 'Shut down devbox' }))
  await expect(page.getByRole('main').getByText('Shut down', { exact: true }).first()).toBeVisible()
  rmSync(folder, { recursive: true })
  // Other tests count what the account contains.
  const { snapshots, devboxes } = product.service
  const { snapshots: taken } = await snapshots.list({ query: { devbox_id: first } })
  for (const { id } of taken) await snapshots.delete({ params: { id } })
  await devboxes.shutdown({ params: { id: first } })
})
