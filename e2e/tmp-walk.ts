import { chromium } from '@playwright/test'
import { findChromium } from './chromium.ts'
import { signIn } from './product.ts'
import { readFileSync } from 'node:fs'
const h = JSON.parse(readFileSync('/tmp/foreign-hosted.json', 'utf8'))
const url = 'http://127.0.0.1:3908'
const browser = await chromium.launch(await findChromium())
const page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
page.setDefaultTimeout(60000)
const errors: string[] = []
page.on('console', (m) => m.type() === 'error' && errors.push(m.text().slice(0, 300) + ' ' + m.location().url))
page.on('pageerror', (e) => errors.push('PAGEERROR ' + e.stack?.slice(0, 400)))
await signIn(page, { url, apiKey: h.key })
const bad = /\b(?:undefined|null|NaN|Invalid Date|0 of 0)\b|\[object \w+\]/
const openers = /^(?:Actions|Add|Assign|Cancel|Change|Columns|Copy as|Create|Delete|Edit|Enable|Export|Filters|Hand over|Label|Metadata|More|New|Publish|Rename|Rerun|Send|Set up|Share|Shut down|Silence|Snapshot|Suspend|Take|Upload|View)\b/i
const check = async (where: string) => { for (const t of await page.locator('main, [role=dialog], [role=menu]').allInnerTexts()) { const f = bad.exec(t); if (f) console.log('  WRONG', where, JSON.stringify(t.slice(Math.max(0, f.index - 50), f.index + 40))) } }
for (const path of process.argv.slice(2)) {
  console.log('==', path)
  const p = path.replace('MAIN', encodeURIComponent(h.main))
  await page.goto(url + p); await page.getByRole('main').getByRole('heading').first().waitFor().catch(() => console.log('  no heading')); await page.waitForTimeout(2000)
  await check(path)
  await page.screenshot({ path: `/tmp/foreign-shots/d${path.replace(/\W+/g, '_')}.png` })
  if (process.env.OPEN) {
    const buttons = page.getByRole('main').locator('button:visible:not([disabled]):not([aria-disabled=true])')
    const names = await buttons.evaluateAll((all) => all.map((e) => [e.getAttribute('aria-label') ?? e.textContent?.trim() ?? '', e.hasAttribute('aria-haspopup')]))
    const seen = new Set()
    for (const [i, [name, pop]] of names.entries()) {
      if (seen.has(name) || !(pop || openers.test(String(name)))) continue
      seen.add(name)
      await buttons.nth(i).click({ timeout: 5000 }).catch(() => console.log('  CLICK', name))
      const popup = page.locator('[role=dialog], [role=menu], [role=alertdialog], [role=listbox]').first()
      await popup.waitFor({ timeout: 3000 }).catch(() => console.log('  NOPOP', name))
      await check(`${path} ${name}`)
      if (/Create devbox/.test(String(name))) await page.screenshot({ path: `/tmp/foreign-shots/dialog_${String(name).replace(/\W+/g, '_')}.png` })
      for (let left = 3; left > 0 && (await popup.isVisible()); left--) { await page.keyboard.press('Escape'); await page.waitForTimeout(200) }
      if ((await buttons.count()) !== names.length) { await page.goto(url + p); await page.waitForTimeout(2500) }
    }
  }
  for (const e of new Set(errors)) console.log('  ERR', e)
  errors.length = 0
}
await browser.close(); process.exit(0)
