import { afterEach, expect, it } from 'vitest'
import type { ServiceSupport } from '#lib/protocol/support.ts'
import { startService } from '#lib/service/testing/service.ts'
import { startConsole, startServer } from '../testing.ts'

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

const consoleFor = async (url: string) => {
  const gateway = await startConsole({ url })
  closers.push(gateway.close)
  return gateway
}

/** A service with an account, devboxes and their logs. Unknown paths return 401, as on the hosted service. */
const startHosted = async () => {
  const requests: string[] = []
  const { url, close } = await startServer((request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://service')
    requests.push(pathname)
    const answer = (status: number, body: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    if (pathname === '/v1/accounts/me') return answer(200, { id: 'acc', name: 'Ada' })
    if (pathname === '/v1/devboxes') return answer(200, { devboxes: [], has_more: false })
    if (pathname === '/v1/devboxes/box~1') return answer(200, { id: 'box~1', status: 'running' })
    if (pathname === '/v1/devboxes/box~1/usage') return answer(404, { message: 'Not found' })
    if (pathname === '/v1/axons') return answer(503, { message: 'Down' })
    if (pathname.startsWith('/v1/devboxes/box~2')) return answer(404, { message: 'Not found' })
    if (pathname === '/v1/secrets') return answer(404, { message: 'Not found' })
    return answer(401, { message: 'Unauthorized' })
  })
  closers.push(close)
  return { url, requests }
}

it('learns from a Devdeck service what it lists', async () => {
  const service = await startService({ isolation: 'none' })
  closers.push(service.close)
  const gateway = await consoleFor(service.url)
  const cookie = await gateway.signIn(service.key)
  const { operations, parameters }: ServiceSupport = (await gateway.ask(cookie, 'GET', '/api/support')).body
  expect(operations).toMatchObject({
    'logs.tail': 'yes',
    'benchmarkJobs.import': 'yes',
    'hostedOnly.createSshKey': 'no',
    // Without isolation there is nothing to build in.
    'blueprints.create': 'no',
    'blueprints.list': 'yes',
  })
  expect(parameters['devboxes.list']).toContain('origin')
})

it('probes the lists of another service once, and takes a 401 for an accepted key as a missing operation', async () => {
  const hosted = await startHosted()
  const gateway = await consoleFor(hosted.url)
  const cookie = await gateway.signIn('ak_any')
  const { operations, parameters }: ServiceSupport = (await gateway.ask(cookie, 'GET', '/api/support')).body
  expect(operations).toMatchObject({
    'devboxes.list': 'yes',
    'secrets.list': 'no',
    'benchmarkJobs.list': 'no',
    'benchmarkJobs.import': 'no',
    'health.check': 'no',
  })
  expect(operations).not.toHaveProperty(['axons.list'])
  expect(operations).not.toHaveProperty(['logs.tail'])
  expect(parameters['devboxes.list']).not.toContain('origin')
  const probes = hosted.requests.length
  await gateway.ask(cookie, 'GET', '/api/support')
  expect(hosted.requests).toHaveLength(probes)
  await gateway.ask(cookie, 'POST', '/api/support')
  expect(hosted.requests.length).toBeGreaterThan(probes)
})

it('learns from the calls of pages', async () => {
  const hosted = await startHosted()
  const gateway = await consoleFor(hosted.url)
  const cookie = await gateway.signIn('ak_any')
  const operations = async () => (await gateway.ask(cookie, 'GET', '/api/support')).body.operations
  expect(await operations()).not.toHaveProperty(['devboxes.keepAlive'])
  // A 401 would sign the person out.
  expect(await gateway.ask(cookie, 'POST', '/api/v1/devboxes/box~1/keep_alive')).toMatchObject({
    status: 501,
    body: { code: 'not_implemented' },
  })
  expect(await operations()).toMatchObject({ 'devboxes.keepAlive': 'no' })
  await gateway.ask(cookie, 'GET', '/api/v1/devboxes/box~2/usage')
  expect(await operations()).not.toHaveProperty(['devboxes.usage'])
  // The devbox exists, so its usage is what is missing.
  await gateway.ask(cookie, 'GET', '/api/v1/devboxes/box~1/usage')
  await expect.poll(operations).toMatchObject({ 'devboxes.usage': 'no' })
})
