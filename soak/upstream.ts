import { chromium, type Locator, type Page } from '@playwright/test'
import { findChromium } from '#e2e/chromium.ts'
import { startHosted } from '#e2e/hosted/hosted.ts'
import { type Hosted, problemsOf, routesOf, watchErrors } from '#e2e/hosted/walk.ts'
import { signIn, startProduct } from '#e2e/product.ts'

interface Faults {
  latencyMs: number
  errorRate: number
}

/** Attempts per action when calls fail; a person would not try more often either. */
const maxAttempts = 8
const stepMs = 15_000

/**
 * Walks every page, what its buttons open, and the main actions in Chromium against the independent hosted service.
 * Returns blank pages, wrong words, errors of the browser, failures without a message, and actions that never succeed.
 */
export const walkUpstream = async (faults: Faults, log: (line: string) => void): Promise<string[]> => {
  const hosted = await startHosted()
  const product = { ...(await startProduct({ DEVDECK_SERVICE_URL: hosted.url })), apiKey: hosted.key }
  const browser = await chromium.launch(await findChromium())
  const problems: string[] = []
  try {
    const page = await browser.newPage({ reducedMotion: 'reduce', viewport: { width: 1440, height: 900 } })
    page.setDefaultTimeout(stepMs)
    // The browser's own line about a failed call says nothing that the page doesn't.
    const errors = watchErrors(page, (text) => faults.errorRate > 0 && /^Failed to load resource/.test(text))
    await signIn(page, product)
    hosted.evict(hosted.mainDevboxId, Date.now() + 3_600_000)
    await page.goto(`${product.url}/evictions`)
    await page.getByRole('main').getByRole('link', { name: 'main', exact: true }).first().waitFor()
    const { alerts } = await (await page.request.get(`${product.url}/api/alerts`)).json()
    const paths = await routesOf(hosted, alerts[0].id)
    hosted.change(faults)

    let opened = 0
    for (const path of paths) {
      await visit(page, product.url + path)
      problems.push(...(await problemsOf(page, path)))
      opened += await walkOpened(page, product.url + path, path, problems)
    }
    const actions = actionsOf(product.url, hosted)
    let attempts = 0
    for (const [name, act] of actions) {
      const needed = await attempt(page, name, act, faults.errorRate, problems)
      log(`${name}: ${needed === 1 ? '1 attempt' : `${needed} attempts`}`)
      attempts += needed
    }
    problems.push(...errors)
    for (const problem of problems) log(problem)
    log(
      `${faults.latencyMs} ms, ${faults.errorRate * 100} %: ${paths.length} pages, ${opened} dialogs and menus, ` +
        `${actions.length} actions in ${attempts} attempts, ${hosted.requests.length} calls, ${problems.length} problems`,
    )
    return problems
  } finally {
    await browser.close()
    await product.stop()
    hosted.close()
  }
}

/** Opens a page and waits until it shows its content or what went wrong. */
const visit = async (page: Page, url: string) => {
  await page.goto(url)
  const main = page.getByRole('main')
  await main.getByRole('heading').first().waitFor()
  await main.locator('[aria-busy=true]').first().waitFor({ state: 'detached' })
  // A failed first load offers another try.
  const retry = main.getByRole('button', { name: /^(Try again|Retry)$/ }).first()
  for (let tries = 0; tries < 5 && (await retry.isVisible()); tries++) {
    await retry.click()
    await page.waitForLoadState('networkidle').catch(() => undefined)
  }
}

/** Opens each dialog and menu of a page once. */
const walkOpened = async (page: Page, url: string, path: string, problems: string[]): Promise<number> => {
  const openers = page.locator('main').locator('button[aria-haspopup], button[aria-expanded=false]')
  const count = Math.min(await openers.count(), 10)
  let opened = 0
  for (let at = 0; at < count; at++) {
    const opener = openers.nth(at)
    if (!(await opener.isVisible()) || (await opener.getAttribute('aria-disabled')) === 'true') continue
    await opener.press('Enter')
    const layer = page.locator('[role=dialog], [role=alertdialog], [role=menu]').last()
    const isOpen = await layer.waitFor({ timeout: 2_000 }).then(
      () => true,
      () => false,
    )
    if (isOpen) {
      problems.push(...(await problemsOf(page, `${path} › ${await opener.textContent().catch(() => at)}`)))
      opened++
    }
    await visit(page, url)
  }
  return opened
}

type Act = (page: Page) => Promise<void>

/** Tries an action until it succeeds. Each failure must be one that the page explains. Returns the number of attempts. */
const attempt = async (page: Page, name: string, act: Act, errorRate: number, problems: string[]): Promise<number> => {
  for (let attempts = 1; ; attempts++) {
    try {
      await act(page)
      problems.push(...(await problemsOf(page, name)))
      return attempts
    } catch (error) {
      const said = await page.locator('[role=alert], [data-sonner-toast], [role=status]').allInnerTexts()
      const wrong = await problemsOf(page, name)
      problems.push(...wrong)
      const isExplained = said.some((text) => /couldn|could not|failed|unavailable|try again|error|\d{3}/i.test(text))
      if (errorRate === 0 || !isExplained || attempts === maxAttempts) {
        problems.push(
          `${name}: ${String(error).split('\n').slice(0, 4).join(' ')} (said: ${said.join(' | ').slice(0, 300)})`,
        )
        return attempts
      }
    }
  }
}

const actionsOf = (url: string, hosted: Hosted): [name: string, act: Act][] => {
  const devbox = `${url}/devboxes/${encodeURIComponent(hosted.mainDevboxId)}`
  const dialog = (page: Page) => page.getByRole('dialog').or(page.getByRole('alertdialog')).last()
  const button = (within: Page | Locator, name: string | RegExp) => within.getByRole('button', { name }).first()
  const box = (within: Page | Locator, name: string | RegExp) => within.getByRole('textbox', { name }).first()
  const text = (page: Page, wanted: string | RegExp) => page.getByRole('main').getByText(wanted).first().waitFor()
  let number = 0
  const unique = (word: string) => `${word}-${++number}`
  /** Opens a list, fills in its create dialog, and waits for the new row. */
  const create =
    (path: string, label: string, fields: (form: Locator, name: string) => Promise<void>): Act =>
    async (page) => {
      const name = unique('walked')
      await visit(page, url + path)
      await button(page, label).click()
      await fields(dialog(page), name)
      await button(dialog(page), label).click()
      await text(page, name)
    }
  return [
    [
      'create a devbox and use its terminal',
      async (page) => {
        await visit(page, `${url}/devboxes`)
        await button(page, 'Create devbox').click()
        await box(dialog(page), /^Name/).fill(unique('walked'))
        await button(dialog(page), 'Create devbox').click()
        await page.waitForURL(/\/devboxes\/[^/]+\/terminal/)
        await page.locator('.xterm-helper-textarea:focus').waitFor({ state: 'attached' })
        await page.keyboard.type('echo walked-$((40 + 2))\n')
        await page.locator('.xterm-rows').getByText('walked-42').first().waitFor()
      },
    ],
    [
      'run a command',
      async (page) => {
        await visit(page, `${devbox}/commands`)
        const answer = unique('answer')
        await box(page, 'Command').fill(`echo ${answer.toUpperCase()} | tr A-Z a-z`)
        await button(page, 'Run command').click()
        await text(page, answer)
      },
    ],
    [
      'upload, edit and read a file',
      async (page) => {
        await visit(page, `${devbox}/files`)
        const file = `${unique('notes')}.txt`
        const chosen = page.waitForEvent('filechooser')
        await button(page, 'Upload files').click()
        await (await chosen).setFiles({ name: file, mimeType: 'text/plain', buffer: Buffer.from('uploaded\n') })
        await dialog(page).getByRole('textbox').press('Enter')
        await page.getByRole('row').filter({ hasText: file }).getByRole('link').click()
        await page
          .getByRole('region', { name: `Text of ${file}` })
          .getByText('uploaded')
          .waitFor()
        await button(page, 'Edit file').click()
        await box(page, `Text of ${file}`).fill('edited\n')
        await box(page, `Text of ${file}`).press('Control+s')
        await page
          .getByRole('region', { name: `Text of ${file}` })
          .getByText('edited')
          .waitFor()
      },
    ],
    [
      'take a snapshot',
      async (page) => {
        await visit(page, `${devbox}/snapshots`)
        const name = unique('disk')
        await button(page, 'Take snapshot').click()
        await box(dialog(page), /^Name/).fill(name)
        await button(dialog(page), 'Take snapshot').click()
        await page.getByRole('row', { name: new RegExp(name) }).waitFor()
      },
    ],
    [
      'keep a devbox alive',
      async (page) => {
        await visit(page, devbox)
        await button(page.getByRole('main'), 'Keep alive').click()
        await page
          .getByText(/^(Kept alive|Keep-alive|Time extended)/)
          .first()
          .waitFor()
      },
    ],
    [
      'suspend and resume',
      async (page) => {
        await visit(page, devbox)
        if (await button(page, 'Suspend devbox').isVisible()) {
          await button(page, 'Suspend devbox').click()
          await button(dialog(page), 'Suspend devbox').click()
        }
        await button(page, 'Resume devbox').click()
        await button(page, 'Suspend devbox').waitFor()
      },
    ],
    [
      'create, rename and delete an axon',
      async (page) => {
        const name = unique('orders')
        await visit(page, `${url}/axons`)
        await button(page, 'Create axon').click()
        await box(dialog(page), /^Name/).fill(name)
        await button(dialog(page), 'Create axon').click()
        await page.getByRole('link', { name, exact: true }).click()
        await page.getByRole('link', { name: 'Events', exact: true }).click()
        await button(page, 'Publish event').click()
        await box(page, /^Type$/).fill('note.taken')
        await page.keyboard.press('Enter')
        await text(page, 'note.taken')
        await button(page, 'Delete axon').click()
        await dialog(page)
          .getByRole('textbox')
          .fill(name)
          .catch(() => undefined)
        await button(dialog(page), /^Delete/).click()
        await dialog(page).waitFor({ state: 'detached' })
      },
    ],
    [
      'create a secret',
      create('/settings/secrets', 'Create secret', async (form, name) => {
        await box(form, 'Name').fill(name.toUpperCase().replaceAll('-', '_'))
        await box(form, 'Value').fill('s3cret')
      }),
    ],
    [
      'create a network policy',
      create('/settings/network-policies', 'Create network policy', async (form, name) => {
        await form.getByRole('textbox', { name: 'Name', exact: true }).fill(name)
      }),
    ],
    [
      'create a gateway',
      create('/settings/gateways', 'Create gateway', async (form, name) => {
        await box(form, 'Name').fill(name)
        await box(form, 'URL').fill('https://api.example.com')
        await form.getByRole('textbox', { name: 'Header', exact: true }).fill('x-api-key')
      }),
    ],
    [
      'create an agent',
      create('/agents', 'Create agent', async (form, name) => {
        await box(form, 'Name').fill(name)
        await form.getByRole('textbox', { name: 'Package', exact: true }).fill('@acme/agent')
      }),
    ],
    [
      'upload an object',
      async (page) => {
        const name = `${unique('object')}.txt`
        await visit(page, `${url}/objects`)
        await button(page, 'Upload object').click()
        await dialog(page)
          .locator('input[type=file]')
          .setInputFiles({ name, mimeType: 'text/plain', buffer: Buffer.from('content') })
        await button(dialog(page), 'Upload object').click()
        await text(page, name)
      },
    ],
    [
      'create a blueprint',
      async (page) => {
        await visit(page, `${url}/blueprints`)
        await button(page, 'Create blueprint').click()
        await box(dialog(page), 'Name').fill(unique('walked'))
        await box(dialog(page), /^Setup commands/).fill('true')
        await button(dialog(page), 'Create blueprint').click()
        await page.waitForURL(/\/blueprints\/[^/]+\/log/)
      },
    ],
    [
      'acknowledge an eviction',
      async (page) => {
        await visit(page, `${url}/evictions`)
        const row = page.getByRole('row', { name: /main/ }).first()
        const acknowledge = button(row, 'Acknowledge')
        if (await acknowledge.isVisible()) await acknowledge.click()
        await row.getByText('Acknowledged').waitFor()
      },
    ],
    [
      'cancel a job',
      async (page) => {
        await visit(page, `${url}/benchmark-jobs`)
        await page.getByRole('main').getByRole('link', { name: 'in progress' }).click()
        if (await button(page, 'Cancel job').isVisible()) {
          await button(page, 'Cancel job').click()
          await button(dialog(page), 'Cancel job').click()
        }
        await text(page, 'Canceled')
      },
    ],
    [
      'shut a devbox down',
      async (page) => {
        await visit(page, `${url}/devboxes`)
        await page.getByRole('main').getByRole('link', { name: 'worker 0' }).click()
        if (await button(page, 'Shut down devbox').isVisible()) {
          await button(page, 'Shut down devbox').click()
          await button(dialog(page), 'Shut down devbox').click()
        }
        await text(page, 'Shut down')
      },
    ],
  ]
}
