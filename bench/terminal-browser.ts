import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { chromium, type Page } from '@playwright/test'
import { findChromium } from '#e2e/chromium.ts'
import { type Product, signIn } from '#e2e/product.ts'

interface ProbedWindow {
  term?: {
    focus(): void
    buffer: {
      active: {
        baseY: number
        cursorY: number
        getLine(y: number): { translateToString(trim: boolean): string } | undefined
      }
    }
  }
  /** Resolves when the last line matches; checked per frame. */
  until(pattern: string): Promise<number>
  pressedAt: number
}

/** Runs in the page before its own scripts. */
const addProbe = () => {
  const own = window as unknown as ProbedWindow
  localStorage.setItem('devdeck:terminal', '{"renderer":"dom"}')
  addEventListener(
    'keydown',
    () => {
      own.pressedAt = performance.now()
    },
    true,
  )
  const lastLine = () => {
    const active = own.term?.buffer.active
    if (!active) return ''
    for (let y = active.baseY + active.cursorY; y >= 0; y--) {
      const text = active.getLine(y)?.translateToString(true)
      if (text) return text
    }
    return ''
  }
  own.until = (pattern) =>
    new Promise((done) => {
      const wanted = new RegExp(pattern)
      const check = () => {
        if (wanted.test(lastLine())) done(performance.now())
        else requestAnimationFrame(check)
      }
      check()
    })
}

const prompt = '[$#] ?$'
/** Chromium starts a page for the address bar with each window, which takes a processor for a second. */
const windowMs = 3_000
/** The rest of the page hydrates after the prompt. */
const hydrateMs = 1_500

/** Runs in the page: the longest time from any of 20 key events to the next frame. */
const observeKeys = () =>
  new Promise<number>((resolve) => {
    let left = 20
    let slowestMs = 0
    const onKey = ({ timeStamp }: KeyboardEvent) =>
      requestAnimationFrame(() =>
        setTimeout(() => {
          slowestMs = Math.max(slowestMs, performance.now() - timeStamp)
          if (--left === 0) resolve(slowestMs)
        }),
      )
    for (const type of ['keydown', 'keyup'] as const) window.addEventListener(type, onKey, { capture: true })
  })

/** Terminal pages in a browser with a profile on disk, which caches compiled scripts as a user's does. */
export const openTerminalPages = async (product: Product, devboxIds: readonly string[]) => {
  const profile = mkdtempSync(join(tmpdir(), 'devdeck-bench-'))
  const viewport = { width: 1280, height: 800 }
  const context = await chromium.launchPersistentContext(profile, {
    ...(await findChromium()),
    headless: true,
    viewport,
  })
  await context.addInitScript(addProbe)
  const [first] = context.pages()
  if (first) await signIn(first, product)
  let opened = 0

  const onPage = async <T>(run: (page: Page, openMs: number, busyMs: number) => Promise<T>): Promise<T> => {
    const page = await context.newPage()
    page.setDefaultTimeout(120_000)
    try {
      await delay(windowMs)
      const devtools = await context.newCDPSession(page)
      await devtools.send('Performance.enable', { timeDomain: 'threadTicks' })
      // The number of shells per devbox is limited.
      const devboxId = devboxIds[opened % devboxIds.length]
      await page.goto(`${product.url}/devboxes/${devboxId}/terminal?t=page-${++opened}`, { waitUntil: 'commit' })
      const openMs = await until(page, prompt)
      const { metrics } = await devtools.send('Performance.getMetrics')
      const busy = metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN
      await page.evaluate(() => (window as unknown as ProbedWindow).term?.focus())
      await delay(hydrateMs)
      return await run(page, openMs, busy * 1000)
    } finally {
      await page.close()
    }
  }
  const until = (page: Page, pattern: string) =>
    page.evaluate((wanted) => (window as unknown as ProbedWindow).until(wanted), pattern)
  /** From the last key to the line. */
  const sinceKey = (page: Page, pattern: string) =>
    page.evaluate(async (wanted) => {
      const own = window as unknown as ProbedWindow
      return (await own.until(wanted)) - own.pressedAt
    }, pattern)

  return {
    /** From navigation until a frame with a prompt was drawn, and the main thread's time until then. */
    open: () => onPage(async (_page, openMs, busyMs) => ({ openMs, busyMs })),
    /** From Enter to the last line. */
    flood: (megabytes: number) =>
      onPage(async (page) => {
        await page.keyboard.type(`head -c ${Math.round((megabytes * 3e6) / 4)} /dev/zero | base64; echo FLOOD""END`)
        // Keys faster than any typist are echoed late.
        await until(page, 'FLOOD""END$')
        await page.keyboard.press('Enter')
        return sinceKey(page, `FLOODEND$|${prompt}`)
      }),
    /** From Ctrl-C in `yes` to the prompt, and the slowest of some keys pressed before to its next frame. */
    interrupt: (seconds: number) =>
      onPage(async (page) => {
        await page.keyboard.type('yes 0123456789abcdefghijklmnopqrstuvwxyz')
        await page.keyboard.press('Enter')
        await delay(seconds * 1000)
        const slowest = page.evaluate(observeKeys)
        for (let i = 0; i < 10; i++) await page.keyboard.press('Shift', { delay: 50 })
        const keyMs = await slowest
        await page.keyboard.press('Control+c')
        return { endMs: await sinceKey(page, prompt), keyMs }
      }),
    close: async () => {
      await context.close()
      rmSync(profile, { recursive: true, force: true })
    },
  }
}
