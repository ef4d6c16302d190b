import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startService, type TestService } from '#lib/service/testing/service.ts'
import { startConsole, type TestConsole } from '../testing.ts'

let service: TestService
let gateway: TestConsole
let own: string
let other: string

beforeAll(async () => {
  service = await startService({ isolation: 'none' })
  const operatorToken = () => readFileSync(join(service.dataDir, 'operator-token'), 'utf8').trim()
  gateway = await startConsole({ url: service.url, ownKey: service.key, operatorToken })
  own = await gateway.signIn(service.key)
  other = await gateway.signIn(service.otherKey)
})
afterAll(async () => {
  await gateway.close()
  await service.close()
})

const drain = (cookie: string) =>
  gateway.ask(cookie, 'POST', '/api/cluster/nodes/node-2/drain', { deadline_seconds: 60 })

it('reports that the service has no cluster, and who may drain nodes', async () => {
  const [mine, theirs] = await Promise.all([own, other].map((cookie) => gateway.ask(cookie, 'GET', '/api/cluster')))
  expect(mine?.body).toEqual({ cluster: null, operator_refusal: null })
  expect(theirs?.body).toEqual({ cluster: null, operator_refusal: "Only the service's own account can drain nodes" })
})

it("drains nodes with the operator token for the service's own account only, and records it", async () => {
  // The service knows no such node, but it accepts the token.
  expect(await drain(own)).toMatchObject({ status: 404, body: { message: 'This service has no cluster' } })
  expect(await drain(other)).toMatchObject({ status: 403 })
  const activate = await gateway.ask(other, 'POST', '/api/cluster/nodes/node-2/activate')
  expect(activate.status).toBe(403)
  const { body } = await gateway.ask(own, 'GET', '/api/activity?search=node-2')
  expect(body.activities).toMatchObject([{ operation: 'cluster.drainNode', subject: 'node-2', status: 404 }])
})
