import { type Browser, chromium, type Page } from '@playwright/test'
import { findChromium } from '#e2e/chromium.ts'
import { type Product, signIn, startProduct } from '#e2e/product.ts'
import { fillDevboxes } from '#lib/service/testing/devboxes.ts'
import { report } from './page-tasks.ts'

const many = 2_000
const rounds = 12

/** Time until a list of many devboxes is painted and interactive, alternating with an empty list. */
export const benchDevboxPages = async () => {
  const products = [await startProduct(), await startProduct()] as const
  const browser = await chromium.launch(await findChromium())
  try {
    const [empty, full] = products
    const { id: account } = await full.service.accounts.me()
    fillDevboxes({ dataDir: /data in (\S+)\)/.exec(full.output())?.[1] ?? '' }, many, account)
    const lists = [
      { page: await openPage(browser, empty), url: empty.url, text: 'No devboxes yet', times: emptyTimes() },
      { page: await openPage(browser, full), url: full.url, text: 'Showing', times: emptyTimes() },
    ] as const
    for (let round = 0; round < rounds; round++)
      for (const { page, url, text, times } of lists) {
        await page.goto(`${url}/devboxes`)
        await page.getByText(text).first().waitFor()
        const { painted, usable } = await page.evaluate(untilUsable)
        // The first rounds warm up.
        if (round < 2) continue
        times.painted.push(painted)
        times.usable.push(usable)
      }
    console.log('devbox list in Chromium at 1440 x 900; ms, median and worst, with goals')
    for (const [what, { times }] of [
      ['an empty list', lists[0]],
      [`${many.toLocaleString('en-US')} devboxes`, lists[1]],
    ] as const) {
      report(`${what}: request to painted`, times.painted, '')
      report(`${what}: request to interactive`, times.usable, '<= 1000')
    }
  } finally {
    await browser.close()
    for (const product of products) await product.stop()
  }
}

const emptyTimes = () => ({ painted: [] as number[], usable: [] as number[] })

const openPage = async (browser: Browser, product: Product): Promise<Page> => {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
  await page.addInitScript(observe)
  await signIn(page, product)
  return page
}

interface ListObserved {
  painted: Promise<number>
  usable: Promise<number>
}
declare global {
  interface Window {
    listObserved: ListObserved
  }
}

/** Runs in the page, before its own scripts. */
const observe = () => {
  const once = (isSo: () => boolean) =>
    new Promise<number>((resolve) => {
      const look = () => {
        // Two frames later, this one has been painted.
        if (isSo()) requestAnimationFrame(() => requestAnimationFrame(resolve))
        else requestAnimationFrame(look)
      }
      look()
    })
  const isAnswering = (element: Element | null) =>
    element !== null && Object.keys(element).some((key) => key.startsWith('__reactProps'))
  window.listObserved = {
    painted: once(() => document.querySelector('main :is(tbody tr[data-key], h2)') !== null),
    // React has hydrated the page.
    usable: once(() => isAnswering(document.querySelector('main button'))),
  }
}

/** Runs in the page. */
const untilUsable = async () => ({
  painted: await window.listObserved.painted,
  usable: await window.listObserved.usable,
})
