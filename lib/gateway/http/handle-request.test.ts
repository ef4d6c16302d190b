import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { startService, type TestService } from '#lib/service/testing/service.ts'
import { startConsole, type TestConsole } from '../testing.ts'
import { HttpError, handleRequest } from './handle-request.ts'

let service: TestService
let gateway: TestConsole
beforeAll(async () => {
  service = await startService()
  gateway = await startConsole(service)
})
afterAll(async () => {
  await gateway.close()
  await service.close()
})

it('maps an error that another bundled copy of the module has thrown', async () => {
  vi.resetModules()
  const copy = await import('./handle-request.ts')
  expect(copy.HttpError).not.toBe(HttpError)
  const answer = await handleRequest(new Request('http://console/api/demo'), async () => {
    throw new copy.HttpError('conflict', 'The account already has demo data', { headers: { 'x-of': 'copy' } })
  })
  expect([answer.status, answer.headers.get('x-of')]).toEqual([409, 'copy'])
  expect(await answer.json()).toMatchObject({ code: 'conflict', message: 'The account already has demo data' })
})
