import { describe, expect, it } from 'vitest'
import { endpoints } from '#lib/contract/index.ts'
import { leastRole, type Operation, type Role, roleRefusal, roles } from '#lib/protocol/roles.ts'
import { operationRefusal } from './operation-refusals.tsx'

const writes = endpoints.filter(({ method }) => method !== 'GET')
const refusal = (id: string, role: Role | undefined, operations = {}) =>
  operationRefusal(id as Operation, { role, support: { operations } })

describe('the reason of a disabled control', () => {
  it.each(roles)("is that of the gateway for a %s, for every endpoint that isn't a GET", (role) => {
    for (const endpoint of writes)
      expect([endpoint.id, refusal(endpoint.id, role)]).toEqual([endpoint.id, roleRefusal(role, leastRole(endpoint))])
  })

  it('refuses all writes of a viewer', () => {
    const allowed = writes.filter(({ id }) => refusal(id, 'viewer') === null).map(({ id }) => id)
    expect(allowed).toEqual(writes.filter((each) => leastRole(each) === 'viewer').map(({ id }) => id))
    expect(allowed.length).toBeLessThan(writes.length / 4)
    expect(refusal('devboxes.create', 'viewer')).toBe("Viewers can't do this. Ask a member or an operator.")
    expect(refusal('secrets.create', 'member')).toBe("Members can't do this. Ask an operator.")
  })

  it('names the service first, which no other role would change', () => {
    const operations = { 'devboxes.create': 'no', 'axons.create': 'unknown' }
    expect(refusal('devboxes.create', 'viewer', operations)).toBe("This service doesn't offer this operation")
    expect(refusal('devboxes.create', 'operator', operations)).toBe("This service doesn't offer this operation")
    expect(refusal('axons.create', 'operator', operations)).toBeNull()
  })

  it("follows the console's routes", () => {
    expect(refusal('/api/shares', 'viewer')).toMatch(/^Viewers can't/)
    expect(refusal('/api/alerts/receivers', 'member')).toMatch(/^Members can't/)
    expect(refusal('/api/alerts', 'member')).toBeNull()
    expect(refusal('/api/personal-keys', 'viewer')).toBeNull()
  })

  it('waits for the role', () => {
    expect(refusal('devboxes.create', undefined)).toBeNull()
  })
})
