import { expect, it, onTestFinished } from 'vitest'
import { startService } from '#lib/service/testing/service.ts'
import { keyCall, resourceLabel } from './key-call.ts'

const dayMs = 24 * 60 * 60 * 1000

it('writes requests that the service accepts', async () => {
  const service = await startService({ isolation: 'none' })
  onTestFinished(() => service.close())
  const nowMs = Date.now()
  const access = { RESOURCE_TYPE_DEVBOXES: 'ACCESS_LEVEL_READ', RESOURCE_TYPE_AGENTS: 'ACCESS_LEVEL_NONE' } as const
  const full = keyCall({ name: 'ci', days: 7, access: null, nowMs })
  const restricted = keyCall({ name: '', days: 0, access, nowMs })
  for (const { path, body } of [full, restricted]) expect((await service.post(path, body)).status).toBe(200)
  expect(full.body.expires_at_ms).toBeGreaterThanOrEqual(nowMs + 7 * dayMs)
  expect(restricted.body).toEqual({
    scopes: [{ resource_type: 'RESOURCE_TYPE_DEVBOXES', access_level: 'ACCESS_LEVEL_READ' }],
  })
  expect(resourceLabel('RESOURCE_TYPE_DEVBOXES')).toBe('Devboxes')
})
