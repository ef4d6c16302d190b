import type { Page } from '@playwright/test'
import { newId } from '#lib/service/kit/ids.ts'
import { inTransaction } from '#lib/service/store/database.ts'
import { createDevboxStore } from '#lib/service/store/devboxes.ts'
import { fillAxons } from '#lib/service/testing/axons.ts'
import { fill, report, reportTasks, scrollThrough, timeChanges, withBrowser } from './browser.ts'

const whole = 5_000
const many = 100_000
const format = (count: number) => count.toLocaleString('en-US')

/** The axon list: time to paint, keystrokes in the filter, and scrolling through many rows. */
export const benchAxonList = () =>
  withBrowser(async (open) => {
    const { page, product } = await open()
    await fill(product, (database, account) =>
      fillAxons(
        database,
        account,
        Array.from({ length: many }, (_, i) => ({
          id: newId('axn'),
          name: `axon-${(i * 7919) % 100_003}`,
          created_at_ms: Date.now(),
          deleted_at_ms: null,
          metadata: {
            env: ['prod', 'staging', 'dev'][i % 3] ?? '',
            part: i < whole ? 'whole' : 'rest',
            owner: `user-${i % 300}`,
          },
        })),
      ),
    )
    const times: number[] = []
    for (let round = 0; round < 7; round++) {
      await page.goto(`${product.url}/axons?metadata[part]=whole`)
      await shows(page, `${format(whole)} of ${format(whole)}`)
      times.push(await page.evaluate(sinceReceived))
    }
    // The first round warms up.
    report(`${format(whole)} axons, received to painted`, times.slice(1), '<= 150')
    await benchKeystrokes(page, `${format(whole)} rows`)
    await page.goto(`${product.url}/axons?limit=${whole}`)
    await shows(page, `of ${format(many)}`)
    await reportTasks(page, `loading ${format(many)} axons`, () => page.evaluate(toTheEnd, many))
    for (const [what, step, frames] of [
      ['scrolling by screens', -900, 10_000],
      ['scrolling by many screens', -30_000, 300],
    ] as const) {
      await page.evaluate(toTheEnd, many)
      await reportTasks(page, what, () => page.evaluate(scrollThrough, { step, frames }))
    }
    await page.evaluate(() => window.scrollTo(0, 0))
    await benchKeystrokes(page, `${format(many)} rows`)
  })

const shows = (page: Page, count: string) =>
  page.waitForFunction((wanted) => window.observed.changes.some(({ text }) => text.includes(wanted)), count, {
    timeout: 120_000,
  })

/** Runs in the page. */
const sinceReceived = () => {
  const calls = performance.getEntriesByType('resource').filter(({ name }) => name.includes('/api/v1/axons?'))
  const received = (calls.at(-1) as PerformanceResourceTiming).responseEnd
  return (window.observed.changes.at(-1)?.paintedAt ?? Number.NaN) - received
}

const benchKeystrokes = async (page: Page, what: string) => {
  const field = page.getByLabel('Search name, ID or key:value')
  // Every ID contains a digit: after a name prefix, each key narrows.
  await field.fill('axon-')
  const keys = ['1', '7', '3', 'Backspace', 'Backspace', 'Backspace']
  const times = await timeChanges(page, keys, (key) => field.press(key))
  report(`filter keystroke to result, ${what}`, times, '<= 350, including 150 debounce')
}

/** Runs in the page: scrolls down until all rows are loaded. */
const toTheEnd = async (wanted: number) => {
  const table = () => document.querySelector('table')
  for (let frames = 0; frames < 30_000; frames++) {
    window.scrollTo(0, document.documentElement.scrollHeight)
    await new Promise((resolve) => requestAnimationFrame(resolve))
    const rows = Number(table()?.getAttribute('aria-rowcount')) - 1
    if (rows === wanted && (table()?.offsetHeight ?? 0) > wanted * 36) return
  }
  throw new Error(`The list did not grow to ${wanted} rows`)
}

const devboxes = 2_000

/** Time until a list of many devboxes is painted and interactive, alternating with an empty list. */
export const benchDevboxList = () =>
  withBrowser(async (open) => {
    const [empty, full] = [await open(), await open()]
    await fill(full.product, (database, account) => {
      const store = createDevboxStore(database)
      inTransaction(database, () => {
        for (let number = 0; number < devboxes; number++)
          store.insert({
            id: newId('dbx'),
            account,
            name: `devbox ${number}`,
            status: 'suspended',
            create_time_ms: Date.now(),
            metadata: {},
            launch_parameters: {},
            environment_variables: {},
            secrets: {},
            entrypoint: null,
            snapshot_id: null,
            blueprint_id: null,
            image: null,
            engine: 'local',
            tunnel: null,
            initiator_type: 'api',
            initiator_id: null,
          })
      })
    })
    const lists = [
      { ...empty, what: 'no devboxes', text: 'No devboxes yet', painted: [] as number[], usable: [] as number[] },
      { ...full, what: `${format(devboxes)} devboxes`, text: 'Showing', painted: [], usable: [] },
    ]
    for (const { page } of lists) await page.addInitScript(observeLoad)
    for (let round = 0; round < 12; round++)
      for (const { page, product, text, painted, usable } of lists) {
        await page.goto(`${product.url}/devboxes`)
        await page.getByText(text).first().waitFor()
        const times = await page.evaluate(async () => [await window.load.painted, await window.load.usable] as const)
        // The first rounds warm up.
        if (round < 2) continue
        painted.push(times[0])
        usable.push(times[1])
      }
    for (const { what, painted, usable } of lists) {
      report(`${what}: request to painted`, painted)
      report(`${what}: request to interactive`, usable, '<= 1000')
    }
  })

declare global {
  interface Window {
    load: { painted: Promise<number>; usable: Promise<number> }
  }
}

/** Runs in the page before its own scripts. */
const observeLoad = () => {
  const once = (isSo: () => boolean) =>
    new Promise<number>((resolve) => {
      const check = () => {
        // Two frames later, this one has been painted.
        if (isSo()) requestAnimationFrame(() => requestAnimationFrame(resolve))
        else requestAnimationFrame(check)
      }
      check()
    })
  window.load = {
    painted: once(() => document.querySelector('main :is(tbody tr[data-key], h2)') !== null),
    // React has hydrated the page.
    usable: once(() =>
      Object.keys(document.querySelector('main button') ?? {}).some((key) => key.startsWith('__reactProps')),
    ),
  }
}
