import { join } from 'node:path'
import { chromium, type Page } from '@playwright/test'
import { findChromium } from '#e2e/chromium.ts'
import { type Product, signIn, startProduct } from '#e2e/product.ts'
import { databaseName } from '#lib/service/store/data-dir.ts'
import { type Database, openDatabase } from '#lib/service/store/database.ts'

interface OpenPage {
  page: Page
  product: Product
}

/** Runs a benchmark in Chromium. Each page it opens is signed in to its own product. */
export const withBrowser = async (
  measure: (open: (table?: string) => Promise<OpenPage>) => Promise<void>,
): Promise<void> => {
  const products: Product[] = []
  const browser = await chromium.launch(await findChromium())
  try {
    console.log('Chromium at 1440 x 900; ms, median and worst, with goals')
    await measure(async (table = 'main table') => {
      const product = await startProduct()
      products.push(product)
      const page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
      await page.addInitScript(observe, table)
      await signIn(page, product)
      return { page, product }
    })
  } finally {
    await browser.close()
    for (const product of products) await product.stop()
  }
}

/** Writes to the database directly: thousands of requests would take minutes. */
export const fill = async <T>(
  { service, output }: Product,
  write: (database: Database, account: string) => T,
): Promise<T> => {
  const { id } = await service.accounts.me()
  const database = openDatabase(join(/data in (\S+)\)/.exec(output())?.[1] ?? '', databaseName))
  database.exec('PRAGMA synchronous = OFF')
  try {
    return write(database, id)
  } finally {
    database.close()
  }
}

interface Observed {
  actedAt: number
  changes: { text: string; paintedAt: number }[]
}
declare global {
  interface Window {
    observed: Observed
  }
}

/** Runs in the page before its own scripts: records when the rows of the table or their count change. */
const observe = (table: string) => {
  const observed: Observed = { actedAt: 0, changes: [] }
  window.observed = observed
  for (const kind of ['click', 'change', 'input'])
    addEventListener(
      kind,
      ({ timeStamp }) => {
        observed.actedAt = timeStamp
      },
      true,
    )
  let last = ''
  new MutationObserver(() => {
    const rows = document.querySelectorAll(`${table} tbody tr`)
    if (rows.length === 0) return
    const statuses = [...document.querySelectorAll('main [role=status]')].map((each) => each.textContent ?? '')
    const text = [
      ...statuses.filter((each) => /^Showing|\bof\b/.test(each)),
      ...[...rows].map((row) => row.getAttribute('data-key') ?? row.className),
    ].join(' ')
    if (text === last) return
    last = text
    // Two frames later, this one has been painted.
    requestAnimationFrame(() => requestAnimationFrame((paintedAt) => observed.changes.push({ text, paintedAt })))
  }).observe(document, { childList: true, subtree: true, characterData: true })
}

/** Milliseconds from each action to the painted change of the table. */
export const timeChanges = async <Act>(page: Page, acts: readonly Act[], perform: (act: Act) => Promise<unknown>) => {
  const times: number[] = []
  for (const act of acts) {
    await page.evaluate(() => {
      window.observed.changes = []
    })
    await perform(act)
    await page.waitForFunction(() => window.observed.changes.length > 0)
    times.push(
      await page.evaluate(() => (window.observed.changes[0]?.paintedAt ?? Number.NaN) - window.observed.actedAt),
    )
  }
  return times
}

/** Runs in the page: scrolls the window, or the region around `selector`, by `step` per frame until it no longer moves. */
export const scrollThrough = async ({
  step,
  frames,
  selector,
}: {
  step: number
  frames: number
  selector?: string
}) => {
  const region = selector
    ? document.querySelector(selector)?.parentElement
    : (document.scrollingElement as HTMLElement | null)
  if (!region) throw new Error('Nothing to scroll')
  for (let frame = 0, before = Number.NaN; frame < frames && region.scrollTop !== before; frame++) {
    before = region.scrollTop
    region.scrollBy({ top: step, behavior: 'instant' })
    await new Promise((resolve) => requestAnimationFrame(resolve))
  }
}

export const report = (what: string, values: number[], goal = '') => {
  const sorted = values.toSorted((a, b) => a - b)
  const [median = 0, worst = 0] = [sorted[Math.floor(sorted.length / 2)], sorted.at(-1)]
  console.log(`  ${what.padEnd(52)} ${median.toFixed(0).padStart(5)} ${worst.toFixed(0).padStart(5)}   ${goal}`)
}

/** Prints the main thread's tasks while `act` runs, in CPU time: waiting for a CPU says nothing about the page. */
export const reportTasks = async (page: Page, what: string, act: () => Promise<unknown>) => {
  const sorted = (await tracedTasks(page, act)).toSorted((a, b) => a - b)
  const parts = [0.5, 0.95, 0.99, 1].map((part) => sorted[Math.ceil(sorted.length * part) - 1] ?? 0)
  const long = sorted.filter((ms) => ms > 100)
  report(`${what}: tasks over 100 ms`, long, `none (${long.length} of ${sorted.length})`)
  console.log(`    ${'50, 95, 99 % and worst'.padEnd(50)} ${parts.map((ms) => ms.toFixed(0).padStart(5)).join(' ')}`)
}

/** Shorter tasks draw no frame. */
const frameMs = 2

const tracedTasks = async (page: Page, act: () => Promise<unknown>): Promise<number[]> => {
  const session = await page.context().browser()?.newBrowserCDPSession()
  if (!session) throw new Error('The page has no browser')
  const tasks: { thread: string; cpuMs: number }[] = []
  const mainThreads = new Set<string>()
  session.on('Tracing.dataCollected', ({ value }) => {
    for (const { name, pid, tid, dur = 0, tdur = 0, args } of value as unknown as TraceEvent[]) {
      if (name === 'thread_name' && args?.name === 'CrRendererMain') mainThreads.add(`${pid} ${tid}`)
      if (name === 'ThreadControllerImpl::RunTask' && dur >= frameMs * 1000)
        tasks.push({ thread: `${pid} ${tid}`, cpuMs: tdur / 1000 })
    }
  })
  await session.send('Tracing.start', {
    transferMode: 'ReportEvents',
    traceConfig: { includedCategories: ['toplevel'], excludedCategories: ['*'] },
  })
  await act()
  const complete = new Promise((resolve) => session.once('Tracing.tracingComplete', resolve))
  await session.send('Tracing.end')
  await complete
  await session.detach()
  // The browser keeps a spare page with fewer tasks.
  const threads = Map.groupBy(
    tasks.filter(({ thread }) => mainThreads.has(thread)),
    ({ thread }) => thread,
  )
  const [busiest = []] = [...threads.values()].toSorted((a, b) => b.length - a.length)
  return busiest.map(({ cpuMs }) => cpuMs)
}

/** Times in microseconds. */
interface TraceEvent {
  name: string
  pid: number
  tid: number
  dur?: number
  tdur?: number
  args?: { name?: string }
}
