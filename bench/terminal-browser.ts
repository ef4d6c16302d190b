import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type BrowserContext, chromium, type Page } from '@playwright/test'
import { findChromium } from '#e2e/chromium.ts'

/** Injected into the page before its own scripts. */
interface Probe {
  /** The last non-empty line. */
  lastLine(): string
  /** Resolves when the last line matches; checked per frame. */
  until(pattern: string): Promise<number>
  onKey(key: string, withControl: boolean): Promise<number>
}

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
  probe: Probe
  pressed: Promise<number>
}

const addProbe = () => {
  const own = window as unknown as ProbedWindow
  const lastLine = () => {
    const active = own.term?.buffer.active
    if (!active) return ''
    for (let y = active.baseY + active.cursorY; y >= 0; y--) {
      const text = active.getLine(y)?.translateToString(true)
      if (text) return text
    }
    return ''
  }
  own.probe = {
    lastLine,
    until: (pattern) =>
      new Promise((done) => {
        const wanted = new RegExp(pattern)
        const look = () => {
          if (wanted.test(lastLine())) done(performance.now())
          else requestAnimationFrame(look)
        }
        look()
      }),
    onKey: (key, withControl) =>
      new Promise((done) => {
        const listen = (event: KeyboardEvent) => {
          if (event.key !== key || event.ctrlKey !== withControl) return
          window.removeEventListener('keydown', listen, true)
          done(performance.now())
        }
        window.addEventListener('keydown', listen, true)
      }),
  }
}

export interface PageTarget {
  name: string
  /** A terminal page with a new shell. */
  address(): string
  prepare?(context: BrowserContext): Promise<void>
}

const prompt = '[$#] ?$'
const capMs = 120_000
const windowMs = 3_000
const wholeMs = 1_500

/**
 * One browser per target with a profile on disk, which caches compiled scripts. A context without a profile compiles
 * everything again.
 */
export const openTarget = async (target: PageTarget): Promise<TargetPages> => {
  const profile = mkdtempSync(join(tmpdir(), 'devdeck-bench-'))
  const viewport = { width: 1280, height: 800 }
  const context = await chromium.launchPersistentContext(profile, {
    ...(await findChromium()),
    headless: true,
    viewport,
  })
  await context.addInitScript(addProbe)
  await target.prepare?.(context)
  return new TargetPages(target, context, profile)
}

class TargetPages {
  readonly target: PageTarget
  readonly #context: BrowserContext
  readonly #profile: string
  /** Main thread time until the prompt, per `open`. */
  readonly busyMs: number[] = []

  constructor(target: PageTarget, context: BrowserContext, profile: string) {
    this.target = target
    this.#context = context
    this.#profile = profile
  }

  get version(): string {
    return this.#context.browser()?.version() ?? ''
  }

  /** From navigation until a frame with a prompt was drawn. */
  async open(): Promise<number> {
    return this.#onPage(async (_page, openMs, busyMs) => {
      this.busyMs.push(busyMs)
      return openMs
    })
  }

  /** From Enter to the last line. */
  async flood(megabytes: number): Promise<number> {
    return this.#onPage(async (page) => {
      await page.keyboard.type(`head -c ${Math.round((megabytes * 3e6) / 4)} /dev/zero | base64; echo FLOOD""END`)
      // Keys faster than any typist are echoed late, so wait for the prompt after them.
      await within(page.evaluate((typed) => (window as unknown as ProbedWindow).probe.until(typed), 'FLOOD""END$'))
      return this.#timed(page, 'Enter', () => page.keyboard.press('Enter'), `FLOODEND$|${prompt}`)
    })
  }

  /** From ^C in the third second of `yes` to the prompt. */
  async interrupt(seconds: number): Promise<number> {
    return this.#onPage(async (page) => {
      await page.keyboard.type('yes 0123456789abcdefghijklmnopqrstuvwxyz')
      await page.keyboard.press('Enter')
      await delay(seconds * 1000)
      return this.#timed(page, 'c', () => page.keyboard.press('Control+c'), prompt)
    })
  }

  async close(): Promise<void> {
    await this.#context.close()
    rmSync(this.#profile, { recursive: true, force: true })
  }

  async #timed(page: Page, key: string, press: () => Promise<void>, pattern: string): Promise<number> {
    await page.evaluate(
      ([wanted, control]) => {
        const own = window as unknown as ProbedWindow
        own.pressed = own.probe.onKey(wanted as string, control as boolean)
      },
      [key, key === 'c'] as const,
    )
    await press()
    const took = page.evaluate(async (wanted) => {
      const own = window as unknown as ProbedWindow
      const pressedAt = await own.pressed
      return (await own.probe.until(wanted)) - pressedAt
    }, pattern)
    return within(took)
  }

  async #onPage<T>(run: (page: Page, openMs: number, busyMs: number) => Promise<T>): Promise<T> {
    const page = await this.#context.newPage()
    try {
      // Chromium starts a page for the address bar with each window, which takes a processor for a second.
      await delay(windowMs)
      const devtools = await this.#context.newCDPSession(page)
      await devtools.send('Performance.enable', { timeDomain: 'threadTicks' })
      await page.goto(this.target.address(), { waitUntil: 'commit' })
      const openMs = await within(
        page.evaluate((wanted) => (window as unknown as ProbedWindow).probe.until(wanted), prompt),
      )
      const { metrics } = await devtools.send('Performance.getMetrics')
      const busy = metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN
      await page.evaluate(() => (window as unknown as ProbedWindow).term?.focus())
      // The rest of the page hydrates after the prompt.
      await delay(wholeMs)
      return await run(page, openMs, busy * 1000)
    } finally {
      await page.close()
    }
  }
}

const within = async (took: Promise<number>): Promise<number> => {
  const timeout = new AbortController()
  try {
    return await Promise.race([took, delay(capMs, Number.NaN, { signal: timeout.signal })])
  } finally {
    timeout.abort()
  }
}
