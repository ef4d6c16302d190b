import AxeBuilder from '@axe-core/playwright'
import type { Locator, Page } from '@playwright/test'
import { expect, isLive, openPalette, type Product, signIn, test } from './product.ts'
import { finishedJob, makeScenarios } from './small-jobs.ts'

const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

type Look = readonly [width: number, colorScheme: 'light' | 'dark']
/** Colors don't depend on width; `tokens.test.tsx` checks the contrast of every pair in both themes. */
const twoLooks: readonly Look[] = [
  [1440, 'light'],
  [390, 'dark'],
]
const allLooks: readonly Look[] = [...twoLooks, [390, 'light'], [1440, 'dark']]

const violationsOf = async (page: Page) => {
  // Waits for the theme's color transitions.
  await page.evaluate(async () => {
    for (const _ of [1, 2]) await new Promise(requestAnimationFrame)
    for (const animation of document.getAnimations())
      if (Number.isFinite(Number(animation.effect?.getComputedTiming().endTime))) animation.finish()
  })
  // Injects axe (1.5 MB) once per page.
  const axeSource = (await page.evaluate(() => 'axe' in window)) ? 'axe.version' : undefined
  const { violations } = await new AxeBuilder({ page, axeSource })
    .setLegacyMode()
    .options({ resultTypes: ['violations'] })
    .withTags(tags)
    .analyze()
  return violations.map(({ id, nodes }) => `${id} ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`)
}

const check = async (page: Page, name: string, looks = twoLooks) => {
  for (const [width, colorScheme] of looks) {
    await page.setViewportSize({ width, height: 900 })
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    const where = `${name}, ${colorScheme}, ${width} px`
    const tooWide = () => page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)
    await expect.soft.poll(tooWide, { message: `${where} is too wide` }).toBeLessThanOrEqual(0)
    // Retries, because an element fading in has no contrast yet.
    await expect.soft.poll(() => violationsOf(page), { message: where }).toEqual([])
  }
}

const checkAll = async (page: Page, { url }: Product, paths: readonly string[]) => {
  for (const path of paths) {
    await page.goto(url + path)
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
    if (path.endsWith('terminal')) await expect(page.locator('.xterm-rows')).toContainText('$')
    await check(page, path, path === '/' || path.endsWith('terminal') ? allLooks : twoLooks)
  }
}

test('lists have no accessibility violations in either theme, wide or narrow', async ({ page, product }) => {
  const { service } = product
  const { id } = await service.devboxes.createAndAwaitRunning({
    body: { name: 'axe-box', metadata: { env: 'prod', owner: 'a-rather-long-team-name' } },
  })
  await service.axons.create({ body: { name: 'axe <img onerror> \u202e axon', metadata: { env: 'prod' } } })
  const snapshot = await service.snapshots.create({
    params: { id },
    body: { name: 'axe-snapshot', metadata: { env: 'prod' } },
  })
  await service.evictions.schedule({ body: { devbox_id: id, eviction_deadline_ms: Date.now() + 600_000 } })
  await page.goto(`${product.url}/sign-in`)
  await check(page, 'sign-in')
  await signIn(page, product)
  const filtered = '/axons?state=active&sort=-name&columns=name,state,metadata.env:120,created'
  const lists = [
    '/axons',
    filtered,
    '/axons?search=nothing',
    '/evictions/history',
    '/evictions/report',
    '/activity',
    '/snapshots',
    '/blueprints',
    '/agents',
    '/objects',
    '/settings/secrets',
    '/settings/gateways',
    '/settings/mcp-servers',
    '/settings/api-keys',
    '/settings/personal-keys',
    '/settings/sessions',
    '/settings/network-policies',
  ]
  await checkAll(page, product, [
    '/',
    ...lists,
    '/evictions',
    '/nowhere',
    '/settings',
    '/settings/shortcuts',
    '/docs/alerts',
    '/devboxes',
  ])
  await page.getByRole('button', { name: 'Filters', exact: true }).click()
  await expect(page.getByRole('dialog', { name: 'Filter devboxes' }).getByLabel('Older than')).toBeVisible()
  await check(page, 'filters of devboxes')
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Create devbox' }).first().click()
  await expect(page.getByRole('dialog', { name: 'Create devbox' })).toBeVisible()
  await check(page, 'create dialog')
  await page.goto(`${product.url}/blueprints`)
  await page.getByRole('button', { name: 'Create blueprint' }).first().click()
  await expect(page.getByRole('dialog', { name: 'Create blueprint' })).toBeVisible()
  await check(page, 'create dialog of blueprints')
  await service.devboxes.shutdown({ params: { id } })
  await service.snapshots.delete({ params: { id: snapshot.id } })
})

test('detail pages have no accessibility violations in either theme, wide or narrow', async ({
  signedIn: page,
  product,
}) => {
  const { service } = product
  const devbox = await service.devboxes.createAndAwaitRunning({ body: { name: 'axe-box', metadata: { env: 'prod' } } })
  const axon = await service.axons.create({
    body: { name: 'axe <img onerror> \u202e axon', metadata: { env: 'prod' } },
  })
  await service.axons.publish({
    params: { id: axon.id },
    body: { event_type: 'note', origin: 'USER_EVENT', source: 'axe', payload: '{"a":[1]}' },
  })
  const snapshot = await service.snapshots.create({
    params: { id: devbox.id },
    body: { name: 'axe-snapshot', metadata: { env: 'prod' } },
  })
  const blueprint = await service.blueprints.create({
    body: { name: 'axe-blueprint', system_setup_commands: ['true'], file_mounts: { '~/note': 'axe' } },
  })
  const eviction = { devbox_id: devbox.id, eviction_deadline_ms: Date.now() + 600_000 }
  await service.evictions.schedule({ body: eviction })
  const tabs = ['', '/commands', '/files', '/log', '/snapshots', '/terminal']
  await checkAll(page, product, [
    ...['', '/events?event=1', '/sql'].map((tab) => `/axons/${axon.id}${tab}`),
    ...tabs.map((tab) => `/devboxes/${devbox.id}${tab}`),
    ...['', '/log'].map((tab) => `/blueprints/${blueprint.id}${tab}`),
  ])
  await service.devboxes.shutdown({ params: { id: devbox.id } })
  await service.blueprints.delete({ params: { id: blueprint.id } })
  await service.snapshots.delete({ params: { id: snapshot.id } })
})

test('benchmark pages have no accessibility violations in either theme, wide or narrow', async ({
  signedIn: page,
  product,
}) => {
  const names = ['axe__<img onerror>', 'axe__second', 'axe__third']
  const scenarioIds = await makeScenarios(product, names)
  await product.service.benchmarks.create({ body: { name: 'axe benchmark', scenario_ids: scenarioIds } })
  const before = await finishedJob(product, 'axe before', scenarioIds, [1, 0.5, 0])
  const jobId = await finishedJob(product, 'axe after', scenarioIds, [0, 1, 0])
  const job = await product.service.benchmarkJobs.get({ params: { id: jobId } })
  const runId = job.benchmark_outcomes?.[0]?.benchmark_run_id ?? ''
  const main = page.getByRole('main')
  const look = async (path: string, isThere: Locator, looks?: readonly Look[]) => {
    await page.goto(product.url + path)
    await expect(isThere).toBeVisible()
    await check(page, path, looks)
  }
  // Checks the sheet together with the page behind it.
  const cell = `?group=prefix&scenario=${scenarioIds[0]}&run=${runId}`
  await look(`/benchmark-jobs/${jobId}${cell}`, page.getByRole('combobox', { name: /^(Log|Last)/ }), allLooks)
  await look(`/benchmark-jobs/compare?jobs=${before},${jobId}`, main.getByRole('region', { name: 'Differences' }))
  await look(`/benchmark-jobs/trend?job=${jobId}`, main.getByRole('row', { name: /axe before/ }))
  await look(`/benchmark-runs/${runId}/logs`, page.getByRole('tree', { name: 'Files of the archive' }))
  await look(`/benchmarks/scenarios/${scenarioIds[0]}`, main.getByRole('table', { name: 'Attempts at the scenario' }))
  await look(`/benchmark-runs/${runId}`, main.getByRole('row', { name: /axe__second/ }))
  await look('/benchmark-runs', main.getByRole('row', { name: /axe before/ }))
  await look('/benchmarks', main.getByRole('row', { name: /axe benchmark/ }))
  await look('/benchmarks/scenarios', main.getByRole('row', { name: /axe__second/ }))
  await look('/devboxes?trials=shown', main.getByRole('link', { name: 'Hide trial devboxes' }))
  await look('/benchmark-jobs', main.getByRole('row', { name: /axe before/ }))
  await isLive(page)
  await page.getByRole('button', { name: 'Create job' }).first().click()
  await expect(page.getByRole('dialog').getByRole('textbox', { name: 'Job file' })).toBeVisible()
  await check(page, 'create job')
})

test('everything is reachable by keyboard and focus is never lost', async ({ signedIn: page, product }) => {
  await product.service.devboxes.createAndAwaitRunning({ body: { name: 'key-box' } })
  const focused = () => page.evaluate(() => document.activeElement?.id || document.activeElement?.tagName)
  await page.goto(`${product.url}/devboxes`)
  await isLive(page)
  await page.keyboard.press('j')
  await expect(page.getByRole('table').getByRole('link', { name: 'key-box' })).toBeFocused()
  await page.keyboard.press('Enter')
  await expect(page.getByRole('navigation', { name: 'Devbox' })).toBeVisible()
  await expect.poll(focused).toBe('content')

  await openPalette(page)
  await page.keyboard.type('axon')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { name: 'Axons', exact: true })).toBeVisible()
  await expect(page).toHaveURL(`${product.url}/axons`)
  await expect.poll(focused).toBe('content')

  await page.keyboard.press('?')
  const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
  await expect(help).toBeFocused()
  await page.keyboard.press('Escape')
  await expect(help).toBeHidden()
  await expect.poll(focused).toBe('content')

  const create = page.getByRole('button', { name: 'Create axon' }).first()
  await create.focus()
  await page.keyboard.press('Enter')
  await expect(page.getByRole('dialog', { name: 'Create axon' })).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(create).toBeFocused()
})
