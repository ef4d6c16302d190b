import { globSync } from 'node:fs'
import { join } from 'node:path'
import AxeBuilder from '@axe-core/playwright'
import { chromium, type Page } from '@playwright/test'
import { findChromium } from '#e2e/chromium.ts'
import { signIn, startProduct } from '#e2e/product.ts'

const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
const widths = [390, 1024, 1440]
const schemes = ['light', 'dark'] as const
/** Buttons that open a dialog, a menu or a sheet, and change nothing by themselves. */
const opener =
  /^(Create|Add|Edit|New|Import|Export|Filters|Columns|View|Save|Share|Rename|More|Copy as|Describe|Start a drill|Silence|Exclude|Label|Change|Record|Settings|Find|Search|Account|Time|Suspend devbox|Shut down devbox|Take snapshot|Delete)/
const maxOpened = 12

/**
 * Checks every page of the console, and the dialogs and menus that its buttons open, with axe: in both themes, at three
 * widths. Returns the violations.
 */
export const checkAccessibility = async (log: (line: string) => void): Promise<string[]> => {
  const product = await startProduct()
  const browser = await chromium.launch(await findChromium())
  const problems = new Set<string>()
  try {
    const page = await browser.newPage({ reducedMotion: 'reduce' })
    await signIn(page, product)
    const paths = await routesOf(page, product)
    let count = 0
    let openedCount = 0
    for (const path of paths) {
      await page.setViewportSize({ width: 1440, height: 900 })
      await page.goto(product.url + path)
      await page.getByRole('heading').first().waitFor()
      await page.waitForLoadState('networkidle')
      const found = problems.size
      count += await checkLooks(page, path, problems)
      const opened = await checkOpened(page, product.url + path, path, problems)
      openedCount += opened
      log(`${path}: ${opened} dialogs and menus, ${problems.size - found} violations`)
    }
    count += openedCount * widths.length * schemes.length
    log(`${paths.length} pages, ${openedCount} dialogs and menus, ${count} checks, ${problems.size} violations`)
    return [...problems]
  } finally {
    await browser.close()
    await product.stop()
  }
}

const checkLooks = async (page: Page, name: string, problems: Set<string>): Promise<number> => {
  for (const width of widths)
    for (const colorScheme of schemes) {
      await page.setViewportSize({ width, height: 900 })
      await page.emulateMedia({ colorScheme })
      for (const each of await violationsOf(page)) problems.add(`${name}: ${each} (${colorScheme}, ${width} px)`)
    }
  return widths.length * schemes.length
}

const checkOpened = async (page: Page, url: string, name: string, problems: Set<string>): Promise<number> => {
  await page.setViewportSize({ width: 1440, height: 900 })
  const names = await page
    .getByRole('button')
    .evaluateAll((all) =>
      all.map((each) =>
        each.checkVisibility() && each.getAttribute('aria-disabled') !== 'true'
          ? (each.getAttribute('aria-label') ?? each.textContent ?? '').trim()
          : '',
      ),
    )
  const openers = names.flatMap((button, at) => (opener.test(button) && names.indexOf(button) === at ? [at] : []))
  let count = 0
  for (const at of openers.slice(0, maxOpened)) {
    const button = names[at]
    // Some buttons are shown only while they have the focus.
    await page.getByRole('button').nth(at).press('Enter')
    const opened = page.locator('[role=dialog], [role=alertdialog], [role=menu]').last()
    const isOpen = await opened.waitFor({ timeout: 2_000 }).then(
      () => true,
      () => false,
    )
    if (isOpen) {
      await checkLooks(page, `${name} › ${button}`, problems)
      count++
    }
    await page.setViewportSize({ width: 1440, height: 900 })
    await page.goto(url)
    await page.getByRole('heading').first().waitFor()
    await page.waitForLoadState('networkidle')
  }
  return count
}

const violationsOf = async (page: Page): Promise<string[]> => {
  const { violations } = await new AxeBuilder({ page })
    .setLegacyMode()
    .options({ resultTypes: ['violations'] })
    .withTags(tags)
    .analyze()
  return violations.map(({ id, nodes }) => `${id} ${nodes[0]?.html.slice(0, 140)}`)
}

type Product = Awaited<ReturnType<typeof startProduct>>

/** Every page of the app, with demo data in it. */
const routesOf = async (page: Page, { url, service }: Product): Promise<string[]> => {
  await page.request.post(`${url}/api/demo`, { headers: { origin: url } })
  const demo = async () => (await (await page.request.get(`${url}/api/demo`)).json()) as { state: string }
  while ((await demo()).state === 'loading') await new Promise((resolve) => setTimeout(resolve, 500))
  const [devbox] = (await service.devboxes.list({ query: { status: 'running', limit: 1 } })).devboxes
  const [axon] = (await service.axons.list({ query: { limit: 1 } })).axons
  const [job] = (await service.benchmarkJobs.list({ query: { limit: 1 } })).jobs
  const [run] = (await service.benchmarkRuns.list({ query: { limit: 1 } })).runs
  const [benchmark] = (await service.benchmarks.list({ query: { limit: 1 } })).benchmarks
  const [scenario] = (await service.scenarios.list({ query: { limit: 1 } })).scenarios
  await service.secrets.create({ body: { name: 'AXE', value: 'a' } })
  const blueprint = await service.blueprints.create({ body: { name: 'axe', system_setup_commands: ['true'] } })
  const object = await service.objects.create({ body: { name: 'axe', content_type: 'text' } })
  const agent = await service.agents.create({
    body: { name: 'axe', source: { type: 'npm', npm: { package_name: 'axe' } } },
  })
  await page.goto(`${url}/devboxes/${devbox?.id}/terminal`)
  await page.getByRole('button', { name: /^Record/ }).click()
  await page.getByRole('button', { name: /^Stop recording/ }).click()
  await page.getByRole('button', { name: /^Record/ }).waitFor()
  const { recordings } = await (await page.request.get(`${url}/api/recordings`)).json()
  if (devbox)
    await service.evictions.schedule({
      body: { devbox_id: devbox.id, eviction_deadline_ms: Date.now() + 3_600_000 },
    })
  const share = await page.request.post(`${url}/api/shares`, {
    data: { kind: 'job', params: { job: job?.id } },
    headers: { origin: url },
  })
  await page.goto(`${url}/evictions`)
  await page.getByRole('main').getByRole('link').first().waitFor()
  const { alerts } = await (await page.request.get(`${url}/api/alerts`)).json()
  const ids: Record<string, string | undefined> = {
    '/devboxes': devbox?.id,
    '/axons': axon?.id,
    '/blueprints': blueprint.id,
    '/objects': object.id,
    '/agents': agent.id,
    '/benchmark-jobs': job?.id,
    '/benchmark-runs': run?.id,
    '/benchmarks': benchmark?.id,
    '/benchmarks/scenarios': scenario?.id,
    '/evictions': alerts[0]?.id,
    '/recordings': recordings[0]?.id,
    '/docs': 'agents',
    '/settings/secrets': 'AXE',
  }
  const app = join(import.meta.dirname, '../app/(console)')
  const pages = globSync('**/page.tsx', { cwd: app })
    .map((file) => `/${file.replace(/\/?page\.tsx$/, '')}`)
    .filter((path) => !path.includes('[...'))
    .map((path) => {
      const [, collection = ''] = /^(.*?)\/\[\w+\]/.exec(path) ?? []
      const id = ids[collection]
      if (!path.includes('[')) return path
      if (id === undefined) throw new Error(`nothing was created for ${path}`)
      return path.replace(/\[\w+\]/, encodeURIComponent(id))
    })
    .sort()
  return [...pages, new URL((await share.json()).url).pathname, '/nowhere', '/sign-in?add=1']
}
