import { once } from 'node:events'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { WebSocket } from 'ws'
import { terminalClose } from '#lib/protocol/terminals.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'
import { TestNetwork } from '#lib/terminal/page/testing.ts'
import { startConsole, type TestConsole } from '../testing.ts'
import { terminals } from './registry.ts'
import { TestPage, until } from './testing.ts'

let service: TestService
const network = new TestNetwork(() => service.url)
let gateway: TestConsole
let cookie: string
let devboxId: string
const pages: TestPage[] = []
const consoles: TestConsole[] = []
beforeAll(async () => {
  vi.spyOn(console, 'log').mockReturnValue(undefined)
  const url = await network.listen()
  service = await startService({ allowHosts: [new URL(url).host] })
  gateway = await startConsole({ url })
  cookie = await gateway.signIn(service.key)
  devboxId = (await service.client.devboxes.createAndAwaitRunning({ body: { name: 'terminals' } })).id
})
afterEach(async () => {
  network.mend()
  for (const page of pages.splice(0)) page.socket.terminate()
  for (const each of consoles.splice(0).reverse()) await each.close()
})
afterAll(async () => {
  await gateway.close()
  network.close()
  await service.close()
})

interface Query {
  client?: string
  since?: number
  epoch?: string
  scrollback?: number
  role?: 'watch'
  ack?: '1'
  cols?: number
  rows?: number
}

const at = (name: string, { cols = 80, rows = 24, ...query }: Query = {}, to = gateway, own = cookie) => {
  const search = new URLSearchParams({ cols: String(cols), rows: String(rows) })
  for (const [key, value] of Object.entries(query)) search.set(key, String(value))
  const page = new TestPage(to, `/api/terminals/${devboxId}/${name}?${search}`, {
    cookie: own,
    acks: query.ack === '1',
  })
  pages.push(page)
  return page
}
const open = async (name: string, query: Query = {}, to = gateway, own = cookie) => {
  const page = at(name, query, to, own)
  await page.told({ t: 'people' })
  return page
}
const another = async (overrides: Parameters<typeof startConsole>[1] = {}) => {
  const own = await startConsole({ url: service.url }, overrides)
  consoles.push(own)
  return own
}
const stop = async (console: TestConsole) => {
  consoles.splice(consoles.indexOf(console), 1)
  await console.close()
}
const run = async (page: TestPage, line: string) => {
  await page.shows(/[$#] /)
  page.type(`${line}\n`)
}
/** Prints n1, n2, … until a key is pressed. */
const numbers =
  "stty -echo; echo b''egin; i=0; until read -rsn1 -t 0.01; do for ((j=0;j<50;j++)); do echo n$((++i)); done; done; echo e''nd"
const endNumbers = (page: TestPage) =>
  vi.waitFor(
    () => {
      // Typed repeatedly: bash drops a key that arrives as its timeout ends.
      page.type('x')
      expect(page.shown.includes('end\r\n')).toBe(true)
    },
    { timeout: 120_000, interval: 100 },
  )
const expectNumbers = (printed: string) => {
  const lines = printed
    .slice(printed.indexOf('begin') + 5, printed.indexOf('end'))
    .trim()
    .split('\r\n')
  expect(lines.length).toBeGreaterThan(100)
  expect(lines).toEqual(lines.map((_, i) => `n${i + 1}`))
}
const lastPrinted = async (name: string): Promise<string> => {
  const { connect_url } = await service.client.terminals.connect({ params: { session_name: `${devboxId}-${name}` } })
  const socket = new WebSocket(service.url.replace('http', 'ws') + connect_url, [])
  const [data] = await once(socket, 'message')
  socket.close()
  await once(socket, 'close')
  return String(data)
}
const execute = (command: string) =>
  service.client.executions.executeSync({ params: { id: devboxId }, body: { command } })
const textOf = (page: TestPage) => Buffer.concat(page.printed).toString()

describe('a returning page', () => {
  it('replaces its own previous connection and keeps its role', async () => {
    const before = await open('again', { client: 'tab-1' })
    const watcher = await open('again', { client: 'tab-2' })
    const after = await open('again', { client: 'tab-1' })
    expect((await before.closed).code).toBe(terminalClose.takenOver)
    expect(after.last('ready')?.role).toBe('writer')
    expect(after.last('people')?.viewers).toHaveLength(2)
    await run(after, 'echo still-$((1+1))')
    await watcher.shows('still-2')
  })
})

describe('a lost connection to the service', () => {
  it('loses and repeats nothing in thirty reconnects during output', async () => {
    const page = await open('cuts', { ack: '1' })
    await run(page, numbers)
    await page.shows('begin')
    for (let cuts = 0; cuts < 30; cuts++) {
      const { offset } = page
      await until(() => expect(page.offset).toBeGreaterThan(offset))
      network.cut()
    }
    await endNumbers(page)
    expectNumbers(textOf(page))
    expect(page.notices.filter(({ t }) => t === 'ready')).toHaveLength(1)
    await page.told({ t: 'state', upstream: 'retrying' })
  })

  it('is reported, and input typed meanwhile is reported as dropped', async () => {
    const page = await open('away')
    await page.shows(/[$#] /)
    network.break()
    await page.told({ t: 'state', upstream: 'retrying' })
    page.type('echo lost\n')
    page.type('echo lost\n')
    await page.told({ t: 'dropped', from: 0, to: 10, may_have_arrived: false })
    await page.told({ t: 'dropped', from: 10, to: 20, may_have_arrived: false })
    page.ask({ t: 'signal', signal: 'SIGINT' })
    await page.told({ t: 'problem', code: 'unavailable' })
    network.mend()
    await until(() => expect(page.last('state')?.upstream).toBe('live'))
    page.type('echo back-$((1+1))\n')
    await page.shows('back-2')
    expect(page.shown).not.toContain('lost')
  })

  it('is re-established after a restart of the service, with a new shell', async () => {
    const page = await open('anew')
    await run(page, 'echo old-$((1+1))')
    await page.shows('old-2')
    network.break()
    await service.restart()
    await service.client.devboxes.waitForStatus({
      params: { id: devboxId },
      body: { statuses: ['running'] },
    })
    page.notices.length = 0
    network.mend()
    await page.told({ t: 'ready', created: true, has_last_shell: true })
    await run(page, 'echo new-$((1+1))')
    await page.shows('new-2')
  })

  it('ends when another console takes over, which continues where the page was', async () => {
    const first = await another()
    const page = await open('restart', { ack: '1' }, first, await first.signIn(service.key))
    await run(page, numbers)
    await page.shows('n200')
    await stop(first)
    expect((await page.closed).code).toBe(terminalClose.consoleRestarting)
    const { epoch, offset } = page
    const second = await another()
    const back = await open('restart', { ack: '1', epoch, since: offset }, second, await second.signIn(service.key))
    expect(back.last('ready')).toMatchObject({ created: false, from: 'since', offset })
    await endNumbers(back)
    expectNumbers(textOf(page) + textOf(back))
  })
})

describe('an unwatched terminal', () => {
  it('is left to the service after a while, and resumed where it was', async () => {
    const own = await another({ terminalGraceMs: 20 })
    const ownCookie = await own.signIn(service.key)
    const page = await open('rest', { ack: '1' }, own, ownCookie)
    await run(page, 'until [ -e ~/left ]; do sleep 0.05; done; echo in-between-$((1+1))')
    await page.shows('in-between')
    await page.leave()
    const [session] = terminals(own.registry).values()
    let ttlSeconds = 0
    await until(async () => {
      const { attached, idle_ttl_seconds = 0 } = await service.client.terminals.connect({
        params: { session_name: `${devboxId}-rest` },
      })
      expect(attached).toBe(false)
      ttlSeconds = idle_ttl_seconds
    })
    expect(session?.held.ends_at_ms).toBeLessThanOrEqual(Date.now() + 20 + ttlSeconds * 1000)
    const { epoch, offset } = page
    await execute('touch ~/left')
    await until(async () => expect(await lastPrinted('rest')).toContain('in-between-2'))
    const back = await open('rest', { ack: '1', epoch, since: offset }, own, ownCookie)
    await back.shows('in-between-2')
    expect(back.last('ready')).toMatchObject({ created: false, from: 'since', offset })
    expect([...terminals(own.registry).values()]).toEqual([session])
    await run(back, 'echo again-$((1+1))')
    await back.shows('again-2')
  })
})

describe('output faster than the page reads', () => {
  it('is replaced by a snapshot and blocks neither shell nor writer', async () => {
    const writer = await open('flood', { ack: '1' })
    const slow = await open('flood', { ack: '1', role: 'watch' })
    slow.stopReading()
    await run(writer, 'yes 0123456789 | head -c 4000000; echo fini""shed')
    await writer.shows('finished')
    expect(slow.unread).toBeLessThan(600_000)
    expect(slow.shown).not.toContain('finished')
    slow.read()
    await slow.shows('finished')
    await until(() => expect(slow.offset).toBe(writer.offset))
    expect(slow.peakUnread).toBeLessThan(1_200_000)
    expect(writer.peakUnread).toBeLessThan(1_200_000)
  })

  it('is sent completely to a page that keeps up', async () => {
    const page = await open('keeps-up', { ack: '1' })
    await run(page, 'burst() { yes 0123456789 | head -c 200000; echo "burst $1 is do""ne"; }')
    const snapshots = () => page.notices.filter(({ t }) => t === 'snap').length
    const before = snapshots()
    for (let burst = 1; burst <= 20; burst++) {
      page.type(`burst ${burst}\n`)
      await page.shows(`burst ${burst} is done`)
    }
    expect(page.offset).toBeGreaterThan(20 * 200_000)
    expect(snapshots()).toBe(before)
  })

  it('does not delay Ctrl-C', async () => {
    const page = await open('interrupt', { ack: '1' })
    await run(page, 'yes')
    await page.shows(/y\r\ny\r\n/)
    page.stopReading()
    // Pages with this much unread output are paused.
    await until(() => expect(page.unread).toBeGreaterThan(128 * 1024))
    page.type('\u0003')
    page.type('echo free-$((3+3))\n')
    page.read()
    await page.shows('free-6')
  })

  it("is shown to its end before the shell's exit is reported", async () => {
    const page = await open('last', { ack: '1' })
    await page.shows(/[$#] /)
    page.stopReading()
    page.type('yes | head -c 3000000; echo last words; exit 7\n')
    const { code, reason } = await page.closed
    expect(code).toBe(terminalClose.shellEnded)
    expect(reason).toContain('ended with 7')
    expect(page.notices.at(-1)).toMatchObject({ t: 'exit', code: 7 })
    expect(page.shown).toMatch(/last words\r\n/)
  })
})

describe('several pages', () => {
  it('have one writer; the others watch and may take over', async () => {
    const first = await open('roles')
    const second = await open('roles')
    expect(first.last('people')).toMatchObject({ role: 'writer', viewers: [{}, {}] })
    expect(second.last('people')).toMatchObject({ role: 'watcher', writer: { id: first.last('people')?.you } })
    second.type('echo never\n')
    second.ask({ t: 'close' })
    await second.told({ t: 'problem', code: 'conflict' })
    second.ask({ t: 'takeover' })
    await first.told({ t: 'taken', by: expect.objectContaining({ id: second.last('people')?.you }) })
    await until(() => expect(first.last('people')?.role).toBe('watcher'))
    first.type('echo never\n')
    await run(second, 'echo mine-$((1+1))')
    await first.shows('mine-2')
    expect(second.shown).not.toContain('never')
    await second.leave()
    await until(() => expect(first.last('people')).toMatchObject({ writer: null, viewers: [{}] }))
  })

  it('keep the role of a disconnected writer, except for a new page', async () => {
    const writer = await open('kept', { client: 'w' })
    const watcher = await open('kept', { client: 'x' })
    await writer.vanish()
    await until(() => expect(watcher.last('people')?.writer).toBeNull())
    const back = await open('kept', { client: 'x' })
    expect(back.last('people')?.role).toBe('watcher')
    const writerBack = await open('kept', { client: 'w' })
    expect(writerBack.last('people')?.role).toBe('writer')
    await writerBack.vanish()
    await until(() => expect(back.last('people')?.writer).toBeNull())
    const fresh = await open('kept', { client: 'y' })
    expect(fresh.last('people')?.role).toBe('writer')
    expect((await open('kept', { client: 'w' })).last('people')?.role).toBe('watcher')
  })

  it("use the writer's size", async () => {
    const writer = await open('sizes', { cols: 90, rows: 20 })
    const watcher = await open('sizes', { cols: 120, rows: 40 })
    expect(watcher.last('ready')).toMatchObject({ cols: 90, rows: 20 })
    watcher.ask({ t: 'resize', cols: 30, rows: 10 })
    for (let cols = 50; cols <= 77; cols++) writer.ask({ t: 'resize', cols, rows: 21 })
    await until(() => expect(watcher.last('size')).toMatchObject({ cols: 77, rows: 21 }))
    expect(writer.last('size')).toBeUndefined()
    await run(writer, 'stty size')
    await watcher.shows('21 77')
    watcher.ask({ t: 'takeover' })
    // A watcher's window size applies once it becomes the writer.
    await until(() => expect(writer.last('size')).toMatchObject({ cols: 30, rows: 10 }))
    const late = await open('sizes', { role: 'watch' })
    expect(late.last('snap')).toMatchObject({ cols: 30, rows: 10 })
  })
})

describe("a program's query", () => {
  const ask = `IFS= read -rsd R -t 30 -p $'\\e[6n' a; IFS= read -rsn 1 -t 0.3 b; echo "got \${#a} and \${#b}"`

  it.each([0, 1, 3])('is answered once with %i pages open', async (count) => {
    const page = await open(`asks-${count}`)
    for (let i = 1; i < count; i++) await open(`asks-${count}`)
    await run(page, count === 0 ? `until [ -e ~/asks ]; do sleep 0.05; done; ${ask}` : ask)
    if (count === 0) {
      await page.leave()
      await execute('touch ~/asks')
    }
    const later = count === 0 ? await open(`asks-${count}`) : page
    await later.shows(/got \d and 0/)
    expect(later.shown).not.toContain('got 0')
  })

  it('is not answered again during a replay', async () => {
    const before = await another()
    const page = await open('replayed', {}, before, await before.signIn(service.key))
    await run(page, ask)
    await page.shows(/got \d and 0/)
    await stop(before)
    const after = await another()
    const back = await open('replayed', {}, after, await after.signIn(service.key))
    await back.shows('got')
    await run(back, 'echo clean-$((1+1))')
    await back.shows('clean-2')
    expect(back.shown).not.toMatch(/\d+;\d+R/)
  })
})

describe('a misbehaving page', () => {
  it('gets error messages and does not affect others', async () => {
    const page = await open('hostile', { ack: '1' })
    for (const request of [
      'null',
      '[]',
      '"resize"',
      '{',
      '{"t":"__proto__"}',
      '{"t":"resize","cols":1e9,"rows":24}',
      '{"t":"resize","cols":"80","rows":24}',
      '{"t":"resize","cols":-1,"rows":24}',
      '{"t":"ack","n":-5}',
      '{"t":"ack","n":1e300}',
      '{"t":"signal","signal":"SIGSTOP; rm"}',
      '{"t":"record","on":"yes"}',
      `{"t":"${'x'.repeat(100_000)}"}`,
    ]) {
      page.notices.length = 0
      page.socket.send(request)
      await page.told({ t: 'problem', code: 'invalid_argument' })
    }
    page.ask({ t: 'ack', n: Number.MAX_SAFE_INTEGER })
    page.ask({ t: 'ping', id: 5 })
    await page.told({ t: 'pong', id: 5 })
    await run(page, 'echo alive-$((1+1))')
    await page.shows('alive-2')
  })

  it('gains nothing by acknowledging too much', async () => {
    const page = await open('ahead', { ack: '1' })
    page.ask({ t: 'ack', n: Number.MAX_SAFE_INTEGER })
    page.ask({ t: 'ping', id: 1 })
    await page.told({ t: 'pong', id: 1 })
    page.stopReading()
    await run(page, 'yes | head -c 4000000; touch ~/ahead')
    await until(async () => expect((await execute('ls ~')).stdout).toContain('ahead'))
    expect(page.unread).toBeLessThan(1_200_000)
  })

  it('cannot send an oversized frame', async () => {
    const page = await open('large')
    page.socket.send(Buffer.alloc(1024 * 1024 + 1), { binary: true })
    expect((await page.closed).code).toBe(1009)
  })
})
