import { afterAll, expect, it } from 'vitest'
import { hostedOnly } from '#lib/contract/hosted-only.ts'
import { startService } from '#lib/service/testing/service.ts'

const service = await startService()
afterAll(() => service.close())

it.each(Object.values(hostedOnly))('$method $path returns 501 with an alternative', async ({ method, path }) => {
  const response = await service.fetch(path.replace(':id', 'some_id'), { method })
  expect(response.status).toBe(501)
  expect(response.headers.get('x-should-retry')).toBe('false')
  expect(await response.json()).toMatchObject({
    code: 'not_implemented',
    message: expect.stringMatching(/^This service .*; /),
  })
})
