import type { Page } from '@playwright/test'
import { expect, type Product, test } from './product.ts'
import { screenText, untilFocused, untilPrompt, untilText } from './terminal-page.ts'

test.use({ permissions: ['clipboard-read', 'clipboard-write'] })

const openTerminal = async (page: Page, { url, service }: Pick<Product, 'url' | 'service'>, name: string) => {
  const { id } = await service.devboxes.createAndAwaitRunning({ body: { name } })
  await page.goto(`${url}/devboxes/${id}/terminal`)
  await untilPrompt(page)
  return id
}
const clipboard = (page: Page) => page.evaluate(() => navigator.clipboard.readText())
/** Center of a cell (zero-based). */
const cell = (page: Page, column: number, row: number) =>
  page.evaluate(
    ([column, row]) => {
      const { term } = window
      const box = term?.element?.querySelector('.xterm-screen')?.getBoundingClientRect()
      if (!term || !box) throw new Error('there is no terminal')
      return { x: box.x + ((column + 0.5) * box.width) / term.cols, y: box.y + ((row + 0.5) * box.height) / term.rows }
    },
    [column, row] as const,
  )

test('find counts matches and keeps its position during output', async ({ signedIn: page, product }) => {
  const id = await openTerminal(page, product, 'finding')
  const more = `(until [ -e ~/go ]; do sleep 0.1; done; echo; seq -f "needle %g" 501 700; echo ${'a'.repeat(40)}.) &`
  await page.keyboard.type(`clear; seq -f "needle %g" 1 500; ${more}\n`)
  await untilText(page, /^needle 500$/m)
  await page.keyboard.press('Control+Shift+F')
  await page.keyboard.type('needle 49')
  const bar = page.getByRole('search', { name: 'Find in terminal' })
  const field = bar.getByRole('textbox', { name: 'Find' })
  await expect(field).toHaveValue('needle 49')
  await expect(bar).toContainText(/\d+ of 11/)
  await field.fill('needle 4')
  await bar.getByRole('button', { name: 'Whole words' }).click()
  await expect(bar).toContainText('1 of 1')
  await bar.getByRole('button', { name: 'Whole words' }).click()
  await bar.getByRole('button', { name: 'Regular expression' }).click()
  await field.fill('needle [')
  await expect(bar.getByRole('alert')).toContainText('Not a regular expression')
  await field.fill('^needle (1|500)$')
  await expect(bar).toContainText('1 of 2')
  await field.press('Shift+Enter')
  await expect(bar).toContainText('2 of 2')
  await field.press('Enter')
  await expect(bar).toContainText('1 of 2')
  await product.service.executions.executeSync({ params: { id }, body: { command: 'touch ~/go' } })
  await untilText(page, /^needle 700$/m)
  expect(await page.evaluate(() => window.term?.buffer.active.viewportY)).toBe(0)
  await field.fill('^needle \\d+$')
  await expect(bar).toContainText('of 700')
  // A catastrophic expression times out.
  await field.fill('^(a+)+$')
  await expect(bar.getByRole('alert')).toContainText('timed out')
  await field.press('Escape')
  await expect(bar).toHaveCount(0)
  await expect(page.locator('.xterm-helper-textarea')).toBeFocused()
})

test('Ctrl+C copies a selection with wrapped lines joined, and interrupts without one', async ({
  signedIn: page,
  product,
}) => {
  await openTerminal(page, product, 'copying')
  await page.keyboard.type("clear; printf 'word  \\n%0.sx' 1; printf '%0.sy' $(seq 1 300); printf ' end   \\n'\n")
  await untilText(page, /^y+ end/m)
  const from = await cell(page, 0, 0)
  const to = await cell(page, 30, 3)
  await page.mouse.move(from.x - 3, from.y)
  await page.mouse.down()
  await page.mouse.move(to.x, to.y, { steps: 4 })
  await page.mouse.up()
  await page.keyboard.press('Control+C')
  await expect.poll(() => clipboard(page)).toMatch(/^word\n1?xy{300} end/)
  await expect.poll(() => page.evaluate(() => window.term?.hasSelection())).toBe(false)
  // Ctrl-C discards input the shell hasn't read yet, so each step waits for the previous one's output.
  await untilPrompt(page)
  // The job reports that it is in the foreground; until then Ctrl-C goes to the shell.
  await page.keyboard.type("bash -c 'echo begun; exec sleep 100'\n")
  await untilText(page, /^begun$/m)
  await page.keyboard.press('Control+C')
  await untilText(page, /\^C\n.*\$\s*$/)
  await page.keyboard.type('echo interrupted\n')
  await untilText(page, /^interrupted$/m)
})

test('terminal settings apply immediately in all windows and survive a reload', async ({
  signedIn: page,
  product,
  context,
}) => {
  const id = await openTerminal(page, product, 'setting')
  const other = await context.newPage()
  await other.goto(`${product.url}/devboxes/${id}/terminal`)
  await untilText(other, /\$/)
  await page.bringToFront()
  const option = (of: Page, name: 'fontSize' | 'cursorStyle' | 'scrollback') =>
    of.evaluate((name) => window.term?.options[name], name)
  const columns = await page.evaluate(() => window.term?.cols ?? 0)

  await page.getByRole('button', { name: 'Terminal settings' }).click()
  const size = page.getByLabel('Font size')
  await size.fill('99')
  await expect(page.getByText('Must be between 8 and 32')).toBeVisible()
  await expect(size).toHaveValue('99')
  expect(await option(page, 'fontSize')).toBe(13)
  await size.fill('20')
  await page.getByLabel('Cursor', { exact: true }).selectOption('bar')
  await page.getByLabel('Scrollback').fill('5000')
  await expect.poll(() => option(other, 'fontSize')).toBe(20)
  await page.getByRole('button', { name: 'Done' }).click()
  await expect.poll(() => page.evaluate(() => window.term?.cols ?? 0)).toBeLessThan(columns * 0.75)
  await page.reload()
  await untilPrompt(page)
  expect(
    await Promise.all([option(page, 'fontSize'), option(page, 'cursorStyle'), option(page, 'scrollback')]),
  ).toEqual([20, 'bar', 5000])
  await page.keyboard.press('Control+0')
  await expect.poll(() => option(page, 'fontSize')).toBe(13)
  await untilText(page, /\$\s*$/)
})

test('pasting a secret into a recording is confirmed and masked', async ({ signedIn: page, product }) => {
  await openTerminal(page, product, 'recorded')
  const secret = `ghp${'_16C7e42F292c6912E7710c838347Ae178B4a'}`
  await page.evaluate((text) => navigator.clipboard.writeText(text), secret)
  await page.keyboard.press('Control+V')
  await untilText(page, /\$ ghp_/)
  await page.keyboard.press('Control+C')
  await page.getByRole('button', { name: /^Record/ }).click()
  await expect(page.getByRole('button', { name: /^Stop recording/ })).toBeVisible()
  await page.locator('.xterm-screen').click()
  await page.keyboard.press('Control+V')
  const dialog = page.getByRole('dialog')
  await expect(dialog).toContainText('Paste a secret into a recording?')
  await expect(dialog).toContainText('a GitHub token')
  await expect(dialog).not.toContainText(secret)
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await untilFocused(page)
  await page.keyboard.type('echo after\n')
  await untilText(page, /^after$/m)
  await page.getByRole('button', { name: /^Stop recording/ }).click()
  await expect(page.getByRole('button', { name: /^Record/ })).toBeVisible()
  await page.goto(`${product.url}/recordings`)
  const recordings = page.getByRole('table', { name: 'Recordings' })
  await expect(recordings.getByText('recorded', { exact: true })).toBeVisible()
  await recordings.getByRole('link').first().click()
  await expect(page.getByText(/^Recorded .* in recorded,/)).toBeVisible()
  await expect(page.getByRole('button', { name: 'Play again' })).toBeVisible()
  await expect(page.getByLabel('Recorded screen')).toContainText('after')
})

test("a file path on screen opens in Files at its line, from the shell's folder", async ({
  signedIn: page,
  product,
}) => {
  await openTerminal(page, product, 'files')
  await page.keyboard.type(
    'mkdir -p work/out && cd work && seq -f "line %g" 90 > out/a.txt && clear && echo out/a.txt:7 out/none.txt\n',
  )
  await untilText(page, /^out\/a\.txt:7/m)
  const follow = async (path: string, column: number) => {
    const { x, y } = await cell(page, column, 0)
    await page.mouse.move(x, y + 60)
    await page.mouse.move(x, y)
    await expect(page.getByRole('tooltip')).toContainText(new RegExp(`/work/${path}.*to open it in Files`))
    await page.keyboard.down('Control')
    await page.mouse.click(x, y)
    await page.keyboard.up('Control')
  }
  await follow('out/a.txt:7', 2)
  await page.waitForURL(/\/files\?.*file=a\.txt&line=7$/)
  await expect(page.getByText(/\bline 7\b/).first()).toBeVisible()
  await page.goBack()
  await untilPrompt(page)
  await follow('out/none.txt', 20)
  await page.waitForURL(/\/files\?.*file=none\.txt$/)
  await expect(page.getByText(/No such file|not found|does not exist/i).first()).toBeVisible()
})

test('the terminal menus work by keyboard, and a reset and a cleared scrollback survive a reload', async ({
  signedIn: page,
  product,
}) => {
  const id = await openTerminal(page, product, 'menus')
  await page.keyboard.type('seq -f "old %g" 100; echo last-""output\n')
  await untilText(page, /^last-output$/m)
  const menu = page.getByRole('menu', { name: 'Terminal' })
  const chosen = async (name: string) => {
    await page.keyboard.press('Shift+F10')
    await expect(menu).toBeVisible()
    await page.keyboard.type(name.slice(0, 9))
    await expect(menu.getByRole('menuitem', { name })).toBeFocused()
    await page.keyboard.press('Enter')
    await expect(menu).toHaveCount(0)
  }
  await chosen('Copy output of last command')
  await expect.poll(() => clipboard(page)).toMatch(/^old 1\n[\s\S]*last-output$/)
  await chosen('Copy all output')
  await expect.poll(() => clipboard(page)).toMatch(/\$ seq -f/)

  // Without prompt marks, modes that a program left on stay on.
  await page.keyboard.type('exec bash --norc --noprofile\n')
  await untilText(page, /bash-\S+[$#]\s*$/)
  await page.keyboard.type("printf '\\e(0\\e[?1000h'\n")
  await expect.poll(() => page.evaluate(() => window.term?.modes.mouseTrackingMode)).toBe('vt200')
  await chosen('Reset terminal')
  await expect.poll(() => page.evaluate(() => window.term?.modes.mouseTrackingMode)).toBe('none')
  await page.keyboard.type('echo plain-""text\n')
  await untilText(page, /^plain-text$/m)
  await chosen('Clear scrollback')
  await expect.poll(() => screenText(page)).not.toMatch(/old 1$/m)
  await page.reload()
  await untilText(page, /^plain-text$/m)
  expect(await screenText(page)).not.toMatch(/old 1$/m)

  await page.keyboard.press('Control+Shift+X')
  await page.getByRole('button', { name: 'More', exact: true }).focus()
  await page.keyboard.press('Enter')
  const more = page.getByRole('menu', { name: 'More' })
  await expect(more.getByRole('menuitem', { name: /^Split right/ })).toContainText('Ctrl+Shift+E')
  await page.keyboard.type('view')
  await expect(more.getByRole('menuitem', { name: /^View as plain text/ })).toBeFocused()
  await page.keyboard.press('Enter')
  await expect(page.getByRole('dialog', { name: 'Terminal as plain text' })).toContainText('newest at the end')
  await page.keyboard.press('Escape')
  await expect(page.getByRole('button', { name: 'More', exact: true })).toBeFocused()

  // Chosen keys work and are shown.
  await page.evaluate(() => localStorage.setItem('devdeck:shortcuts', '{"terminal.find":"ctrl+shift+y"}'))
  await page.goto(`${product.url}/devboxes/${id}/terminal`)
  await untilPrompt(page)
  await page.keyboard.press('Control+Shift+Y')
  await expect(page.getByRole('search', { name: 'Find in terminal' })).toBeVisible()
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Find', exact: true }).hover()
  await expect(page.getByRole('tooltip')).toHaveText('Find (Ctrl+Shift+Y)')
})
