import { expect, test } from './product.ts'

test.use({ journeys: 'addresses' })

test('an address that leads nowhere is a 404 with a way back', async ({ signedIn: page, product }) => {
  for (const path of [
    '/devboxes/dbx_unknown',
    '/axons/axn_unknown',
    '/devboxes/a%00',
    '/axons/..%5c',
    '/devboxes/%zz',
    '/axons/%c3%28',
    '/nowhere',
  ]) {
    const answer = await page.goto(product.url + path)
    expect(answer?.status(), path).toBe(404)
    await expect(page.getByRole('heading', { level: 1 }), path).toContainText(/^There is no/)
    await expect(page.getByRole('main').getByRole('link').first(), path).toBeVisible()
  }
})
