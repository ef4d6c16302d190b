import type { Page } from '@playwright/test'
import { expect, isLive, open, type Product, test } from './product.ts'
import { finishedJob, makeScenarios } from './small-jobs.ts'
import { untilPrompt } from './terminal-page.ts'

test.use({ journeys: 'list widths' })

const widths = [768, 1024, 1152, 1280, 1366, 1440]
const long = (letter: string) => letter.repeat(250)

const fill = async (page: Page, product: Product) => {
  const { service } = product
  const metadata = { [long('k')]: long('v'), env: 'prod', owner: 'a-rather-long-team-name' }
  const devbox = await service.devboxes.createAndAwaitRunning({ body: { name: long('d'), metadata } })
  const { id } = devbox
  await service.executions.executeSync({ params: { id }, body: { command: `touch ${'f'.repeat(250)}` } })
  await service.devboxes.create({ body: {} })
  await service.axons.create({ body: { name: long('a'), metadata } })
  await service.snapshots.create({ params: { id }, body: { name: long('s'), metadata, commit_message: long('m') } })
  await service.blueprints.create({ body: { name: long('i'), metadata, system_setup_commands: ['true'] } })
  await service.evictions.schedule({ body: { devbox_id: id, eviction_deadline_ms: Date.now() + 3_600_000 } })
  const scenarios = await makeScenarios(product, [long('x'), long('y')])
  await service.benchmarks.create({
    body: { name: long('b'), description: long('e'), metadata, scenario_ids: scenarios },
  })
  const job = await finishedJob(product, long('j'), scenarios, [1, 0])
  const { benchmark_outcomes } = await service.benchmarkJobs.get({ params: { id: job } })
  const run = benchmark_outcomes?.[0]?.benchmark_run_id ?? ''
  await service.devboxes.create({ body: { name: 'short' } })
  // Writes through the console are recorded in the activity.
  const keepAlive = `${product.url}/api/v1/devboxes/${id}/keep_alive`
  expect((await page.request.post(keepAlive, { headers: { origin: product.url } })).ok()).toBe(true)
  await open(page, `${product.url}/devboxes/${id}/terminal`)
  await untilPrompt(page)
  // By keyboard: the toast of the eviction may cover them.
  await page.getByRole('button', { name: /^Record/ }).press('Enter')
  await page.getByRole('button', { name: /^Stop recording/ }).press('Enter')
  await expect(page.getByRole('button', { name: /^Record/ })).toBeVisible()
  return { id, job, run, scenario: scenarios[0] ?? '' }
}

/** Problems of the page's tables in words; empty if there are none. */
const problemsOf = (page: Page) =>
  page.evaluate(() => {
    const problems: string[] = []
    const root = document.documentElement
    if (root.scrollWidth > innerWidth) problems.push(`the page is ${root.scrollWidth} px wide`)
    // The part of the text that isn't clipped.
    const seen = (text: Text, cell: Element) => {
      const range = document.createRange()
      range.selectNodeContents(text)
      let { left, right } = range.getBoundingClientRect()
      for (let each = text.parentElement; each && each !== cell.parentElement; each = each.parentElement) {
        if (getComputedStyle(each).overflowX === 'visible') continue
        const box = each.getBoundingClientRect()
        left = Math.max(left, box.left)
        right = Math.min(right, box.right)
      }
      return { left, right }
    }
    for (const table of document.querySelectorAll('main table')) {
      const caption = table.querySelector('caption')?.textContent
      for (const row of table.querySelectorAll<HTMLTableRowElement>('thead tr, tr[data-key]')) {
        const cells = [...row.cells].filter((cell) => cell.offsetWidth > 0)
        const name = row.querySelector<HTMLElement>('th[scope=row]')
        if (name && name.offsetWidth < 160) problems.push(`${caption}: the name is ${name.offsetWidth} px wide`)
        for (const cell of cells) {
          const box = cell.getBoundingClientRect()
          const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT)
          for (let text = texts.nextNode(); text; text = texts.nextNode()) {
            const { left, right } = seen(text as Text, cell)
            if (right - left > 1 && (left < box.left - 1 || right > box.right + 1))
              problems.push(
                `${caption}: “${text.textContent?.slice(0, 20)}” leaves its cell by ${right - box.right} px`,
              )
          }
        }
      }
    }
    return problems
  })

test('every list keeps its names readable and its width from 768 to 1440 px', async ({ signedIn: page, product }) => {
  const { id, job, run, scenario } = await fill(page, product)
  const lists = [
    '/devboxes?trials=shown',
    `/devboxes?columns=name:1600,status:900,id,metadata,created,lifetime,time-left,ended,metadata.${long('k')}`,
    `/devboxes?columns=name:pin,status:pin,id,metadata,created,lifetime,time-left,metadata.${long('k')}`,
    '/axons?columns=name,id,state,metadata,created,deleted,metadata.env',
    '/snapshots',
    '/blueprints',
    '/benchmark-jobs?columns=name,state,agents,source,progress,counts,duration,created,id',
    '/benchmark-runs?columns=name,agent,job,state,score,metadata,duration,started,id',
    '/benchmarks',
    '/benchmarks/scenarios',
    '/recordings',
    '/activity',
    '/evictions',
    '/evictions/history',
    `/devboxes/${id}/files`,
    `/devboxes/${id}/snapshots`,
    `/benchmark-runs/${run}`,
    `/benchmark-jobs/${job}`,
    `/benchmarks/scenarios/${scenario}`,
    `/benchmark-jobs/trend?job=${job}`,
    `/benchmark-jobs/compare?jobs=${job},${job}`,
  ]
  for (const path of lists) {
    await page.goto(product.url + path)
    await expect(page.getByRole('main').locator('tr[data-key]').first()).toBeVisible()
    await isLive(page)
    for (const width of widths) {
      await page.setViewportSize({ width, height: 900 })
      await expect.soft.poll(() => problemsOf(page), { message: `${path} at ${width} px`, timeout: 10_000 }).toEqual([])
    }
  }
})
