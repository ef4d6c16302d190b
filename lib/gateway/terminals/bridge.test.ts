import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { terminalClose } from '#lib/protocol/terminals.ts'
import type { TestService } from '#lib/service/testing/service.ts'
import { endStreams } from '../accounts/open-streams.ts'
import type { TestConsole } from '../testing.ts'
import { ptyBaseUrl } from '../upstream/client.ts'
import { startTerminals, TestPage, until } from './testing.ts'

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
    expect(page.order[0]).toBe('ready')
    await page.leave()
  })

  it('keeps input typed before the shell exists', async () => {
    const page = terminal('eager')
    await once(page.socket, 'open')
    page.type('echo early-$((1+1))\n')
    await page.shows('early-2')
    await page.leave()
  })

  it('passes bytes through unchanged in both directions', async () => {
    const page = await opened('bytes')
    const received: Buffer[] = []
    page.socket.on('message', (data, isBinary) => isBinary && received.push(data as Buffer))
    page.type("stty raw -echo; echo r''aw; head -c 5 | od -An -tx1; printf '\\xff\\x00\\xfe'\n")
    await page.shows('raw')
    page.type('\u0000\u001b[é')
    await page.shows('00 1b 5b c3 a9')
    const end = Buffer.from([0xff, 0x00, 0xfe])
    await until(() => expect(Buffer.concat(received).includes(end)).toBe(true))
    await page.leave()
  })

  it('resizes the shell to the last requested size', async () => {
    const page = await opened('sizes')
    for (let cols = 40; cols <= 77; cols++) page.ask({ t: 'resize', cols, rows: 20 })
    page.type(`until [ "$(stty size)" = '20 77' ]; do sleep 0.05; done; echo si''zed\n`)
    await page.shows('sized')
    page.ask({ t: 'resize', cols: 0, rows: 20 })
    await page.told({ t: 'problem', code: 'invalid_argument' })
    page.socket.send('not json')
    page.type('echo still-$((2+2))\n')
    await page.shows('still-4')
    await page.leave()
  })

  it('returns to the same shell after the page reconnects', async () => {
    const before = await opened('stays')
    before.type('stays=here$((40+2))\n')
    before.type('echo $stays\n')
    await before.shows('here42')
    await before.leave()
    const after = terminal('stays')
    await after.told({ t: 'ready', created: false })
    after.type('echo again-$stays\n')
    await after.shows('again-here42')
    await after.leave()
  })

  it('reports the end of its shell', async () => {
    const page = await opened('ends')
    page.type('exit\n')
    expect((await page.closed).code).toBe(terminalClose.shellEnded)
    expect(page.notices.at(-1)?.t).toBe('exit')
  })

  it('ends its shell on request', async () => {
    const page = await opened('closed')
    page.ask({ t: 'close' })
    expect((await page.closed).code).toBe(terminalClose.shellEnded)
    const next = terminal('closed')
    await next.told({ t: 'ready', created: true })
    await next.leave()
  })

  it('lets the first page write and the others watch', async () => {
    const first = await opened('shared')
    first.type('mine=1\n')
    const second = terminal('shared')
    await second.told({ t: 'ready', created: false, role: 'watcher' })
    second.type('mine=2\n')
    second.ask({ t: 'takeover' })
    await first.told({ t: 'taken' })
    second.type('echo taken-$mine\n')
    await second.shows('taken-1')
    await first.shows('taken-1')
    await first.leave()
    await second.leave()
  })

  it('keeps serving other pages while one stops reading, and accepts its Ctrl-C', async () => {
    const page = await opened('flood')
    page.socket.pause()
    page.type('yes devdeck\n')
    const watcher = await opened('flood')
    await until(() => expect(watcher.offset).toBeGreaterThan(8 * 1024 * 1024))
    page.type('\u0003echo free-$((3+3))\n')
    page.socket.resume()
    await page.shows('free-6')
    await page.leave()
    await watcher.leave()
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
