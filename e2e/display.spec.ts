import AxeBuilder from '@axe-core/playwright'
import type { Page } from '@playwright/test'
import { expect, isLive, type Product, test } from './product.ts'

test.use({ journeys: 'display' })

const pagesOf = async ({ service }: Product) => {
  const { id } = await service.devboxes.createAndAwaitRunning({
    body: { name: `displayed-${'n'.repeat(120)}`, metadata: { env: 'prod', owner: 'a-rather-long-team-name' } },
  })
  await service.executions.executeSync({ params: { id }, body: { command: 'seq 200' } })
  await service.axons.create({ body: { name: 'displayed axon', metadata: { env: 'prod' } } })
  return ['/', '/devboxes', `/devboxes/${id}`, `/devboxes/${id}/log`, '/axons', '/evictions', '/settings']
}

const visit = async (page: Page, { url }: Product, path: string) => {
  await page.goto(url + path)
  await isLive(page)
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
}

/** Waits out pages that load more after their first paint. */
const expectNothingSideways = (page: Page, what: string) =>
  expect.soft
    .poll(() => page.evaluate(() => document.documentElement.scrollWidth - innerWidth), { message: what })
    .toBeLessThanOrEqual(0)

test('pages print in full on white, and reflow at 200% and 400% zoom', async ({ signedIn: page, product }) => {
  const paths = await pagesOf(product)
  for (const path of paths) {
    await visit(page, product, path)
    // 1440 px at 200%, and 1280 px at 400%.
    for (const width of [720, 320]) {
      await page.setViewportSize({ width, height: 800 })
      await expectNothingSideways(page, `${path} at ${width} px`)
    }
    // Landscape A4 without its margins.
    await page.setViewportSize({ width: 1063, height: 733 })
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' })
    await page.evaluate(() => dispatchEvent(new Event('beforeprint')))
    await expect(page.getByText(/, printed /)).toBeVisible()
    await expect(page.getByRole('navigation').filter({ visible: true })).toHaveCount(0)
    await expectNothingSideways(page, `${path} on paper`)
    const onPaper = await page.evaluate(() => {
      const scrolled = [...document.querySelectorAll('main *')].filter(
        (each) =>
          ['auto', 'scroll'].includes(getComputedStyle(each).overflowY) && each.scrollHeight > each.clientHeight,
      )
      const hidden = [...document.querySelectorAll<HTMLElement>('main th[data-column]')].filter(
        (each) => each.offsetWidth === 0,
      )
      return {
        text: getComputedStyle(document.body).color,
        cut: [...scrolled, ...hidden].map(({ outerHTML }) => outerHTML.slice(0, 100)),
      }
    })
    expect.soft(onPaper.cut, path).toEqual([])
    // Dark text: the theme is that of the paper.
    expect.soft(onPaper.text, path).toMatch(/^lab\(1?\d[.\s]/)
    await page.evaluate(() => dispatchEvent(new Event('afterprint')))
    await page.emulateMedia({ media: null, colorScheme: null })
  }
})

test('nothing moves with reduced motion, and forced colors keep focus and selection visible', async ({
  signedIn: page,
  product,
}) => {
  const paths = (await pagesOf(product)).slice(0, 3)
  await page.emulateMedia({ reducedMotion: 'reduce', forcedColors: 'active' })
  for (const path of paths) {
    await visit(page, product, path)
    const moving = await page.evaluate(() =>
      [...document.querySelectorAll('*')].flatMap((each) => {
        const { animationName, animationDuration, transitionDuration, scrollBehavior } = getComputedStyle(each)
        const isMoving =
          (animationName !== 'none' && /[1-9]/.test(animationDuration)) ||
          /[1-9]/.test(transitionDuration) ||
          scrollBehavior !== 'auto'
        return isMoving ? [each.outerHTML.slice(0, 100)] : []
      }),
    )
    expect.soft(moving, path).toEqual([])
    const { violations } = await new AxeBuilder({ page }).setLegacyMode().withTags(['wcag2a', 'wcag2aa']).analyze()
    expect
      .soft(
        violations.map(({ id, nodes }) => `${id} ${nodes[0]?.html.slice(0, 120)}`),
        path,
      )
      .toEqual([])
  }

  await visit(page, product, '/devboxes')
  const row = page.getByRole('row', { name: /displayed-/ }).first()
  await row.getByRole('checkbox').check()
  const outlineOf = (element: Element) => {
    const { outlineStyle, outlineWidth } = getComputedStyle(element)
    return `${outlineStyle} ${outlineWidth}`
  }
  await expect.poll(() => row.evaluate(outlineOf)).toBe('solid 2px')
  expect(await page.getByRole('link', { name: 'Devboxes', exact: true }).first().evaluate(outlineOf)).toBe('solid 2px')
  await page.getByRole('button', { name: 'Export', exact: true }).focus()
  await page.keyboard.press('Enter')
  await page.keyboard.press('ArrowDown')
  await expect(page.getByRole('menuitem').first()).toBeVisible()
  expect(await page.evaluate(() => document.activeElement?.getAttribute('role'))).toBe('menuitem')
  expect(await page.evaluate(() => getComputedStyle(document.activeElement ?? document.body).outlineStyle)).toBe(
    'solid',
  )
  await page.keyboard.press('Escape')
  await expect(page.getByRole('menu')).toHaveCount(0)
})
