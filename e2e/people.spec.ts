import type { Browser, Page } from '@playwright/test'
import { makeRolesFile } from '#lib/gateway/people/testing.ts'
import type { Role } from '#lib/protocol/roles.ts'
import { expect, isLive, test } from './product.ts'
import { type SignOnProduct, startSignOnProduct } from './sign-on-product.ts'
import { screenText, untilPrompt } from './terminal-page.ts'

const people = {
  ann: { email: 'ann@example.com', email_verified: true, groups: ['team', 'platform'] },
  vic: { email: 'vic@example.com', email_verified: true, groups: ['team', 'visitors'] },
}
const rulesWith = (visitors: Role) => ({
  claim: 'groups',
  default: null,
  rules: [
    { group: 'platform', role: 'operator' },
    { group: 'visitors', role: visitors },
  ],
})
const roles = makeRolesFile(rulesWith('viewer'))

let product: SignOnProduct
test.beforeAll(async () => {
  product = await startSignOnProduct(
    people,
    (serviceKey) => [{ claim: 'groups', value: 'team', api_key: serviceKey }],
    { DEVDECK_ROLES: roles.file, DEVDECK_SIGN_IN: 'sso' },
  )
})
test.afterAll(async () => {
  await product.stop()
  roles.remove()
})

const arrive = async (browser: Browser, person: keyof typeof people, path: string): Promise<Page> => {
  const page = await (await browser.newContext()).newPage()
  await page.goto(product.front.url + path)
  await expect(page.getByLabel('API key')).toHaveCount(0)
  await page.getByRole('link', { name: /^Sign in with/ }).click()
  await page.getByRole('link', { name: person }).click()
  await isLive(page)
  return page
}

test('a viewer follows a shell, becomes a member with new rules, and is signed out by an operator', async ({
  browser,
}) => {
  const { id } = await product.service.client.devboxes.createAndAwaitRunning({ body: { name: 'shared-box' } })
  const terminal = `/devboxes/${id}/terminal`
  const ann = await arrive(browser, 'ann', terminal)
  await untilPrompt(ann)
  await ann.keyboard.type('echo from-$((40 + 2)) | tee note.txt\n')

  const vic = await arrive(browser, 'vic', terminal)
  await expect.poll(() => screenText(vic)).toContain('from-42')
  await expect(vic.getByRole('button', { name: 'Take over' })).toHaveCount(0)
  await vic.keyboard.type('echo typed-$((1 + 1))\n')
  await ann.keyboard.type('echo again-$((40 + 3))\n')
  await expect.poll(() => screenText(vic)).toContain('again-43')
  expect(await screenText(ann)).not.toContain('typed')

  await vic.goto(`${product.front.url}/devboxes/${id}/files`)
  await vic.getByRole('row').filter({ hasText: 'note.txt' }).getByRole('link').click()
  await expect(vic.getByText('from-42')).toBeVisible()
  await expect(vic.getByRole('button', { name: /^Edit file/ })).toBeDisabled()

  await vic.goto(`${product.front.url}/devboxes`)
  await isLive(vic)
  const create = vic.getByRole('button', { name: /^Create devbox/ }).first()
  await expect(create).toBeDisabled()
  await expect(create).toHaveAccessibleName(/Viewers can't do this. Ask a member or an operator.$/)
  roles.write(rulesWith('member'))
  await expect(create).toBeEnabled()

  await ann.goto(`${product.front.url}/settings/sessions`)
  await ann.getByRole('button', { name: /^End session of vic@example.com/ }).click()
  await ann.getByRole('dialog', { name: 'End session?' }).getByRole('button', { name: 'End session' }).click()
  await expect(vic).toHaveURL(/\/sign-in/)
  await expect(ann.getByText('ann@example.com').first()).toBeVisible()
})
