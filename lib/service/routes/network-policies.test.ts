import { afterAll, describe, expect, it } from 'vitest'
import type { NetworkPolicyCreate, NetworkPolicyUpdate } from '#lib/contract/network-policies.ts'
import { startService, statusOf } from '#lib/service/testing/service.ts'

const service = await startService({ isolation: 'none' })
afterAll(() => service.close())

const policies = () => service.client.networkPolicies
let last = 0
const create = (body: Partial<NetworkPolicyCreate> = {}) =>
  policies().create({ body: { name: `policy ${++last}`, ...body } })
const update = (id: string, body: NetworkPolicyUpdate) => policies().update({ params: { id }, body })

describe('network policies', () => {
  it('deny everything by default', async () => {
    const policy = await create({ name: 'closed' })
    expect(policy).toEqual({
      id: policy.id,
      name: 'closed',
      description: null,
      create_time_ms: policy.create_time_ms,
      update_time_ms: policy.create_time_ms,
      egress: {
        allow_all: false,
        allow_devbox_to_devbox: false,
        allow_agent_gateway: false,
        allow_mcp_gateway: false,
        allow_runloop_mirrors: false,
        allowed_hostnames: [],
        allowed_cidrs: [],
      },
    })
    expect(await policies().get({ params: { id: policy.id } })).toEqual(policy)
  })

  it('store their rules', async () => {
    const rules = {
      allow_mcp_gateway: true,
      allowed_hostnames: ['github.com', '*.npmjs.org', 'localhost'],
      allowed_cidrs: [
        { cidr: '10.12.0.0/16', ports: [{ port: 443 }, { port: 8000, end_port: 8080, protocol: 'TCP' as const }] },
        { cidr: '0.0.0.0/0' },
        { cidr: '192.168.1.7/32', ports: null },
      ],
    }
    expect((await create({ description: 'registry only', ...rules })).egress).toMatchObject(rules)
    expect((await create({ allow_all: true })).egress).toMatchObject({ allow_all: true, allow_devbox_to_devbox: true })
  })

  it.each([
    ['name', { name: '' }],
    ['name', { name: 'x'.repeat(257) }],
    ['allowed_hostnames', { allowed_hostnames: ['https://github.com'] }],
    ['allowed_hostnames', { allowed_hostnames: ['*'] }],
    ['allowed_hostnames', { allowed_hostnames: ['a.*.org'] }],
    ['allowed_hostnames', { allowed_hostnames: ['-a.org'] }],
    ['allowed_hostnames', { allowed_hostnames: Array(1001).fill('a.org') }],
    ['allowed_cidrs', { allowed_cidrs: [{ cidr: '10.0.0.1/8' }] }],
    ['allowed_cidrs', { allowed_cidrs: [{ cidr: '10.0.0.0/33' }] }],
    ['allowed_cidrs', { allowed_cidrs: [{ cidr: '256.0.0.0/8' }] }],
    ['allowed_cidrs', { allowed_cidrs: [{ cidr: '192.168.0.1' }] }],
    ['allowed_cidrs', { allowed_cidrs: [{ cidr: 'fe80::/10' }] }],
    ['allowed_cidrs', { allowed_cidrs: [{ cidr: '0.0.0.0/0', ports: [{ port: 0 }] }] }],
    ['allowed_cidrs', { allowed_cidrs: [{ cidr: '0.0.0.0/0', ports: [{ port: 80, end_port: 79 }] }] }],
  ])('reject %s of %j', async (field, body) => {
    await expect(create(body)).rejects.toMatchObject({ status: 400, field: expect.stringMatching(`^${field}`) })
  })

  it('update given fields and keep the rest', async () => {
    const policy = await create({
      description: 'old',
      allow_agent_gateway: true,
      allowed_hostnames: ['a.org', 'b.org'],
    })
    const updated = await update(policy.id, { allowed_hostnames: ['c.org'], description: null })
    expect(updated).toEqual({
      ...policy,
      update_time_ms: updated.update_time_ms,
      egress: { ...policy.egress, allowed_hostnames: ['c.org'] },
    })
    expect(updated.update_time_ms).toBeGreaterThanOrEqual(policy.update_time_ms)
    const cleared = await update(policy.id, { description: '', allowed_hostnames: [], allow_agent_gateway: false })
    expect(cleared).toMatchObject({ description: null, egress: { allowed_hostnames: [], allow_agent_gateway: false } })
    expect(await policies().get({ params: { id: policy.id } })).toEqual(cleared)
  })

  it('have unique names per account', async () => {
    const { id } = await create({ name: 'unique' })
    const response = await service.fetch('/v1/network-policies', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"name":"unique"}',
    })
    expect(response.status).toBe(409)
    expect(response.headers.get('x-should-retry')).toBe('false')
    const other = await create()
    await expect(update(other.id, { name: 'unique' })).rejects.toMatchObject({ status: 409, field: 'name' })
    expect((await update(id, { name: 'unique' })).name).toBe('unique')
    await service.otherClient.networkPolicies.create({ body: { name: 'unique' } })
  })

  it('are listed in pages by name and ID, newest first', async () => {
    const made: string[] = []
    for (const name of ['list one', 'list two', 'list three']) made.unshift((await create({ name })).id)
    const list = async (query: {
      name?: string
      search?: string
      id?: string
      limit?: number
      starting_after?: string
    }) => {
      const { network_policies, ...rest } = await policies().list({ query })
      return { ids: network_policies.map(({ id }) => id), ...rest }
    }
    expect(await list({ name: 'list ' })).toEqual({ ids: made, has_more: false, total_count: 3 })
    expect((await list({ search: made[1] ?? '' })).ids).toEqual([made[1]])
    expect((await list({ id: made[2] ?? '' })).ids).toEqual([made[2]])
    const first = await list({ name: 'list', limit: 2 })
    expect(first).toEqual({ ids: made.slice(0, 2), has_more: true, total_count: 3 })
    expect(await list({ name: 'list', limit: 2, starting_after: made[1] ?? '' })).toEqual({
      ids: made.slice(2),
      has_more: false,
      total_count: 3,
    })
    expect(await statusOf(list({ starting_after: 'npl_missing' }))).toBe(400)
  })

  it('cannot be deleted while a devbox uses them', async () => {
    const policy = await create({ allow_all: true })
    const params = { id: policy.id }
    const devbox = await service.client.devboxes.createAndAwaitRunning({
      body: { launch_parameters: { network_policy_id: policy.id } },
    })
    await expect(policies().delete({ params })).rejects.toMatchObject({
      status: 409,
      message: `Devbox ${devbox.id} uses the network policy. Shut it down first`,
    })
    await service.client.devboxes.shutdown({ params: { id: devbox.id } })
    expect(await policies().delete({ params })).toEqual(policy)
    expect(await statusOf(policies().delete({ params }))).toBe(404)
    expect(await statusOf(policies().get({ params }))).toBe(404)
  })
})
