import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { terminalClose } from '#lib/protocol/terminals.ts'
import type { TestService } from '#lib/service/testing/service.ts'
import { endStreams } from '../accounts/open-streams.ts'
import type { TestConsole } from '../testing.ts'
import { ptyBaseUrl } from '../upstream/client.ts'
import { startTerminals, TestPage } from './testing.ts'

let service: TestService
let gateway: TestConsole
let cookie: string
let devboxId: string
beforeAll(async () => {
  ;({ service, gateway, cookie, devboxId } = await startTerminals())
})
afterAll(async () => {
  await gateway.close()
  await service.close()
})

class Page extends TestPage {
  constructor(path: string, headers: Record<string, string> = {}) {
    super(gateway, path, { headers: { cookie, ...headers } })
  }
}
const terminal = (name: string, query = '?cols=91&rows=29') => new Page(`/api/terminals/${devboxId}/${name}${query}`)
const opened = async (name: string) => {
  const page = terminal(name)
  await page.told({ t: 'ready' })
  return page
}

describe('a terminal', () => {
  it('sends ready before any output, and runs input at the requested size', async () => {
    const page = terminal('echo')
    await page.told({ t: 'ready', created: true, cols: 91, rows: 29 })
    page.type('echo $((6*7)); stty size\n')
    await page.shows(/42\r\n29 91\r\n/)
    expect(page.notices[0]?.t).toBe('ready')
    await page.leave()
  })

  it('keeps input typed before the shell exists', async () => {
    const page = terminal('eager')
    await once(page.socket, 'open')
    page.type('echo early-$((1+1))\n')
    await page.shows('early-2')
    await page.leave()
  })

  it('ends its shell on request', async () => {
    const page = await opened('closed')
    page.ask({ t: 'close' })
    expect((await page.closed).code).toBe(terminalClose.shellEnded)
    const next = terminal('closed')
    await next.told({ t: 'ready', created: true })
    await next.leave()
  })
})

describe('a terminal is unavailable', () => {
  it('for an unknown devbox', async () => {
    const page = new Page('/api/terminals/dbx_none/main')
    expect((await page.closed).code).toBe(terminalClose.devboxNotFound)
    expect(page.notices).toMatchObject([{ t: 'problem', code: 'not_found' }])
  })

  it('for a devbox of another account', async () => {
    const page = new Page(`/api/terminals/${devboxId}/main`, { cookie: await gateway.signIn(service.otherKey) })
    expect((await page.closed).code).toBe(terminalClose.devboxNotFound)
  })

  it('for a devbox that is not running, before and after it ran', async () => {
    const { id } = await service.client.devboxes.createAndAwaitRunning({ body: { name: 'sleeper' } })
    const open = new Page(`/api/terminals/${id}/main`)
    await open.told({ t: 'ready' })
    await service.client.devboxes.suspend({ params: { id } })
    expect((await open.closed).code).toBe(terminalClose.devboxNotRunning)
    const late = new Page(`/api/terminals/${id}/main`)
    expect((await late.closed).code).toBe(terminalClose.devboxNotRunning)
    await service.client.devboxes.shutdown({ params: { id } })
  })

  it.each([
    ['a size out of range', '/api/terminals/dbx_1/main?cols=1001&rows=24'],
    ['a name of forbidden characters', '/api/terminals/dbx_1/a%2fb'],
    ['a devbox id of forbidden characters', '/api/terminals/..%2f/main'],
    ['a name that is too long', `/api/terminals/dbx_1/${'a'.repeat(256)}`],
  ])('is asked for with %s', async (_, path) => {
    expect((await new Page(path).refused()).status).toBe(400)
  })

  it('after the session signs out', async () => {
    const own = await gateway.signIn(service.key)
    const page = new Page(`/api/terminals/${devboxId}/signed-out`, { cookie: own })
    await page.told({ t: 'ready' })
    await gateway.fetch('/api/session', { method: 'DELETE', cookie: own })
    expect((await page.closed).code).toBe(terminalClose.signedOut)
    const replayed = new Page(`/api/terminals/${devboxId}/signed-out`, { cookie: own })
    expect((await replayed.refused()).status).toBe(401)
  })
})

describe('terminal addresses', () => {
  it("use the service's own address, or the tunnel host of a hosted service", () => {
    expect(ptyBaseUrl('http://127.0.0.1:4500', 'k')).toBe('http://127.0.0.1:4500')
    expect(ptyBaseUrl('https://devdeck.example.com', 'k')).toBe('https://devdeck.example.com')
    expect(ptyBaseUrl('https://api.example.com', 'k3y')).toBe('https://13-k3y.tunnel.example.com')
  })

  it('cannot be redirected by a tunnel key', () => {
    for (const key of ['evil.example/', 'a.b', 'a@b', '', 'a:1', '-a'])
      expect(() => ptyBaseUrl('https://api.example.com', key), key).toThrow('not a valid host name')
  })
})

it('are refused while the console shuts down', async () => {
  endStreams('restarting')
  expect((await terminal('late').closed).code).toBe(terminalClose.consoleRestarting)
})
