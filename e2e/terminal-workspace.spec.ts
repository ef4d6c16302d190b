import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Locator, Page } from '@playwright/test'
import { paths } from '#lib/browser/address/paths.ts'
import { expect, isLive, type Product, test } from './product.ts'

const pane = (page: Page, name: string) => page.getByRole('group', { name: `Pane ${name}`, exact: true })
const tab = (page: Page, name: string | RegExp) => page.getByRole('tab', { name })
const screen = (page: Page, name: string) => pane(page, name).locator('.xterm-rows')
const textOf = async (page: Page, name: string) =>
  (await screen(page, name).innerText()).replaceAll('\u00a0', ' ').replace(/ +$/gm, '')
const layoutOf = (page: Page) => new URL(page.url()).searchParams.get('t')

const says = (page: Page, name: string, text: string | RegExp) =>
  expect
    .poll(() => textOf(page, name), { intervals: [100] })
    .toMatch(typeof text === 'string' ? new RegExp(escaped(text)) : text)
const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

const prompt = /\$\s*$/

/** Resolves once the pane has keyboard focus. */
const hasKeyboard = (page: Page, name: string) =>
  expect(pane(page, name).locator('.xterm-helper-textarea')).toBeFocused()

/** Runs a line once the pane's shell shows its prompt. */
const run = async (page: Page, name: string, line: string) => {
  await says(page, name, prompt)
  await pane(page, name).locator('.xterm-screen').click()
  await page.keyboard.type(`${line}\n`)
}

const openTerminals = async (page: Page, product: Product, layout = '', name = 'desk') => {
  const { id } = await product.service.devboxes.createAndAwaitRunning({ body: { name } })
  await page.goto(`${product.url}/devboxes/${id}/terminal${layout && `?t=${layout}`}`)
  // The prompt may appear before the page is ready.
  await expect(page.locator('[data-terminal]').first()).toBeAttached()
  return id
}
/** Runs in the devbox, outside any terminal. */
const inDevbox = async (product: Product, id: string, command: string) =>
  (await product.service.executions.executeSync({ params: { id }, body: { command } })).stdout

test('tabs, splits and names are stored in the address and restored with their shells', async ({
  signedIn: page,
  product,
}) => {
  await openTerminals(page, product)
  await run(page, 'main', 'kept=in-main')
  expect(layoutOf(page)).toBe(null)

  await page.getByRole('button', { name: 'New terminal' }).click()
  await expect.poll(() => layoutOf(page)).toBe('main,@shell-2')
  await run(page, 'shell-2', 'kept=in-second')
  await page.keyboard.press('Control+Shift+E')
  await expect.poll(() => layoutOf(page)).toBe('main,@shell-2.@shell-3')
  await says(page, 'shell-3', prompt)
  await hasKeyboard(page, 'shell-3')
  await page.keyboard.type('kept=in-third\n')
  await page.keyboard.press('Control+Shift+O')
  await expect.poll(() => layoutOf(page)).toBe('main,@shell-2.(shell-3/@shell-4)')
  await says(page, 'shell-4', prompt)

  await tab(page, /shell-4/).dblclick()
  await page.getByRole('textbox', { name: 'Tab name' }).fill('Web, server')
  await page.keyboard.press('Enter')
  await expect.poll(() => layoutOf(page)).toBe('main,@shell-2.(shell-3/@shell-4):Web~, server')
  await tab(page, /Web, server/).dragTo(tab(page, /main/))
  await expect.poll(() => layoutOf(page)).toBe('shell-2.(shell-3/@shell-4):Web~, server,main')

  await page.reload()
  await expect(tab(page, /Web, server/)).toHaveAttribute('aria-selected', 'true')
  await run(page, 'shell-2', 'echo "[$kept]"')
  await says(page, 'shell-2', '[in-second]')
  await run(page, 'shell-3', 'echo "[$kept]"')
  await says(page, 'shell-3', '[in-third]')
  // Hidden tabs connect too.
  await expect(tab(page, /main.*running|running.*main/)).toBeVisible()
  await page.keyboard.press('Control+Shift+Digit2')
  await run(page, 'main', 'echo "[$kept]"')
  await says(page, 'main', '[in-main]')
  await expect.poll(() => layoutOf(page)).toBe('shell-2.(@shell-3/shell-4):Web~, server,@main')
})

test('Back and Forward follow the visible terminals', async ({ signedIn: page, product }) => {
  const id = await openTerminals(page, product, 'main,build')
  await says(page, 'main', prompt)
  await tab(page, /build/).click()
  await expect.poll(() => layoutOf(page)).toBe('main,@build')
  await says(page, 'build', prompt)
  await page.keyboard.press('Control+Shift+O')
  await expect.poll(() => layoutOf(page)).toBe('main,@build/@shell-2')
  await page.goBack()
  await expect(pane(page, 'shell-2')).toBeHidden()
  await expect(tab(page, /build/)).toHaveAttribute('aria-selected', 'true')
  await page.goBack()
  await expect(tab(page, /main/)).toHaveAttribute('aria-selected', 'true')
  await page.goForward()
  await page.goForward()
  await expect(pane(page, 'shell-2')).toBeVisible()
  await says(page, 'build', prompt)

  // Other pages of the devbox link back to the same layout.
  await page.getByRole('navigation', { name: 'Devbox' }).getByRole('link', { name: 'Log' }).click()
  await expect(page).toHaveURL(new RegExp(`${id}/log$`))
  await page.getByRole('navigation', { name: 'Devbox' }).getByRole('link', { name: 'Terminal' }).click()
  await expect.poll(() => layoutOf(page)).toBe('main,@build/@shell-2')
  await says(page, 'shell-2', prompt)
})

test('a closed terminal keeps its shell and can be reopened', async ({ signedIn: page, product }) => {
  await openTerminals(page, product, 'main,@work:Work')
  await run(page, 'work', 'kept=all-of-it')
  await tab(page, /Work/).press('Delete')
  await expect.poll(() => layoutOf(page)).toBe(null)
  await expect(page.getByText('work was closed')).toBeVisible()
  await page.getByRole('button', { name: 'Reopen' }).click()
  await expect.poll(() => layoutOf(page)).toBe('main,@work:Work')
  await run(page, 'work', 'echo "[$kept]"')
  await says(page, 'work', '[all-of-it]')

  await tab(page, /Work/).press('Delete')
  await page.getByRole('button', { name: '1 more shell' }).click()
  await page.getByRole('menuitem', { name: /work/ }).click()
  await run(page, 'work', 'echo "<$kept>"')
  await says(page, 'work', '<all-of-it>')

  // A new terminal must not reuse a closed terminal's shell.
  await page.getByRole('button', { name: 'New terminal' }).click()
  await expect.poll(() => layoutOf(page)).toContain('shell-2')
  await tab(page, /shell-2/).press('Delete')
  await expect(page.getByText('shell-2 was closed')).toBeVisible()
  await page.getByRole('button', { name: 'New terminal' }).click()
  await expect.poll(() => layoutOf(page)).toContain('shell-3')

  // Closing an ended shell shows no message and can't be undone.
  await run(page, 'shell-3', 'exit 3')
  await expect(tab(page, /shell-3/)).toContainText('ended 3')
  await pane(page, 'shell-3').getByRole('button', { name: 'Close', exact: true }).click()
  await expect(pane(page, 'shell-3')).toHaveCount(0)
  await expect(page.getByText('shell-3 was closed')).toHaveCount(0)

  await says(page, 'work', prompt)
  await tab(page, /work/).press('Delete')
  await expect(pane(page, 'main')).toBeVisible()

  // Two requests at once open two terminals.
  await pane(page, 'main').locator('.xterm-screen').click()
  await page.keyboard.press('Control+Shift+Enter')
  await page.keyboard.press('Control+Shift+Enter')
  await expect.poll(() => layoutOf(page)).toBe('main,shell-3,@shell-4')
})

test('workspace shortcuts never reach the shell', async ({ signedIn: page, product }) => {
  await openTerminals(page, product, 'one.(two/three),four')
  await says(page, 'one', prompt)
  await pane(page, 'one').locator('.xterm-screen').click()
  await page.keyboard.press('Control+Shift+ArrowRight')
  await expect.poll(() => layoutOf(page)).toBe('one.(@two/three),four')
  await page.keyboard.press('Control+Shift+ArrowDown')
  await expect.poll(() => layoutOf(page)).toBe('one.(two/@three),four')
  await page.keyboard.press('Control+Shift+Z')
  await expect(pane(page, 'one')).toBeHidden()
  await page.keyboard.press('Control+Shift+Z')
  await expect(pane(page, 'one')).toBeVisible()
  await page.keyboard.press('Control+Shift+ArrowRight')
  await expect.poll(() => layoutOf(page)).toBe('one.(two/@three),@four')
  await page.keyboard.press('Control+Shift+ArrowLeft')
  await says(page, 'three', prompt)
  await hasKeyboard(page, 'three')
  await page.keyboard.type('echo typed\n')
  await says(page, 'three', /\$ echo typed\s+typed/)

  await tab(page, /four/).focus()
  await page.keyboard.press('Shift+ArrowLeft')
  await expect.poll(() => layoutOf(page)).toBe('four,@one.(two/@three)')
  await expect(tab(page, /four/)).toBeFocused()
  await page.keyboard.press('F2')
  await page.getByRole('textbox', { name: 'Tab name' }).fill('Left')
  await page.keyboard.press('Escape')
  await expect(tab(page, /four/)).toBeVisible()
})

test('pinned tabs stay left and open, and a new window of the browser shows the last tabs', async ({
  signedIn: page,
  product,
  context,
}) => {
  const id = await openTerminals(page, product, 'main,logs,@build')
  await says(page, 'build', prompt)
  await tab(page, /build/).focus()
  await page.keyboard.press('p')
  await expect.poll(() => layoutOf(page)).toBe('!build,main,logs')
  await expect(tab(page, /build.*pinned/)).toBeFocused()
  await page.keyboard.press('Delete')
  await page.keyboard.press('Shift+ArrowRight')
  await tab(page, /logs/).focus()
  await page.keyboard.press('Shift+ArrowLeft')
  await page.keyboard.press('Shift+ArrowLeft')
  await expect.poll(() => layoutOf(page)).toBe('!build,logs,main')
  await page.getByRole('button', { name: 'Terminal actions' }).click()
  await expect(page.getByRole('menuitem', { name: /^Unpin tab/ })).toBeVisible()
  await page.keyboard.press('Escape')

  const other = await context.newPage()
  await other.goto(`${product.url}/devboxes/${id}`)
  await isLive(other)
  await other.getByRole('navigation', { name: 'Devbox' }).getByRole('link', { name: 'Terminal' }).click()
  await expect.poll(() => layoutOf(other)).toBe('!build,logs,main')
  await other.close()
})

test('a terminal opened for a folder starts a new shell there, once', async ({ signedIn: page, product }) => {
  const id = await openTerminals(page, product, 'main,logs')
  await run(page, 'main', `mkdir "it's here"`)
  await says(page, 'main', prompt)
  await page.goto(`${product.url}${paths.devboxTerminal(id, { cwd: "~/it's here" })}`)
  await expect.poll(() => layoutOf(page)).toBe('main,@shell-2,logs')
  await says(page, 'shell-2', /\$ cd -- "\$HOME"\/.*\n.*it's here\$\s*$/)
  await hasKeyboard(page, 'shell-2')
  await page.reload()
  await says(page, 'shell-2', /it's here\$\s*$/)
  expect(layoutOf(page)).toBe('main,@shell-2,logs')
})

test('panes are resized by keyboard', async ({ signedIn: page, product }) => {
  await openTerminals(page, product, 'a.b')
  await says(page, 'b', prompt)
  const line = page.getByRole('separator', { name: 'Between a and b' })
  await line.focus()
  await expect(line).toHaveAttribute('aria-valuenow', '50')
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('ArrowRight')
  await expect.poll(() => layoutOf(page)).toBe('a*54.b')
  await expect(line).toHaveAttribute('aria-valuenow', '54')
  await page.keyboard.press('Enter')
  await expect.poll(() => layoutOf(page)).toBe('a.b')
})

/** Drops files created in the page. */
const drop = async (page: Page, name: string, files: Record<string, string>) => {
  const dataTransfer = await page.evaluateHandle((contents) => {
    const transfer = new DataTransfer()
    for (const [file, text] of Object.entries(contents)) transfer.items.add(new File([text], file))
    return transfer
  }, files)
  const target = pane(page, name).locator('.xterm-screen')
  await target.dispatchEvent('dragover', { dataTransfer })
  await expect(pane(page, name).getByText('Drop to upload to')).toBeVisible()
  await target.dispatchEvent('drop', { dataTransfer })
}

test("dropped files go to the shell's folder and overwrite only after confirmation", async ({
  signedIn: page,
  product,
}) => {
  const id = await openTerminals(page, product)
  await run(page, 'main', 'mkdir -p "a b" && cd "a b" && pwd')
  await says(page, 'main', /a b\n.*\$$/m)
  await drop(page, 'main', { 'näme.txt': 'first' })
  const dialog = page.getByRole('dialog')
  await expect(dialog.getByRole('textbox', { name: 'Path in the devbox' })).toHaveValue(/\/a b\/näme\.txt$/)
  await dialog.getByRole('button', { name: 'Upload file' }).click()
  await expect(page.getByText('1 file uploaded')).toBeVisible()
  expect(await inDevbox(product, id, 'cat "a b/näme.txt"')).toBe('first')

  await drop(page, 'main', { 'näme.txt': 'second', 'other.txt': 'other' })
  await dialog.getByRole('button', { name: 'Upload 2 files' }).click()
  await expect(dialog.getByRole('alert')).toContainText('näme.txt')
  await dialog.getByRole('textbox', { name: 'Folder in the devbox' }).fill('~/elsewhere')
  await dialog.getByRole('button', { name: 'Upload 2 files' }).click()
  await expect(page.getByText('2 files uploaded')).toBeVisible()
  // The upload has finished.
  await expect(page.getByRole('button', { name: 'Cancel' })).toHaveCount(0)
  expect(await inDevbox(product, id, 'cat "a b/näme.txt" elsewhere/*')).toBe('firstsecondother')

  await drop(page, 'main', { 'näme.txt': 'third' })
  await dialog.getByRole('button', { name: 'Upload file' }).click()
  await dialog.getByRole('button', { name: 'Overwrite and upload' }).click()
  await expect.poll(() => inDevbox(product, id, 'cat "a b/näme.txt"')).toBe('third')
})

test("a file dropped outside a terminal doesn't replace the page", async ({ signedIn: page, product }) => {
  await openTerminals(page, product)
  await says(page, 'main', prompt)
  const folder = mkdtempSync(join(tmpdir(), 'devdeck-dropped-'))
  writeFileSync(join(folder, 'inside.txt'), 'text')
  const real = await page.context().newCDPSession(page)
  const dropAt = async (target: Locator) => {
    const box = await target.boundingBox()
    if (!box) throw new Error('there is nothing to drop on')
    const data = { items: [], files: [join(folder, 'inside.txt')], dragOperationsMask: 1 }
    for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
      await real.send('Input.dispatchDragEvent', { type, x: box.x + box.width / 2, y: box.y + box.height / 2, data })
  }
  await dropAt(page.getByRole('heading', { name: 'desk' }))
  await dropAt(pane(page, 'main'))
  await expect(page.getByRole('dialog', { name: 'Upload this file?' })).toBeVisible()
  rmSync(folder, { recursive: true })
})

test("a shell's title is shown as plain text until the tab is renamed", async ({ signedIn: page, product }) => {
  await openTerminals(page, product)
  await expect(page).toHaveTitle(/^(\(\d+\) )?desk · Devdeck$/)
  await run(page, 'main', `printf '\\e]0;<img src=x onerror=alert(1)> \\xe2\\x80\\xaegnp.exe %0300d\\a' 0`)
  await expect(tab(page, /<img src=x onerror=alert\(1\)> U\+202Egnp\.exe/)).toBeVisible()
  await expect(page).toHaveTitle(/^(\(\d+\) )?desk · Devdeck$/)
  await tab(page, /img/).focus()
  await page.keyboard.press('F2')
  await page.getByRole('textbox', { name: 'Tab name' }).fill('Mine')
  await page.keyboard.press('Enter')
  await expect(tab(page, /Mine/)).toBeVisible()
})

test('a command is inserted at the prompt and not run', async ({ signedIn: page, product }) => {
  const id = await openTerminals(page, product)
  await says(page, 'main', prompt)
  await page.goto(`${product.url}/devboxes/${id}/commands`)
  await isLive(page)
  await page.getByRole('textbox', { name: 'Command', exact: true }).fill('echo once >> ran')
  await page.getByRole('button', { name: 'Run command' }).click()
  await expect(page.getByText('Exit 0')).toBeVisible()
  await page.getByRole('button', { name: /Insert at prompt/ }).click()
  await says(page, 'main', /\$ echo once >> ran$/m)
  await hasKeyboard(page, 'main')
  expect(await inDevbox(product, id, 'cat ran')).toBe('once\n')
  await page.keyboard.press('Enter')
  await expect.poll(() => inDevbox(product, id, 'cat ran')).toBe('once\nonce\n')

  // From the palette and the log; several lines stay one paste.
  await page.getByRole('button', { name: 'Search or go to' }).click()
  await page.getByRole('option', { name: 'New terminal tab' }).click()
  await expect.poll(() => layoutOf(page)).toBe('main,@shell-2')
  await says(page, 'shell-2', prompt)
  await inDevbox(product, id, 'echo two >> ran\necho three >> ran\n')
  await page.getByRole('navigation', { name: 'Devbox' }).getByRole('link', { name: 'Log' }).click()
  const record = page.getByRole('log', { name: 'Records' }).locator('div', { hasText: 'echo two' }).last()
  await record.hover()
  await record.getByRole('button', { name: /Insert at prompt/ }).click()
  await page.getByRole('dialog', { name: 'Paste 2 lines?' }).getByRole('button', { name: 'Paste', exact: true }).click()
  await says(page, 'shell-2', /echo two >> ran\n(> )?echo three >> ran/)
  expect(await inDevbox(product, id, 'cat ran')).toBe('once\nonce\ntwo\nthree\n')
})

test('a port is opened through a tunnel after confirmation', async ({ signedIn: page, product }) => {
  const id = await openTerminals(page, product)
  await says(page, 'main', prompt)
  const tunnel = async () => (await product.service.devboxes.get({ params: { id } })).tunnel
  await page.getByRole('button', { name: 'Terminal actions' }).click()
  await page.getByRole('menuitem', { name: 'Ports' }).click()
  await page.getByRole('textbox', { name: 'Port' }).fill('99999')
  await page.getByRole('button', { name: 'Open port' }).click()
  await expect(page.getByRole('alert').getByText(/number from 1 to 65535/)).toBeVisible()
  await page.getByRole('textbox', { name: 'Port' }).fill('8080')
  await page.getByRole('button', { name: 'Open port' }).click()
  const dialog = page.getByRole('dialog', { name: 'Open port 8080?' })
  await expect(dialog).toContainText('Every port of the devbox')
  expect(await tunnel()).toBeFalsy()
  const opening = page.context().waitForEvent('page')
  await dialog.getByRole('button', { name: 'Enable tunnel and open' }).click()
  const opened = await opening
  const key = (await tunnel())?.tunnel_key
  await expect.poll(() => opened.url()).toBe(`http://8080-${key}.tunnel.localhost:${new URL(product.serviceUrl).port}/`)
  expect(await opened.evaluate(() => window.opener)).toBe(null)
  await opened.close()

  await page.getByRole('button', { name: 'Terminal actions' }).click()
  await page.getByRole('menuitem', { name: 'Ports' }).click()
  await page.getByRole('button', { name: 'Remove tunnel' }).click()
  await expect(page.getByText("No tunnel. Ports can't be reached from outside.")).toBeVisible()
  expect(await tunnel()).toBeFalsy()
})

test('a link lets others watch without signing in until it is revoked', async ({
  signedIn: page,
  product,
  browser,
}) => {
  await openTerminals(page, product)
  await run(page, 'main', 'echo shared-$((40+2))')
  await page.getByRole('button', { name: 'Share', exact: true }).click()
  await page.getByRole('button', { name: 'Create and copy link' }).click()
  const link = await page.getByRole('textbox', { name: 'Link to this terminal' }).inputValue()
  expect(link).toContain(`${product.url}/follow/`)

  const stranger = await (await browser.newContext()).newPage()
  const response = await stranger.goto(link)
  expect(await response?.text()).toMatch(/name="robots" content="noindex/)
  expect(await response?.text()).toMatch(/name="referrer" content="no-referrer"/)
  const followed = async () => (await stranger.locator('.xterm-rows').innerText()).replaceAll('\u00a0', ' ')
  await expect.poll(followed).toContain('shared-42')
  await expect(stranger.getByText('Read only')).toBeVisible()
  await stranger.locator('.xterm-screen').click()
  await stranger.keyboard.type('echo intruder\n')
  await page.keyboard.press('Escape')
  await run(page, 'main', 'echo shared-$((40+3))')
  await expect.poll(followed).toContain('shared-43')
  expect(await followed()).not.toContain('intruder')
  // The visitor was never redirected to the sign-in page.
  expect(stranger.url()).toBe(link)
  expect((await stranger.request.get(`${product.url}/api/v1/devboxes`)).status()).toBe(401)

  await page.getByRole('button', { name: /^Shared/ }).click()
  await page.getByRole('button', { name: 'Revoke link' }).click()
  await expect(stranger.getByText(/revoked|expired/).first()).toBeVisible()
  await stranger.reload()
  await expect(stranger.getByText('Nothing to watch here')).toBeVisible()
  await stranger.context().close()
})

test('a page shows up to eight terminals and names the rest', async ({ signedIn: page, product }) => {
  await openTerminals(page, product, 'a,b,c,d,e,f,g,h,left,out')
  await expect(page.getByText(/left, out\. They were not opened/)).toBeVisible()
  await expect(page.getByRole('tab')).toHaveCount(8)
  await expect(page.getByRole('button', { name: /New terminal/ })).toHaveAttribute('aria-disabled', 'true')
})

test('a phone shows one pane at a time', async ({ signedIn: page, product }) => {
  await page.setViewportSize({ width: 390, height: 844 })
  await openTerminals(page, product, 'a.(b/c)')
  await expect(pane(page, 'a')).toBeVisible()
  await expect(pane(page, 'b')).toBeHidden()
  await says(page, 'a', prompt)
  await page.getByRole('button', { name: /1 of 3/ }).press('Enter')
  await expect(pane(page, 'b')).toBeVisible()
  await expect(pane(page, 'a')).toBeHidden()
  await says(page, 'b', prompt)
})

test('a separate window shows only the terminals', async ({ signedIn: page, product }) => {
  await openTerminals(page, product, 'a.b')
  await says(page, 'a', prompt)
  await page.goto(`${page.url()}&full=1`)
  await says(page, 'b', prompt)
  await expect(async () => {
    const box = await page.getByRole('tabpanel').boundingBox()
    expect(box?.width).toBeGreaterThan(1420)
    expect(box?.height).toBeGreaterThan(840)
  }).toPass()
  // Covered elements must not be reachable.
  const covered = page.getByRole('navigation', { name: 'Devbox' })
  expect(await covered.evaluate((element) => element.closest('[inert]') !== null)).toBe(true)
  await run(page, 'b', 'echo still-$((40+2))')
  await says(page, 'b', 'still-42')
  expect(new URL(page.url()).searchParams.get('full')).toBe('1')
})
