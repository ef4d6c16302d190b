import { text } from 'node:stream/consumers'
import { chromium, type Page } from '@playwright/test'
import { findChromium } from '#e2e/chromium.ts'
import { isLive, signIn, startProduct } from '#e2e/product.ts'
import { startScriptedService } from '#e2e/scripted-service.ts'
import { startServer } from '#lib/gateway/testing.ts'
import { quantileOf } from '../bench/compare.ts'

const count = 5_000
const apiKey = 'ak_storm'
const callsPerSecond = 20
const paths = ['/evictions', '/evictions', '/devboxes']

/**
 * Announces 5,000 evictions at once to a console with three pages and a webhook, then acknowledges all of them on one
 * page, while a list is requested at a constant rate.
 */
export const soakStorm = async () => {
  const service = await startScriptedService(
    Array.from({ length: count }, (_, n) => ({ id: `dbx_${n}`, name: `worker-${n}`, node: 'host-7' })),
  )
  const messages: { event: string; alerts: unknown[] }[] = []
  const receiver = await startServer(async (request, response) => {
    messages.push(JSON.parse(await text(request)))
    response.end()
  })
  const product = await startProduct({
    DEVDECK_SERVICE_URL: service.url,
    DEVDECK_WEBHOOK_URL: receiver.url,
    DEVDECK_WEBHOOK_API_KEY: apiKey,
  })
  let calls: ReturnType<typeof startCalls> | undefined
  const browser = await chromium.launch(await findChromium())
  try {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
    await context.addInitScript(observe)
    // The first acknowledgment asks for a name.
    await context.addCookies([{ name: 'devdeck-name', value: 'Ada', url: product.url }])
    const pages = await Promise.all(paths.map(() => context.newPage()))
    const [first] = pages
    if (!first) throw new Error('No page was opened')
    await signIn(first, { url: product.url, apiKey })
    for (const [index, page] of pages.entries()) {
      await page.goto(`${product.url}${paths[index]}`)
      await isLive(page)
    }
    await first.bringToFront()

    calls = startCalls(`${product.url}/api/v1/devboxes?limit=20`, await cookieOf(first))
    const raised = await timed(pages, () => service.evictAll(Date.now() + 15 * 60_000), '5,?000 devboxes')
    const sent = () => messages.filter(({ event }) => event === 'alert.raised')
    await until(() => sent().reduce((sum, { alerts }) => sum + alerts.length, 0) >= count)
    const raisedCalls = calls.take()
    const acknowledge = first
      .getByRole('region', { name: 'Pending evictions' })
      .getByRole('button', { name: /^Acknowledge/ })
    const acknowledged = await timed(pages, () => acknowledge.click(), '5,?000 acknowledged')
    const acknowledgedCalls = calls.take()
    const seen = await Promise.all(pages.map((page) => page.evaluate(() => window.storm)))
    const toasts = seen.flatMap(({ toasts }) => toasts)
    const lines = [
      `${count} evictions on three pages: ${times(raised)}; acknowledged: ${times(acknowledged)}`,
      `other calls: p99 ${raisedCalls.p99} ms of ${raisedCalls.count} while raised, ${acknowledgedCalls.p99} ms of ${acknowledgedCalls.count} while acknowledged`,
      `longest tasks: ${seen.map(({ longestTaskMs }) => `${longestTaskMs.toFixed(0)} ms`).join(', ')}`,
      `toasts: ${JSON.stringify(toasts)}`,
      `messages: ${messages.map(({ event, alerts }) => `${event} of ${alerts.length}`).join(', ')}`,
    ]
    const problems = [
      ...[...raised, ...acknowledged].filter((ms) => ms > 2_000).map((ms) => `a page took ${ms.toFixed(0)} ms`),
      ...[raisedCalls.p99, acknowledgedCalls.p99].filter((ms) => ms > 250).map((ms) => `p99 of other calls: ${ms} ms`),
      ...(toasts.length === 1 ? [] : [`${toasts.length} toasts`]),
      ...(sent().length === 1 ? [] : [`${sent().length} messages of raised alerts`]),
    ]
    return { lines, problems }
  } finally {
    await calls?.stop()
    await browser.close()
    await product.stop()
    receiver.close()
    service.close()
  }
}

const times = (values: readonly number[]) => values.map((ms) => `${ms.toFixed(0)} ms`).join(', ')

const cookieOf = async (page: Page) =>
  (await page.context().cookies()).map(({ name, value }) => `${name}=${value}`).join('; ')

/** Time until each page matches `pattern`, from just before `act`. */
const timed = async (pages: readonly Page[], act: () => unknown, pattern: string): Promise<number[]> => {
  const startMs = performance.now()
  const shown = pages.map(async (page) => {
    await page.waitForFunction((wanted) => new RegExp(wanted).test(document.body.textContent ?? ''), pattern, {
      timeout: 60_000,
    })
    return performance.now() - startMs
  })
  await act()
  return Promise.all(shown)
}

const until = async (isTrue: () => boolean) => {
  while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 20))
}

/** Requests `url` at a constant rate, however long responses take. */
const startCalls = (url: string, cookie: string) => {
  let times: number[] = []
  const pending = new Set<Promise<void>>()
  const call = async () => {
    const startMs = performance.now()
    const response = await fetch(url, { headers: { cookie } })
    await response.arrayBuffer()
    if (!response.ok) throw new Error(`The list responded with ${response.status}`)
    times.push(performance.now() - startMs)
  }
  const timer = setInterval(() => {
    const started = call().finally(() => pending.delete(started))
    pending.add(started)
  }, 1000 / callsPerSecond)
  return {
    take: () => {
      const taken = times
      times = []
      return { count: taken.length, p99: Math.round(quantileOf(taken, 0.99)) }
    },
    stop: async () => {
      clearInterval(timer)
      await Promise.all(pending)
    },
  }
}

declare global {
  interface Window {
    storm: { toasts: string[]; longestTaskMs: number }
  }
}

/** Runs in the page before its own scripts. */
const observe = () => {
  const storm = { toasts: [] as string[], longestTaskMs: 0 }
  window.storm = storm
  const known = new Set<Element>()
  new MutationObserver(() => {
    for (const toast of document.querySelectorAll('[data-sonner-toast]'))
      if (!known.has(toast) && toast.textContent?.includes('evicted')) {
        known.add(toast)
        storm.toasts.push(toast.textContent ?? '')
      }
  }).observe(document, { childList: true, subtree: true })
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) storm.longestTaskMs = Math.max(storm.longestTaskMs, duration)
  }).observe({ type: 'longtask' })
}
