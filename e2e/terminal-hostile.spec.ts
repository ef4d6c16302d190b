import type { Page } from '@playwright/test'
import type { Client } from '#lib/client/client.ts'
import { expect, type Product, test } from './product.ts'
import { screenText, untilFocused, untilPrompt, untilText } from './terminal-page.ts'

test.use({ permissions: ['clipboard-read', 'clipboard-write'] })

const base64 = (text: string) => Buffer.from(text).toString('base64')
const osc = (text: string) => `\x1b]${text}\x07`
const dcs = (text: string) => `\x1bP${text}\x1b\\`

/** Output that attacks the user, the page or the shell. */
const corpus: Record<string, string> = {
  'a question for the clipboard': osc('52;c;?') + osc('52;;?') + osc('52;p;?'),
  'clipboard text that is none': osc('52;c;!!!!') + osc('52;c;') + osc(`52;c;${'A'.repeat(100_000)}?`),
  'titles with sequences in them': osc('0;\u202eevil\x08\x0b title') + osc(`2;${'t'.repeat(10_000)}`) + osc('1;icon'),
  'a title to be reported': `${osc('2;rm -rf ~\r')}\x1b[21t\x1b[20t\x1b[>2t\x1b[21t`,
  'links to code and files':
    ['javascript:alert(1)', 'data:text/html,<script>alert(1)</script>', 'file:///etc/passwd', 'vbscript:x', '//x', ' ']
      .map((target) => `${osc(`8;;${target}`)}click me${osc('8;;')} `)
      .join('') + osc(`8;id=x;https://evil.example/${'a'.repeat(5000)}`),
  'questions for settings': `${dcs('$q"p')}${dcs('$qm')}${dcs('$q q')}${dcs('+q544e')}`,
  'questions for colours': [4, 5, 10, 11, 12, 17, 19].map((code) => osc(`${code};?`) + osc(`${code};1;?`)).join(''),
  'questions by the hundred': '\x1b[c\x1b[>c\x1b[=c\x1b[5n\x1b[6n\x1b[?6n\x1b[>q\x1b[?2026$p'.repeat(100),
  'questions for the window': '\x1b[11t\x1b[13t\x1b[14t\x1b[15t\x1b[16t\x1b[18t\x1b[19t\x1b[8;1;1t\x1b[9;1t\x1b[3;0;0t',
  'counts without bounds': [...'@ABCDEFGHIJKLMPSTXZ`abdefghrq'].map((final) => `\x1b[2147483647${final}`).join(''),
  'parameters without end': `\x1b[${'1;'.repeat(5000)}m\x1b[${'9'.repeat(5000)}m\x1b[38:2:${'1:'.repeat(500)}m`,
  'sequences of one byte': '\x9b31mred\x9b0m\x9d0;eight bits\x9c\x90q\x9c',
  'pictures and streams that never end': `${dcs(`q"1;1;9999;9999#0;2;100;0;0${'~'.repeat(50_000)}`)}\x1b_Ga=T,f=100;AAAA\x1b\\`,
  'text that turns around': 'abc\u202egpj.exe\u202c \u2066x\u2069 \u200b\u200d\ufeff',
  'accents without end': `a${'\u0301'.repeat(2000)}`,
  markup: '<img src=x onerror="document.title=1"><script>document.title=2</script>{{alert(1)}}',
  'keys and modes':
    '\x1b[?1049h\x1b[?1003h\x1b[?1006h\x1b[?2004l\x1b[?1004h\x1b[?47l\x1b[?1049l\x1b[?1003l\x1b[?1006l\x1b[?1004l\x1b[?2004h\x1b[20l\x1b[4l',
  'an unfinished end': '\x1b]0;never closed',
}

/** Only numeric answers may reach the shell: device attributes, status, cursor position, focus. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: so answers begin
const answers = /^(?:\x1b\[(?:[?>=]?[\d;]*[cRn]|\??\d+;\d\$y|[IO])|\x1bP>\|xterm\.js\([\d.]+\)\x1b\\|\x1b\[\?[\d;]+u)*$/

const openTerminal = async (page: Page, { url, service }: Pick<Product, 'url' | 'service'>, name: string) => {
  const { id } = await service.devboxes.createAndAwaitRunning({ body: { name } })
  await page.goto(`${url}/devboxes/${id}/terminal`)
  await untilPrompt(page)
  return id
}
const write = (service: Client, id: string, file_path: string, contents: string) =>
  service.files.write({ params: { id }, body: { file_path, contents } })
const read = async (service: Client, id: string, path: string) =>
  (await service.files.download({ params: { id }, body: { path } })).text()
const clipboard = (page: Page) => page.evaluate(() => navigator.clipboard.readText())

/** Pending evictions of other tests are counted in front. */
const title = /^(\(\d+\) )?hostile · Devdeck$/

test('hostile output reaches no clipboard, title, address or shell', async ({ signedIn: page, product }) => {
  const { service } = product
  const seen: string[] = []
  page.on('dialog', (dialog) => {
    seen.push(`dialog ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.context().on('page', (other) => seen.push(`window ${other.url()}`))
  page.on('request', (request) => {
    if (!request.url().startsWith(product.url)) seen.push(`request ${request.url()}`)
  })
  const id = await openTerminal(page, product, 'hostile')
  await page.evaluate(() => navigator.clipboard.writeText('untouched'))
  await expect(page).toHaveTitle(title)
  const address = page.url()
  // Records what the terminal sends back. A final cursor query shows that all answers have arrived; it repeats,
  // because answers are rate-limited. The page itself reports its focus, so a key typed in it ends the recording.
  await write(
    service,
    id,
    'play.sh',
    `stty raw -echo; cat "$1"; printf '\\033\\\\\\033c'
for ((column = 1; ; column++)); do
  printf '\\033[7;%dH\\033[6n' $column
  while IFS= read -r -t 1 -d R part; do
    typed+=$part"R"
    [[ $typed != *$'\\033[7;'$column"R" ]] || break 2
  done
  typed+=$part
done
printf '\\033cshown %s\\n' "$1"; IFS= read -r -d . part
stty sane; printf %s "$typed$part" >"$1.answers"; printf '\\033c'; echo "played $1"\n`,
  )
  for (const [at, [what, bytes]] of Object.entries(corpus).entries()) {
    const file = `corpus-${at}`
    await write(service, id, file, bytes)
    await page.keyboard.type(`bash play.sh ${file}\n`)
    await untilText(page, new RegExp(`^shown ${file}`, 'm'))
    await page.keyboard.type('.')
    await untilText(page, new RegExp(`^played ${file}`, 'm'))
    expect(await read(service, id, `${file}.answers`), what).toMatch(answers)
    expect(await clipboard(page), what).toBe('untouched')
    expect(await page.title(), what).toMatch(title)
  }
  expect(seen).toEqual([])
  expect(page.url()).toBe(address)
  await expect(page.getByRole('dialog')).toHaveCount(0)
  await expect(page.getByRole('region', { name: 'Clipboard request' })).toHaveCount(0)
  expect((await page.locator('main').textContent())?.replace(/[\u200c\u200d]/g, '')).not.toMatch(
    /[\u202a-\u202e\u2066-\u2069]/,
  )
  await page.keyboard.type('history | grep -vc play.sh\n')
  await untilText(page, /^0$/m)
})

test("multi-line pastes are confirmed and can't end bracketed paste", async ({ signedIn: page, product }) => {
  await openTerminal(page, product, 'pasted')
  const paste = async (text: string) => {
    await page.evaluate((text) => navigator.clipboard.writeText(text), text)
    await page.keyboard.press('Control+V')
  }
  const dialog = page.getByRole('dialog')

  await paste('a\nb')
  await expect(dialog).toContainText('Paste 2 lines?')
  // Enter immediately after a paste must not confirm it.
  await page.keyboard.press('Enter')
  await expect(dialog).toBeVisible()
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await untilFocused(page)
  await page.keyboard.type('echo now\n')
  await untilText(page, /^now$/m)
  expect(await screenText(page)).not.toMatch(/^a$|\$ a$/m)

  await paste('echo one\x1b[201~\necho two\n')
  await dialog.getByRole('button', { name: 'Paste', exact: true }).click()
  await untilText(page, /echo two/)
  expect(await screenText(page)).not.toMatch(/^(one|two)/m)
  await untilFocused(page)
  await page.keyboard.press('Control+C')
  await untilText(page, /echo two[\s\S]*\^C\n.*\$\s*$/)

  // Without bracketed paste even a single line needs confirmation.
  await page.keyboard.type('cat\n')
  await page.waitForFunction(() => window.term?.modes.bracketedPasteMode === false)
  await paste('line\n')
  await expect(dialog).toContainText('runs immediately')
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await page.keyboard.press('Control+C')
})

test('clipboard writes are confirmed, and links show their target', async ({ signedIn: page, product }) => {
  await openTerminal(page, product, 'asking')
  await page.evaluate(() => navigator.clipboard.writeText('before'))
  const request = page.getByRole('region', { name: 'Clipboard request' })
  const ask = (text: string) => page.keyboard.type(`printf '\\033]52;c;${base64(text)}\\007'\n`)

  await ask('yanked')
  await expect(request).toContainText('6 characters')
  await expect(request).toContainText('yanked')
  expect(await clipboard(page)).toBe('before')
  await request.getByRole('button', { name: 'Copy once' }).click()
  await expect.poll(() => clipboard(page)).toBe('yanked')

  await untilFocused(page)
  await ask('again')
  await request.getByRole('button', { name: 'Never' }).click()
  await untilFocused(page)
  await ask('third')
  await page.keyboard.type('echo asked\n')
  await untilText(page, /^asked$/m)
  await expect(request).toHaveCount(0)
  expect(await clipboard(page)).toBe('yanked')

  await page.keyboard.type(
    "clear; printf '\\033]8;;https://evil.example/\\033\\\\https://bank.example\\033]8;;\\033\\\\\\n'\n",
  )
  await untilText(page, /^https:\/\/bank\.example$/m)
  const screen = await page.locator('.xterm-screen').boundingBox()
  if (!screen) throw new Error('there is no screen')
  const link = { x: screen.x + 60, y: screen.y + 8 }
  await page.mouse.move(link.x, link.y + 60)
  await page.mouse.move(link.x, link.y)
  await expect(page.getByRole('tooltip')).toContainText('https://evil.example')
  await page.mouse.click(link.x, link.y)
  await expect(page.getByRole('dialog')).toHaveCount(0)
  await page.keyboard.down('Control')
  await page.mouse.click(link.x, link.y)
  await page.keyboard.up('Control')
  await expect(page.getByRole('dialog')).toContainText('https://bank.example')
  await expect(page.getByRole('dialog')).toContainText('evil.example')
  expect(page.context().pages()).toHaveLength(1)
})
