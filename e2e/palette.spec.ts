import type { Page } from '@playwright/test'
import { expect, isLive, open, openPalette, signIn, test } from './product.ts'

const paletteOf = (page: Page) => page.getByRole('dialog', { name: 'Command palette' })
const type = async (page: Page, text: string) => {
  await openPalette(page)
  await page.keyboard.type(text)
}

test('the palette offers recent items, actions on the open record and the docs, by keyboard', async ({
  page,
  product,
}) => {
  const { service, url } = product
  await signIn(page, product)
  const { id } = await service.devboxes.createAndAwaitRunning({ body: { name: 'visited last' } })
  await open(page, `${url}/devboxes/${id}/log`)
  await open(page, `${url}/axons`)
  const palette = paletteOf(page)
  const options = palette.getByRole('option')

  await openPalette(page)
  await expect(options.first()).toHaveText('visited lastdevbox')
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(`${url}/devboxes/${id}`)
  await expect(page.getByRole('button', { name: 'Suspend devbox' })).toBeVisible()

  // An action of the devbox, whose dialog returns the focus.
  await type(page, 'take sn')
  await expect(options.first()).toHaveText('Take snapshot')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('dialog', { name: 'Take snapshot' })).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(page.getByRole('button', { name: 'More actions' })).toBeFocused()

  // A page of the palette, and back.
  await type(page, 'go to devbox')
  await page.keyboard.press('Enter')
  await expect(options).toHaveText(['Terminal', 'Commands', 'Files', 'Log', 'Snapshots'])
  await page.keyboard.press('Backspace')
  await expect(options.first()).toHaveText('Take snapshot')
  await page.keyboard.type('go to devbox')
  await page.keyboard.press('Enter')
  await page.keyboard.press('Escape')
  await expect(options.first()).toHaveText('Take snapshot')
  await page.keyboard.press('Escape')
  await expect(palette).toHaveCount(0)

  // What isn't possible is shown with the reason.
  await service.devboxes.suspend({ params: { id } })
  await expect(page.getByRole('button', { name: 'Resume devbox' })).toBeEnabled()
  await type(page, 'restart keep')
  await expect(options.first()).toHaveText(/^Restart keep-alive timer.*suspended/i)
  await page.keyboard.press('Enter')
  await expect(palette).toBeVisible()

  // The documentation, at its heading.
  await page.keyboard.press('ControlOrMeta+a')
  await page.keyboard.type('drills')
  await expect(options.first()).toHaveText(/Drills$/)
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(`${url}/docs/alerts#drills`)
  await expect(page.getByRole('heading', { name: 'Drills' })).toBeInViewport()
  await page.getByRole('navigation', { name: 'Breadcrumb' }).getByRole('link', { name: 'Docs' }).click()
  await expect(page.getByRole('link', { name: 'Statistics' })).toBeVisible()

  // Nothing is remembered after the account has signed out.
  await type(page, 'sign out')
  await page.keyboard.press('Enter')
  await page.waitForURL(`${url}/sign-in`)
  expect(await page.evaluate(() => Object.keys(localStorage).filter((key) => key.includes('recent')))).toEqual([])
})

test('a shortcut is changed, used and reset, and refused where it conflicts', async ({ page, product }) => {
  await signIn(page, product)
  await open(page, `${product.url}/settings/shortcuts`)
  const change = page.getByRole('button', { name: 'Change “Open the command palette”' })
  await change.press('Enter')
  const field = page.getByRole('textbox', { name: 'Open the command palette' })
  await expect(field).toBeFocused()
  for (const [keys, problem] of [
    ['?', 'Used by “Show keyboard shortcuts” (?)'],
    ['Control+r', 'The browser uses Ctrl+R: reload'],
    ['g', 'Used by “Go to Overview” (g o)'],
  ] as const) {
    await page.keyboard.press(keys)
    await expect(field).toHaveAccessibleDescription(new RegExp(`^${problem.replace(/[?()+]/g, '\\$&')}`))
    await expect(page.getByRole('button', { name: /^Save/ })).toHaveAttribute('aria-disabled', 'true')
  }
  await page.keyboard.press('Control+Shift+y')
  await expect(field).toHaveValue('Ctrl+Shift+Y')
  await page.keyboard.press('Enter')
  await expect(change).toBeFocused()
  const banner = page.getByRole('banner')
  await expect(banner.getByRole('button', { name: 'Search or go to' })).toHaveText('Search or go toCtrlShiftY')

  await page.getByRole('heading', { level: 1 }).click()
  // The first does nothing; otherwise its palette would block the second.
  await page.keyboard.press('Control+k')
  await page.keyboard.press('?')
  const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
  await expect(help.getByText('Open the command palette').locator('..')).toHaveText(/CtrlShiftY$/)
  await page.keyboard.press('Escape')
  await page.reload()
  await isLive(page)
  await page.keyboard.press('Control+Shift+y')
  await expect(paletteOf(page)).toBeVisible()
  await page.keyboard.press('Escape')

  await page.getByRole('button', { name: 'Reset all shortcuts' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Reset all shortcuts' }).click()
  await openPalette(page)
})
