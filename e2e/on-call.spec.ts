import type { Browser, Page } from '@playwright/test'
import { expect, open, type Product, test } from './product.ts'

test.use({ journeys: 'on-call' })

/** A person in a separate browser, signed in with the team's API key. */
const personIn = async (browser: Browser, { url, apiKey }: Product): Promise<Page> => {
  const page = await (await browser.newContext()).newPage()
  await page.request.post(`${url}/api/session`, { data: { api_key: apiKey }, headers: { origin: url } })
  await open(page, `${url}/evictions`)
  return page
}

const rowIn = (page: Page) => page.getByRole('row', { name: /night-box/ })
const filterBy = (page: Page, holder: string) => page.getByText(holder, { exact: true }).click()

test('two people share an eviction: taken, handed over, commented, snapshotted, given back, evicted and in the shift report', async ({
  product,
  browser,
}) => {
  const { id } = await product.service.devboxes.createAndAwaitRunning({
    body: { name: 'night-box', metadata: { team: 'core' } },
  })
  const [ada, ben] = [await personIn(browser, product), await personIn(browser, product)]
  // Not a drill, which the shift report lists as practice only.
  await product.service.evictions.schedule({ body: { devbox_id: id, eviction_deadline_ms: Date.now() + 900_000 } })
  for (const page of [ada, ben]) await expect(rowIn(page)).toContainText('New')

  // Ada takes it, and is asked for her name once.
  await rowIn(ada).getByRole('button', { name: 'Acknowledge night-box' }).click()
  const question = ada.getByRole('dialog', { name: "What's your name?" })
  await question.getByLabel('Your name').fill('Ada')
  await question.getByRole('button', { name: 'Continue' }).click()
  await expect(question).toBeHidden()
  for (const page of [ada, ben]) await expect(rowIn(page)).toContainText(/Acknowledged.*by Ada \(unverified\)/)
  await filterBy(ada, 'Mine')
  await expect(rowIn(ada)).toBeVisible()
  await filterBy(ben, 'Unacknowledged')
  await expect(rowIn(ben)).toBeHidden()

  // Ben gives his name on Settings. Only his browser announces the handoff.
  await ben.goto(`${product.url}/settings`)
  await ben.getByLabel('Your name').fill('Ben')
  await open(ben, `${product.url}/axons`)
  await rowIn(ada).getByRole('button', { name: 'More actions for night-box' }).click()
  await ada.getByRole('menuitem', { name: 'Hand over' }).click()
  const handOver = ada.getByRole('dialog', { name: 'Hand over night-box' })
  await handOver.getByLabel('To').fill('Ben')
  await handOver.getByRole('button', { name: 'Hand over' }).click()
  await expect(handOver).toBeHidden()
  const announced = (page: Page) => page.getByRole('alert').filter({ hasText: 'handed over night-box to you' })
  await expect(announced(ben)).toContainText('Ada (unverified)')
  await expect(rowIn(ada)).toBeHidden()
  await expect(announced(ada)).toHaveCount(0)
  await filterBy(ada, 'All')
  await expect(rowIn(ada)).toContainText('by Ben (unverified)')

  // Ben works on the alert's own page.
  await ben.getByRole('button', { name: 'Show', exact: true }).click()
  await expect(ben.getByRole('heading', { name: 'night-box' })).toBeVisible()
  const log = ben.getByRole('region', { name: 'Log' })
  await expect(log).toContainText('Handed over to Ben (unverified) by Ada (unverified)')
  await ben.getByRole('button', { name: 'Comment' }).click()
  await ben.getByRole('dialog').getByLabel('Comment').fill('Saving its disk first')
  await ben.getByRole('button', { name: 'Add comment' }).click()
  await expect(log).toContainText('Ben (unverified): Saving its disk first')
  await ben.getByRole('button', { name: 'Snapshot', exact: true }).click()
  await expect(ben.getByText('Snapshot started')).toBeVisible()
  await ben.getByRole('button', { name: 'Undo', exact: true }).click()
  await expect(rowIn(ada)).toContainText('New')
  await ben.getByRole('main').getByRole('button', { name: 'Acknowledge' }).click()
  await expect(log).toContainText(/Acknowledgment undone by Ben.*Acknowledged by Ben/)

  // A silence names what is lost meanwhile.
  await ben.getByRole('button', { name: 'More actions for night-box' }).click()
  await ben.getByRole('menuitem', { name: 'Silence by metadata' }).click()
  const silence = ben.getByRole('dialog', { name: 'Silence alerts' })
  await expect(silence).toContainText(/1 devbox will be evicted while silenced, in 1[0-4] min: night-box/)
  await silence.getByLabel('Comment').fill('Planned')
  await silence.getByRole('button', { name: 'Silence alerts' }).click()
  await expect(log).toContainText('Silenced by Ben (unverified): Planned')

  await product.service.evictions.schedule({ body: { devbox_id: id, eviction_deadline_ms: Date.now() + 2_000 } })
  await expect(log).toContainText('Rescheduled')
  await open(ada, `${product.url}/evictions/history?state=ended`)
  await expect(rowIn(ada)).toContainText('Evicted')
  await open(ada, `${product.url}/evictions/report`)
  await expect(ada.getByRole('region', { name: 'Handoffs' })).toContainText(/Ada \(unverified\) to Ben \(unverified\)/)
  await expect(ada.getByRole('region', { name: 'Comments' })).toContainText('Ben (unverified): Saving its disk first')
  await expect(ada.getByRole('region', { name: 'Losses' })).toContainText('0 of 1 eviction (0 commands)')
  await expect(ada.getByRole('region', { name: 'Coverage' })).toContainText('Silence by Ben (unverified) (Planned)')
  await open(ada, `${product.url}/activity?search=alerts.`)
  for (const operation of ['silence', 'acknowledge', 'unacknowledge', 'comment', 'hand_over'])
    await expect(ada.getByRole('row', { name: `alerts.${operation} ` }).first()).toBeVisible()
})
