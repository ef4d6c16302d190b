import { join } from 'node:path'
import { chromium, type Page } from '@playwright/test'
import { findChromium } from '#e2e/chromium.ts'
import { type Product, signIn, startProduct } from '#e2e/product.ts'
import { createAxonStore } from '#lib/service/store/axons/axons.ts'
import { databaseName } from '#lib/service/store/data-dir.ts'
import { openDatabase } from '#lib/service/store/database.ts'
import { report, reportLong, reportParts, tracedTasks } from './page-tasks.ts'

const whole = 5_000
const many = 100_000

/** The axon list in a browser: time to paint, keystrokes in the filter, and scrolling over many rows. */
export const benchAxonPages = async () => {
  const product = await startProduct()
  const browser = await chromium.launch(await findChromium())
  try {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
    await page.addInitScript(observe)
    await seed(product)
    await signIn(page, product)
    console.log('axon list in Chromium at 1440 x 900; ms, median and worst, with goals')
    await benchPaint(page, product)
    await benchKeystrokes(page, `${format(whole)} rows, all loaded`)
    await benchScroll(page, product)
    await benchKeystrokes(page, `${format(many)} rows loaded`)
  } finally {
    await browser.close()
    await product.stop()
  }
}

const format = (count: number) => count.toLocaleString('en-US')

/** Direct database writes: 100,000 requests would take minutes. */
const seed = async ({ service, output }: Product) => {
  const folder = /data in (\S+)\)/.exec(output())?.[1] ?? ''
  const database = openDatabase(join(folder, databaseName))
  // No fsync per row; data loss is acceptable here.
  database.exec('PRAGMA synchronous = OFF')
  const { create } = createAxonStore(database)
  const { id: account } = await service.accounts.me()
  for (let i = 0; i < many; i++) {
    const metadata = {
      env: ['prod', 'staging', 'dev'][i % 3] as string,
      part: i < whole ? 'whole' : 'rest',
      owner: `user-${i % 300}`,
    }
    create(account, { name: `axon-${(i * 7919) % 100_003}`, metadata }, Date.now())
  }
  database.close()
}

interface Observed {
  longTasks: number[]
  mostRows: number
  sizes: { text: string; paintedAt: number }[]
  keyAt: number
}
declare global {
  interface Window {
    observed: Observed
  }
}

/** Runs in the page, before its own scripts. */
const observe = () => {
  const observed: Observed = { longTasks: [], mostRows: 0, sizes: [], keyAt: 0 }
  window.observed = observed
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) observed.longTasks.push(duration)
  }).observe({ type: 'longtask' })
  addEventListener(
    'input',
    ({ timeStamp }) => {
      observed.keyAt = timeStamp
    },
    true,
  )
  let last = ''
  new MutationObserver(() => {
    observed.mostRows = Math.max(observed.mostRows, document.querySelectorAll('tbody tr').length)
    const text = [...document.querySelectorAll('main [role=status]')]
      .map((each) => each.textContent)
      .find((each) => each?.startsWith('Showing'))
    if (!text || text === last) return
    last = text
    // Two frames later, this one has been painted.
    requestAnimationFrame(() => requestAnimationFrame((paintedAt) => observed.sizes.push({ text, paintedAt })))
  }).observe(document, { childList: true, subtree: true, characterData: true })
}

const shows = (page: Page, text: string) =>
  page.waitForFunction((wanted) => window.observed.sizes.some((size) => size.text.includes(wanted)), text, {
    timeout: 120_000,
  })

const benchPaint = async (page: Page, { url }: Product) => {
  const times: number[] = []
  for (let round = 0; round < 7; round++) {
    await page.goto(`${url}/axons?metadata[part]=whole`)
    await shows(page, `${format(whole)} of ${format(whole)}`)
    times.push(
      await page.evaluate(() => {
        const calls = performance.getEntriesByType('resource').filter(({ name }) => name.includes('/api/v1/axons?'))
        const arrived = (calls.at(-1) as PerformanceResourceTiming).responseEnd
        return (window.observed.sizes.at(-1)?.paintedAt ?? Number.NaN) - arrived
      }),
    )
  }
  // The first round warms up.
  report(`${format(whole)} rows, received to painted`, times.slice(1), '<= 150')
}

const benchKeystrokes = async (page: Page, what: string) => {
  const field = page.getByLabel('Search name, ID or key:value')
  // Every id contains a digit: after a name prefix, each key narrows.
  await field.fill('axon-')
  const times: number[] = []
  for (const key of ['1', '7', '3', 'Backspace', 'Backspace', 'Backspace']) {
    await page.evaluate(() => {
      window.observed.sizes = []
    })
    await field.press(key)
    await page.waitForFunction(() => window.observed.sizes.length > 0)
    times.push(await page.evaluate(() => (window.observed.sizes[0]?.paintedAt ?? Number.NaN) - window.observed.keyAt))
  }
  report(`filter keystroke to result, ${what}`, times, '<= 350, including 150 debounce')
}

const benchScroll = async (page: Page, { url }: Product) => {
  await page.goto(`${url}/axons?limit=${whole}`)
  await shows(page, `of ${format(many)}`)
  const accumulate = await tasksDuring(page, () => page.evaluate(toTheEnd, many))
  await shows(page, `${format(many)} of ${format(many)}`)
  reportLong(`loading ${format(many)} rows`, accumulate)
  for (const [what, step, frames] of [
    [`through ${format(many)} rows by screens`, 900, Number.POSITIVE_INFINITY],
    ['by many screens', 30_000, 300],
  ] as const) {
    await page.evaluate(toTheEnd, many)
    let long: number[] = []
    const frameTasks = await tracedTasks(page, async () => {
      long = await tasksDuring(page, () => page.evaluate(throughAll, { step, frames }))
    })
    reportLong(what, long)
    const [lasted, worked] = [frameTasks.map(({ ms }) => ms), frameTasks.map(({ cpuMs }) => cpuMs)]
    reportParts('  frames: 50, 95, 99 % and worst', lasted)
    // Without waiting for a processor.
    reportParts('  processor time', worked)
  }
  report('  maximum row nodes', [await page.evaluate(() => window.observed.mostRows)], '<= 60')
  await page.evaluate(() => window.scrollTo(0, 0))
}

const tasksDuring = async (page: Page, act: () => Promise<unknown>): Promise<number[]> => {
  await page.evaluate(() => {
    window.observed.longTasks = []
  })
  await act()
  return page.evaluate(() => window.observed.longTasks)
}

/** Runs in the page. */
const toTheEnd = async (wanted: number) => {
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve))
  const isDone = () => Number(document.querySelector('table')?.getAttribute('aria-rowcount')) === wanted + 1
  const height = () => document.querySelector('table')?.offsetHeight ?? 0
  for (let frames = 0; frames < 30_000; frames++) {
    window.scrollTo(0, document.documentElement.scrollHeight)
    await frame()
    if (isDone() && height() > wanted * 36) return
  }
  throw new Error(`The list did not grow to ${wanted} rows`)
}

/** Runs in the page. */
const throughAll = async ({ step, frames }: { step: number; frames: number }) => {
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve))
  for (let i = 0; i < frames && window.scrollY > 0; i++) {
    window.scrollBy({ top: -step, behavior: 'instant' })
    await frame()
  }
}
