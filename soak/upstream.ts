import { chromium, expect, type Page } from '@playwright/test'
import { findChromium } from '#e2e/chromium.ts'
import { startHosted } from '#e2e/hosted/hosted.ts'
import { problemsOf, routesOf, watchErrors } from '#e2e/hosted/walk.ts'
import { signIn, startProduct } from '#e2e/product.ts'
import { upstreamActions } from './upstream-actions.ts'

/** Buttons without `aria-haspopup` that open a dialog, and change nothing by themselves. */
const opener =
  /…$|^(Create (?!devbox from (?!a preset))|Add|Edit|New (?!terminal)|Import|Export|Filters|Columns|Save view|Share|Rename|Start drill|Silence|Label|Settings|Search|Upload|Delete|Shut down|Take snapshot|Cancel (job|run)|Clone|Rerun|Replace|Duplicate)/
const layers = '[role=dialog], [role=alertdialog], [role=menu], [role=listbox]'
const maxAttempts = 6

interface UpstreamOptions {
  latencyMs: number
  /** Percentage of calls that fail. */
  errors: number
}

/**
 * Walks every page, dialog and menu of a console whose service we did not write, and performs the main actions. Returns
 * wrong words, blank pages, console errors, and actions that ended in neither a result nor a readable message.
 */
export const soakUpstream = async (
  { latencyMs, errors: percent }: UpstreamOptions,
  log: (line: string) => void,
): Promise<string[]> => {
  const hosted = await startHosted()
  const product = { ...(await startProduct({ DEVDECK_SERVICE_URL: hosted.url })), apiKey: hosted.key }
  const browser = await chromium.launch(await findChromium())
  const problems = new Set<string>()
  try {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, reducedMotion: 'reduce' })
    const page = await context.newPage()
    page.setDefaultTimeout(20_000)
    await signIn(page, product)
    hosted.evict(hosted.mainDevboxId, Date.now() + 3_600_000)
    await page.goto(`${product.url}/evictions`)
    await page.getByRole('main').getByRole('link', { name: 'main', exact: true }).first().waitFor()
    const { alerts } = await (await page.request.get(`${product.url}/api/alerts`)).json()
    const paths = [...(await routesOf(hosted, alerts[0].id)), '/nowhere']
    hosted.change({ latencyMs, errorRate: percent / 100 })

    const isOwnLine = (text: string) => text.includes('Failed to load resource')
    const consoleErrors = watchErrors(page, isOwnLine)
    page.on('response', (response) => {
      const method = response.request().method()
      if (method !== 'GET' && [405, 501].includes(response.status()))
        problems.add(`offered and then refused as unsupported: ${method} ${new URL(response.url()).pathname}`)
    })

    let openedCount = 0
    for (const path of paths) {
      const before = problems.size
      await open(page, product.url + path, path, problems)
      const opened = await walkLayers(page, product.url + path, path, path === paths[0], problems)
      openedCount += opened
      log(`${path}: ${opened} dialogs and menus, ${problems.size - before} problems`)
    }

    const actions = upstreamActions(page, product.url, hosted.mainDevboxId)
    let retries = 0
    for (const [name, act] of Object.entries(actions)) {
      const outcome = await perform(page, act, percent > 0 ? maxAttempts : 1)
      retries += outcome.messages.length
      for (const each of outcome.problems) problems.add(`${name}: ${each}`)
      log(
        `${name}: ${outcome.problems.length > 0 ? 'failed' : 'ok'}${outcome.messages.map((each) => ` · ${each}`).join('')}`,
      )
    }
    for (const each of consoleErrors) problems.add(each)
    const failed = hosted.requests.filter(({ status }) => status >= 500 || status === 429).length
    log(
      `${latencyMs} ms, ${percent} %: ${paths.length} pages, ${openedCount} dialogs and menus, ${Object.keys(actions).length} actions (${retries} tried again), ${failed} of ${hosted.requests.length} calls failed, ${problems.size} problems`,
    )
    return [...problems]
  } finally {
    await browser.close()
    await product.stop()
    hosted.close()
  }
}

const open = async (page: Page, url: string, name: string, problems: Set<string>) => {
  await page.goto(url)
  const main = page.getByRole('main')
  try {
    await expect(main.getByRole('heading').first()).toBeVisible({ timeout: 20_000 })
    await expect(main.locator('[aria-busy=true]')).toHaveCount(0, { timeout: 20_000 })
  } catch {
    problems.add(`${name} is still loading after 20 s`)
  }
  // Buttons of parts that load on use appear last.
  await page.waitForLoadState('networkidle', { timeout: 10_000 }).catch(() => undefined)
  for (const each of await problemsOf(page, name)) problems.add(each)
  for (const alert of await main.getByRole('alert').all()) {
    const text = await alert.innerText({ timeout: 1_000 }).catch(() => 'Try again')
    if (!/again|retry/i.test(text)) problems.add(`${name}: no way to try again after “${text.slice(0, 120)}”`)
  }
}

/** Opens each kind of dialog and menu once, and the dialogs behind the items of a menu. */
const walkLayers = async (page: Page, url: string, name: string, withFrame: boolean, problems: Set<string>) => {
  const scope = page.locator(withFrame ? 'body' : 'main')
  const buttons = await scope.getByRole('button').evaluateAll((all) =>
    all.map((each) => ({
      label: (each.getAttribute('aria-label') ?? each.textContent ?? '').trim(),
      opens:
        each.checkVisibility() &&
        each.getAttribute('aria-disabled') !== 'true' &&
        !(each as HTMLButtonElement).disabled,
      hasPopup: each.hasAttribute('aria-haspopup'),
    })),
  )
  const kinds = new Set<string>()
  const chosen = buttons.filter(({ label, opens, hasPopup }) => {
    // Rows repeat the same button with another name.
    const kind = label.split(' ').slice(0, 2).join(' ')
    if (!opens || !(hasPopup || opener.test(label)) || kinds.has(kind)) return false
    kinds.add(kind)
    return true
  })
  const openLayer = async (label: string): Promise<boolean> => {
    await scope.getByRole('button', { name: label, exact: true }).first().press('Enter', { timeout: 5_000 })
    return page
      .locator(layers)
      .last()
      .waitFor({ timeout: 3_000 })
      .then(
        () => true,
        () => false,
      )
  }
  const close = async () => {
    for (let i = 0; i < 3 && (await page.locator(layers).count()) > 0; i++) {
      await page.keyboard.press('Escape')
      await page
        .locator(layers)
        .last()
        .waitFor({ state: 'detached', timeout: 1_000 })
        .catch(() => undefined)
    }
    if (!page.url().startsWith(url) || (await page.locator(layers).count()) > 0) await open(page, url, name, problems)
  }
  const check = async (label: string) => {
    await page
      .locator(`:is(${layers}) [aria-busy=true]`)
      .first()
      .waitFor({ state: 'detached' })
      .catch(() => problems.add(`${name} › ${label} is still loading after 20 s`))
    for (const each of await problemsOf(page, `${name} › ${label}`)) problems.add(each)
  }
  let count = 0
  for (const { label } of chosen) {
    try {
      if (!(await openLayer(label))) {
        await open(page, url, name, problems)
        continue
      }
      count++
      await check(label)
      const items = await page
        .getByRole('menuitem')
        .evaluateAll((all) =>
          all.flatMap((each) =>
            each.hasAttribute('href') || each.getAttribute('aria-disabled') === 'true'
              ? []
              : [(each.getAttribute('aria-label') ?? each.textContent ?? '').trim()],
          ),
        )
      for (const item of items.filter((each) => opener.test(each))) {
        if ((await page.getByRole('menuitem').count()) === 0 && !(await openLayer(label))) break
        await page.getByRole('menuitem', { name: item }).first().press('Enter', { timeout: 5_000 })
        const isOpen = await page
          .locator('[role=dialog], [role=alertdialog]')
          .last()
          .waitFor({ timeout: 3_000 })
          .then(
            () => true,
            () => false,
          )
        if (isOpen) {
          count++
          await check(`${label} › ${item}`)
        }
        await close()
      }
    } catch (error) {
      // The button may have left with a list that was read again.
      if (!String(error).includes('Timeout')) throw error
    }
    await close()
  }
  return count
}

/** Performs an action until it has its result. Every failure before that must show a message. */
const perform = async (page: Page, act: (attempt: number) => Promise<void>, attempts: number) => {
  const messages: string[] = []
  for (let attempt = 1; ; attempt++) {
    const shown = new Set<string>()
    let isOver = false
    const collect = async () => {
      while (!isOver) {
        for (const text of await page
          .locator('[role=alert], [data-sonner-toast]')
          .allInnerTexts()
          .catch(() => []))
          if (text.trim()) shown.add(text.trim().replace(/\s+/g, ' '))
        await new Promise((resolve) => setTimeout(resolve, 250))
      }
    }
    const collecting = collect()
    const error = await act(attempt).then(
      () => undefined,
      (reason: unknown) => reason,
    )
    const words = await problemsOf(page, 'after it').catch(() => [])
    isOver = true
    await collecting
    if (!error) return { messages, problems: words }
    const told = [...shown].filter((text) => !/^(Alert|Evict)/.test(text))
    const reason = String(error).split('\n').slice(0, 4).join(' ').slice(0, 300)
    if (attempts === 1) return { messages, problems: [...words, `${reason} ${told.join(' / ')}`] }
    if (told.length === 0) return { messages, problems: [...words, `no message after ${reason}`] }
    messages.push(told.join(' / ').slice(0, 160))
    if (attempt >= attempts) return { messages, problems: [...words, `still failing after ${attempts} attempts`] }
  }
}
