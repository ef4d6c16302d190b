import type { Page } from '@playwright/test'
import { readRange } from '#components/axons/search-params.ts'
import { paths } from '#lib/browser/address/paths.ts'
import { expect, isLive, open, signIn, test } from './product.ts'
import { finishedJob, makeScenarios } from './small-jobs.ts'
import { setClockAhead } from './wrong-clock.ts'

test.use({ journeys: 'clock' })

const tenMinutesMs = 600_000
const hourMs = 3_600_000

const isClockBanner = /This computer's clock is .*\n.*are correct\.\n?/
/** Each page polls at its own time. */
const polled = /As of .*\n?/g

const textOf = async (page: Page) =>
  [await page.title(), await page.locator('body').innerText()].join('\n').replace(isClockBanner, '').replace(polled, '')

/** The pages are read a moment apart, so what ticks may differ by seconds. */
const maxTicks = 5

const isSame = (line: string, expected = ''): boolean => {
  const parts = expected.split(/(\d+)/)
  const isSamePart = (part: string, at: number) =>
    at % 2 === 0 ? part === parts[at] : Math.abs(Number(part) - Number(parts[at])) <= maxTicks
  return line.split(/(\d+)/).every(isSamePart)
}

/** `shown, not expected` of each line that differs. */
const lineDifferences = (text: string, expected: string) => {
  const lines = expected.split('\n')
  return text.split('\n').flatMap((line, at) => (isSame(line, lines[at]) ? [] : `${line}, not ${lines[at]}`))
}

test('a clock ten minutes ahead or behind changes no number on any page', async ({
  browser,
  product,
  signedIn: right,
}) => {
  const { service, url } = product
  const skewed = await Promise.all(
    [tenMinutesMs, -tenMinutesMs].map(async (offsetMs) => {
      const page = await (await browser.newContext({ viewport: right.viewportSize() })).newPage()
      await page.addInitScript(setClockAhead, offsetMs)
      await signIn(page, product)
      return page
    }),
  )
  const [ahead, behind] = skewed as [Page, Page]
  const pages = [right, ahead, behind]
  // Alerts are recorded from the first page on. Not the overview, which would start the first steps in this browser only.
  await open(right, url + paths.axons())

  const { id } = await service.devboxes.createAndAwaitRunning({
    body: { name: 'timed-box', metadata: { team: 'core' }, launch_parameters: { keep_alive_time_seconds: 840 } },
  })
  await service.executions.executeAsync({ params: { id }, body: { command: 'echo begun; sleep 3600' } })
  const evicted = await service.devboxes.createAndAwaitRunning({ body: { name: 'evicted-box' } })
  await service.evictions.schedule({ body: { devbox_id: evicted.id, eviction_deadline_ms: Date.now() + 1_000 } })
  await service.evictions.schedule({ body: { devbox_id: id, eviction_deadline_ms: Date.now() + 500_000 } })
  // Through the console, so that it is in its activity.
  const created = await right.request.post(`${url}/api/v1/axons`, {
    data: { name: 'timed-axon' },
    headers: { origin: url },
  })
  const axon = await created.json()
  await service.axons.publish({
    params: { id: axon.id },
    body: { event_type: 'note', origin: 'USER_EVENT', source: 'test', payload: 'published' },
  })
  const job = await finishedJob(product, 'timed-job', await makeScenarios(product, ['one']), [1])
  const { runs } = await service.benchmarkRuns.list({ query: { limit: 1 } })
  const [run] = runs

  /** Opens a page in all three browsers and waits until they show the same. */
  const showsSame = async (path: string, shows: string | RegExp) => {
    await Promise.all(
      pages.map(async (page) => {
        await page.goto(url + path)
        await isLive(page)
        await expect(page.getByRole('main')).toContainText(shows)
      }),
    )
    const differences = async () => {
      const [expected = '', ...others] = await Promise.all(pages.map(textOf))
      return others.flatMap((text) => lineDifferences(text, expected))
    }
    await expect.poll(differences, { message: path }).toEqual([])
  }
  await showsSame(paths.overview(), 'timed-box')
  await showsSame(paths.devboxes(), 'timed-box')
  await showsSame(paths.devbox(id), 'timed-box')
  await showsSame(paths.devbox(id, 'log', { stats: 'shown' }), 'Host disk free')
  await showsSame(paths.devbox(id, 'commands'), 'begun')
  await showsSame(paths.benchmarkJobs(), 'timed-job')
  await showsSame(paths.benchmarkJob(job), 'timed-job')
  await showsSame(paths.benchmarkRun(run?.id ?? ''), 'Completed')
  await showsSame(paths.axon(axon.id, 'events'), 'published')
  await showsSame(paths.activity(), 'axons.create')

  // Requests use the service's clock, too.
  await ahead.goto(url + paths.axons())
  await ahead.getByRole('button', { name: 'Created' }).first().click()
  await ahead.getByRole('button', { name: 'Last hour' }).click()
  await ahead.waitForURL(/created=/)
  const { fromMs = 0 } = readRange(new URL(ahead.url()).searchParams.get('created') ?? '') ?? {}
  expect(Math.abs(Date.now() - hourMs - fromMs)).toBeLessThan(tenMinutesMs / 2)
  await behind.goto(url + paths.evictions())
  await behind.getByRole('button', { name: 'Add silence' }).click()
  const dialog = behind.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Add metadata' }).click()
  await dialog.getByLabel('Metadata: key 1').fill('team')
  await dialog.getByLabel('Metadata: value 1').fill('core')
  await dialog.getByLabel('Duration').selectOption('30 minutes')
  await dialog.getByRole('button', { name: 'Silence alerts' }).click()
  await expect(dialog).toBeHidden()

  await showsSame(paths.evictions(), /ends in (29|30) min/)
  await expect(ahead.getByText("This computer's clock is 10 min ahead")).toBeVisible()
  await showsSame(paths.evictionHistory(), 'evicted-box')
  await showsSame(paths.shiftReport(), 'evicted-box')
})
