import Runloop from '@runloop/api-client'
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

it('suggests an alternative to the public client without retries', async () => {
  const client = new Runloop({ bearerToken: service.key, baseURL: service.url })
  const id = 'some_id'
  const gateway = { gateway: 'g', secret: 's' }
  for (const [call, text] of [
    [() => client.devboxes.createSSHKey(id), 'open a terminal'],
    [() => client.devboxes.createGatewayToken(id, gateway), 'as a secret'],
    [() => client.devboxes.createMcpToken(id, { mcp_config: 'm', secret: 's' }), 'as a secret'],
    [() => client.apikeys.create(), 'keys add'],
    [() => client.restrictedKeys.create(), 'keys add'],
    [() => client.blueprints.create({ name: 'b' }), 'take a snapshot'],
    [() => client.blueprints.listPublic(), 'take a snapshot'],
    [() => client.blueprints.preview({ name: 'b' }), 'take a snapshot'],
    [() => client.agents.devboxCounts(), 'launch_commands'],
    [() => client.agents.listPublic(), 'launch_commands'],
    [() => client.objects.create({ name: 'o', content_type: 'text' }), 'upload files'],
    [() => client.objects.listPublic(), 'upload files'],
    [() => client.gatewayConfigs.list(), 'as a secret'],
    [() => client.mcpConfigs.retrieve(id), 'as a secret'],
  ] as const) {
    await expect(call()).rejects.toMatchObject({ status: 501, message: expect.stringContaining(text) })
  }
})
