import { chromium } from '@playwright/test'
import { findChromium } from './chromium.ts'
import { startHosted } from './hosted/hosted.ts'
import { signIn, startProduct } from './product.ts'
import { globSync, writeFileSync, mkdirSync } from 'node:fs'
const hosted = await startHosted(process.env.FAULTS ? JSON.parse(process.env.FAULTS) : {})
const product = { ...(await startProduct({ DEVDECK_SERVICE_URL: hosted.url })), apiKey: hosted.key }
console.log(product.url, hosted.url)
const browser = await chromium.launch(await findChromium())
const page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
const errors: string[] = []
page.on('console', (m) => m.type() === 'error' && errors.push(m.text() + ' ' + m.location().url))
page.on('pageerror', (e) => errors.push('PAGEERROR ' + e.stack))
await signIn(page, product)
mkdirSync('/tmp/foreign-shots', { recursive: true })
const first = async (path: string, name: string, wanted = (_: any) => true) => ((await (await fetch(`${hosted.url}/v1/${path}`, { headers: { authorization: `Bearer ${hosted.key}` } })).json()) as any)[name].find(wanted)?.id
const ids: Record<string, string> = { devboxes: hosted.mainDevboxId, axons: await first('axons', 'axons', (r) => r.name === 'orders 10'), blueprints: await first('blueprints', 'blueprints'), 'benchmark-jobs': await first('benchmark_jobs', 'jobs', (r) => r.name === 'after'), 'benchmark-runs': await first('benchmark_runs', 'runs', (r) => r.state === 'completed') ?? await first('benchmark_jobs','jobs',(r)=>r.name==='after'), 'benchmarks/scenarios': await first('scenarios', 'scenarios') }
const only = process.argv[2]
const routes = globSync('**/page.tsx', { cwd: 'app/(console)' }).map((f) => `/${f.replace(/\/?page\.tsx$/, '')}`).filter((p) => !p.includes('[...')).map((p) => { const [c = '', rest] = p.slice(1).split('/[id]'); return rest === undefined ? p : `/${c}/${encodeURIComponent(ids[c] ?? 'missing')}${rest}` }).sort()
for (const path of routes) {
  if (only && !new RegExp(only).test(path)) continue
  errors.length = 0
  const before = hosted.requests.length
  const t = Date.now()
  await page.goto(product.url + path).catch((e) => errors.push(String(e)))
  await page.waitForTimeout(Number(process.env.WAIT ?? 2500))
  const text = await page.locator('main').innerText().catch(() => 'NO MAIN')
  const bad = /\b(undefined|null|NaN|Invalid Date|0 of 0)\b|\[object \w+\]/.exec(text)
  const failed = hosted.requests.slice(before).filter((r) => r.status >= 400).map((r) => `${r.status} ${r.method} ${r.path}`)
  console.log(`== ${path} (${hosted.requests.length - before} calls)`)
  if (bad) console.log('  WRONG', JSON.stringify(text.slice(Math.max(0, bad.index - 60), bad.index + 40)))
  if (text.length < 30) console.log('  BLANK', text)
  for (const e of new Set(errors)) console.log('  ERR', e.slice(0, 300))
  for (const f of new Set(failed)) console.log('  CALL', f)
  const name = path.replace(/\W+/g, '_').slice(0, 50)
  await page.screenshot({ path: `/tmp/foreign-shots/${name}.png` })
  writeFileSync(`/tmp/foreign-shots/${name}.txt`, text)
}
await browser.close(); await product.stop(); hosted.close(); process.exit(0)
