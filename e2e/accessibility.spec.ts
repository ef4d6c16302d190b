import AxeBuilder from '@axe-core/playwright'
import { expect, signIn, test } from './product.ts'

test.use({ journeys: 'accessibility' })

const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

for (const colorScheme of ['light', 'dark'] as const)
  for (const width of [1440, 390])
    test(`pages have no accessibility violation: ${colorScheme}, ${width} px`, async ({ browser, product }) => {
      // A dozen pages, each read by axe, on a machine that may be busy.
      test.setTimeout(180_000)
      const devbox = await product.service.devboxes.createAndAwaitRunning({
        body: { name: 'axe-box', metadata: { env: 'prod', owner: 'a-rather-long-team-name' } },
      })
      const axon = await product.service.axons.create({
        body: { name: 'axe <img onerror> \u202e axon', metadata: { env: 'prod' } },
      })
      await product.service.snapshots.create({
        params: { id: devbox.id },
        body: { name: 'axe-snapshot', metadata: { env: 'prod' } },
      })
      await product.service.axons.publish({
        params: { id: axon.id },
        body: { event_type: 'note', origin: 'USER_EVENT', source: 'axe', payload: '{"a":[1]}' },
      })
      await product.service.evictions.schedule({
        body: { devbox_id: devbox.id, eviction_deadline_ms: Date.now() + 600_000 },
      })
      const context = await browser.newContext({
        colorScheme,
        viewport: { width, height: 900 },
        reducedMotion: 'reduce',
      })
      const page = await context.newPage()
      const check = async (name: string) => {
        const axe = new AxeBuilder({ page })
        // The themes differ in their colours and in nothing else.
        const { violations } = await (colorScheme === 'light'
          ? axe.withTags(tags)
          : axe.withRules('color-contrast')
        ).analyze()
        const found = violations.map(
          ({ id, nodes }) => `${name}: ${id} ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`,
        )
        expect.soft(found).toEqual([])
      }
      await page.goto(`${product.url}/sign-in`)
      await check('sign-in')
      await signIn(page, product)
      const paths = [
        '/',
        '/axons',
        '/axons?search=nothing-has-this',
        '/axons?state=active&sort=-name&columns=name,state,metadata.env:120,created',
        `/axons/${axon.id}`,
        `/axons/${axon.id}?tab=events&event=1`,
        `/axons/${axon.id}?tab=sql`,
        '/evictions',
        '/evictions/history',
        '/devboxes',
        `/devboxes/${devbox.id}`,
        `/devboxes/${devbox.id}?tab=commands`,
        `/devboxes/${devbox.id}?tab=log`,
        `/devboxes/${devbox.id}?tab=snapshots`,
        `/devboxes/${devbox.id}?tab=terminal`,
        '/snapshots',
        '/benchmark-jobs',
        '/benchmark-jobs/compare',
        '/benchmark-runs',
        '/nowhere',
      ]
      for (const path of paths) {
        await page.goto(product.url + path)
        await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
        if (path.endsWith('terminal')) await expect(page.locator('.xterm-rows')).toContainText('$')
        // No sideways scrolling of the page itself, whatever the width.
        expect
          .soft(
            await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth),
            `${path} is too wide`,
          )
          .toBeLessThanOrEqual(0)
        await check(path)
      }
      await page.goto(`${product.url}/devboxes`)
      await page.getByRole('button', { name: 'Create devbox' }).first().click()
      await expect(page.getByRole('dialog')).toBeVisible()
      await check('create dialog')
      await context.close()
      await product.service.devboxes.shutdown({ params: { id: devbox.id } })
    })

test('the keyboard alone goes everywhere and is never left without focus', async ({ signedIn: page, product }) => {
  await product.service.devboxes.createAndAwaitRunning({ body: { name: 'key-box' } })
  const focused = () => page.evaluate(() => document.activeElement?.id || document.activeElement?.tagName)
  await page.goto(`${product.url}/devboxes`)
  // The stream is followed once the page takes keys.
  await expect(page.getByText('Live', { exact: true })).toBeVisible()
  await page.keyboard.press('j')
  await expect(page.getByRole('table').getByRole('link', { name: 'key-box' })).toBeFocused()
  await page.keyboard.press('Enter')
  await expect(page.getByRole('navigation', { name: 'Devbox' })).toBeVisible()
  await expect.poll(focused).toBe('content')

  await page.keyboard.press('Control+k')
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
