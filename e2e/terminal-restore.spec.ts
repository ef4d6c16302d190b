import type { Page } from '@playwright/test'
import { expect, openPalette, type Product, test } from './product.ts'
import { screenText, untilPrompt, untilText } from './terminal-page.ts'

// The alert bar left by another journey appears during a reload, and the resize makes vim redraw.
test.use({ journeys: 'terminal restore' })

const openTerminal = async (page: Page, product: Product) => {
  const { id } = await product.service.devboxes.createAndAwaitRunning({ body: { name: 'restore' } })
  await page.goto(`${product.url}/devboxes/${id}/terminal`)
  await untilPrompt(page)
  await type(page, 'kept=by-this-shell\n')
  return id
}

const type = (page: Page, text: string) => page.keyboard.type(text)

/** Cells with colors, cursor and all modes. */
const wholeTerminal = (page: Page) =>
  page.evaluate(() => {
    const terminal = window.term
    const core = (terminal as unknown as { _core: Core })?._core
    interface Core {
      coreService: { isCursorHidden: boolean; decPrivateModes: object }
      coreMouseService: { activeProtocol: string; activeEncoding: string }
      buffers: Record<'normal' | 'alt', { scrollTop: number; scrollBottom: number }>
    }
    if (!terminal) return []
    const { active } = terminal.buffer
    const lines = Array.from({ length: active.length }, (_, row) => {
      const line = active.getLine(row)
      const cells = Array.from({ length: terminal.cols }, (_, column) => {
        const cell = line?.getCell(column)
        const flags = [cell?.isBold(), cell?.isInverse(), cell?.isUnderline(), cell?.isDim(), cell?.isItalic()]
        return `${cell?.getChars()}${cell?.getFgColor()},${cell?.getBgColor()},${flags.map(Number).join('')}`
      })
      return `${line?.isWrapped} ${cells.join('|')}`
    })
    return [
      `${active.type} ${terminal.cols}x${terminal.rows} cursor ${active.cursorX},${active.cursorY} base ${active.baseY}`,
      JSON.stringify({
        ...terminal.modes,
        ...core.coreService.decPrivateModes,
        hidden: core.coreService.isCursorHidden,
      }),
      `${core.coreMouseService.activeProtocol} ${core.coreMouseService.activeEncoding}`,
      ...Object.values(core.buffers).map(({ scrollTop, scrollBottom }) => `region ${scrollTop} to ${scrollBottom}`),
      ...lines,
    ]
  })

const settled = async (page: Page) => {
  let before: string[] = []
  await expect
    .poll(
      async () => {
        const now = await wholeTerminal(page)
        const isSame = now.length > 0 && now.join('\n') === before.join('\n')
        before = now
        return isSame
      },
      { intervals: [500] },
    )
    .toBe(true)
  return before
}

test('a reload restores vim, which keeps running', async ({ signedIn: page, product }) => {
  const id = await openTerminal(page, product)
  const command = { command: 'command -v vim' }
  const { exit_status } = await product.service.executions.executeSync({ params: { id }, body: command })
  test.skip(exit_status !== 0, 'vim is not on this machine')
  await type(page, 'vim -u NONE -c "set mouse=a number" notes.txt\n')
  await untilText(page, /^~\s*$/m)
  await type(page, 'ifirst line\n\tsecond “line” 漢字\x1b:echo 6*7\n')
  await untilText(page, /second “line” 漢字[\s\S]*^42\s*$/m)
  const before = await settled(page)
  await page.reload()
  await expect.poll(() => wholeTerminal(page)).toEqual(before)

  await page.locator('.xterm-screen').click()
  await type(page, ':q!\n')
  await untilText(page, /\$\s*$/)
  await type(page, 'echo "[$kept]"\n')
  await untilText(page, /^\[by-this-shell\]/m)
})

test('input typed at the first prompt arrives, and a reload attaches once', async ({ signedIn: page, product }) => {
  const { id } = await product.service.devboxes.createAndAwaitRunning({ body: { name: 'first' } })
  const sockets: string[] = []
  page.on('websocket', (socket) => sockets.push(new URL(socket.url()).pathname))
  await page.goto(`${product.url}/devboxes/${id}/terminal`, { waitUntil: 'commit' })
  const isSeen = () => /\$\s*$/.test(document.querySelector('.xterm-rows')?.textContent ?? '')
  await page.waitForFunction(isSeen)
  await page.keyboard.type(`echo ty""ped # ${'0123456789'.repeat(7)}\n`, { delay: 10 })
  await untilText(page, /^typed/m)
  expect((await screenText(page)).replaceAll('\n', '')).toContain(`echo ty""ped # ${'0123456789'.repeat(7)}`)
  expect((await screenText(page)).match(/ty""ped/g)).toHaveLength(1)

  sockets.length = 0
  await page.reload({ waitUntil: 'commit' })
  await page.waitForFunction(isSeen)
  await type(page, 'echo ag""ain\n')
  await untilText(page, /^again/m)
  expect(sockets.filter((path) => path.startsWith('/api/terminals/'))).toHaveLength(1)
})

test("a killed program's modes end at the prompt, or by a reset without prompt marks", async ({
  signedIn: page,
  product,
}) => {
  await openTerminal(page, product)
  const killed = `${String.raw`bash -c 'printf "\033[?1049h\033[?1003;1006h\033[?25lRUNNING"; kill -9 $$'`}\n`
  const movePointer = async () => {
    for (const x of [40, 80, 120]) await page.locator('.xterm-screen').hover({ position: { x, y: 60 } })
  }
  await type(page, killed)
  await untilText(page, /Killed.*\n.*\$\s*$/)
  await movePointer()
  await page.reload()
  await untilPrompt(page)
  await movePointer()
  await type(page, 'echo cl""ean\n')
  await untilText(page, /^clean$/m)
  expect(await screenText(page)).not.toContain('<35;')

  // Without prompt marks, the terminal must be reset manually.
  await type(page, 'exec bash --norc --noprofile\n')
  await untilText(page, /bash-\S+[$#]\s*$/)
  for (const way of ['menu', 'palette']) {
    await type(page, killed)
    await expect.poll(() => page.evaluate(() => window.term?.buffer.active.type)).toBe('alternate')
    await untilText(page, /Killed/)
    if (way === 'menu') {
      await page.getByRole('button', { name: 'More', exact: true }).click()
      await page.getByRole('menuitem', { name: 'Reset terminal' }).click()
    } else {
      await page.keyboard.press('Control+Shift+X')
      await openPalette(page)
      const palette = page.getByRole('dialog', { name: 'Command palette' })
      await palette.getByRole('combobox').fill('reset terminal')
      await palette.getByRole('option', { name: 'Reset terminal', exact: true }).click()
    }
    await untilText(page, /^clean$/m)
    await page.locator('.xterm-helper-textarea').focus()
    await movePointer()
    await type(page, `echo by-""${way}\n`)
    await untilText(page, new RegExp(`^by-${way}$`, 'm'))
    expect(await screenText(page)).not.toContain('<35;')
  }
})
