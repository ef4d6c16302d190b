import { createHash } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { startConsole, type TestConsole } from '#lib/gateway/testing.ts'
import { startService, type TestService } from '#lib/service/testing/service.ts'
import { TestNetwork, TestPageTerminal } from './testing.ts'
import { noUnsentInput } from './typed-input.ts'

let service: TestService
let gateway: TestConsole
let upstream: TestNetwork
let upstreamUrl: string
let cookie: string
let devboxId: string
beforeAll(async () => {
  upstream = new TestNetwork(() => service.url)
  upstreamUrl = await upstream.listen()
  service = await startService({ allowHosts: [new URL(upstreamUrl).host] })
  gateway = await startConsole({ url: upstreamUrl })
  cookie = await gateway.signIn(service.key)
  devboxId = (await service.client.devboxes.createAndAwaitRunning({ body: { name: 'terminals' } })).id
})
afterAll(async () => {
  await gateway.close()
  upstream.close()
  await service.close()
})

const pages: TestPageTerminal[] = []
afterEach(() => {
  for (const page of pages.splice(0)) page.close()
})

type Options = Partial<ConstructorParameters<typeof TestPageTerminal>[0]> & { name: string }

const pageOf = (options: Options): TestPageTerminal => {
  const page = new TestPageTerminal({ console: () => gateway, cookie: () => cookie, devboxId, ...options })
  pages.push(page)
  return page
}
const open = async (options: Options): Promise<TestPageTerminal> => {
  const page = pageOf(options)
  await page.open()
  return page
}
/** Turns off prompt and echo. */
const plain = async (page: TestPageTerminal): Promise<TestPageTerminal> => {
  page.type('exec bash --norc --noprofile --noediting\r')
  await page.shows(/^bash-\S+\$/m)
  page.type("stty -echo; PS1=; clear; echo re''ady\r")
  await page.shows(/^ready/m)
  return page
}

describe('a terminal session', () => {
  it('reports too many viewers, and connects once one leaves', async () => {
    const crowd = await Promise.all(Array.from({ length: 32 }, () => open({ name: 'crowd' })))
    const page = pageOf({ name: 'crowd' })
    await page.listen()
    page.session.connect()
    await page.is('refused')
    expect(page.state).toMatchObject({
      connection: { code: 'too_many' },
      problem: 'This terminal is already open in 32 pages; close some',
    })
    crowd[0]?.close()
    await expect.poll(() => crowd[1]?.state.viewers).toHaveLength(31)
    page.session.connect()
    await page.is('open')
  })

  it('sends a long paste in pieces that arrive completely', async () => {
    const page = await plain(await open({ name: 'paste' }))
    page.type('echo go; cat > pasted; md5sum < pasted\r')
    await page.shows(/^go/m)
    const text = `${'0123456789'.repeat(300)}\n`.repeat(60)
    page.session.sendText(text)
    page.session.sendText('\x04')
    await page.shows(createHash('md5').update(text).digest('hex'))
  })

  it('leaves answers to queries to the console', async () => {
    const page = await plain(await open({ name: 'asked' }))
    page.type(
      "clear; stty raw; printf '\\e[c\\e[6n\\e[?25$p\\eP$qm\\e\\\\\\e]10;?\\e\\\\'; head -c 22 | cat -v; " +
        "printf '\\e[5n'; head -c 4 | cat -v; stty sane -echo; echo .\r",
    )
    await page.shows(/\.$/)
    expect(page.text).toBe('^[[?1;2c^[[1;1R^[[?25;1$y^[[0n.')
  })
})

describe('reconnecting', () => {
  it('loses and repeats no byte in thirty reconnects', async () => {
    const page = await plain(await open({ name: 'bytes' }))
    page.type('stty -onlcr; echo st""art\r')
    await page.shows('start')
    const before = page.hash.copy()
    const from = page.received.output
    const bursts = 31
    const text = Array.from({ length: bursts * 400 }, (_, line) => `line ${line} of the stream\n`).join('')
    page.type('i=0; while read -r; do for ((n = 0; n < 400; n++)); do echo "line $((i++)) of the stream"; done; done\r')
    // Each connection starts a burst and is lost halfway through.
    let connections = 1
    page.type('\r')
    page.screen.onWriteParsed(() => {
      if (connections < bursts && page.state.connection.phase === 'open') {
        connections++
        page.session.connect()
        page.type('\r')
      }
    })
    await page.until(() => page.received.output - from >= text.length)
    expect(connections).toBe(bursts)
    expect(page.received.output - from).toBe(text.length)
    expect(page.hash.digest('hex')).toBe(before.update(text).digest('hex'))
    expect(page.received.snapshots).toBe(1)
  })

  it('keeps the reading position when the screen is replaced', async () => {
    const page = await plain(await open({ name: 'reading' }))
    page.type('seq 1000 1300\r')
    await page.shows(/^1300/m)
    page.screen.scrollLines(-100)
    const before = page.window
    expect(before).not.toContain('1300')
    // The page comes back with nothing it could continue from.
    page.network.break()
    await page.is('lost')
    const other = await open({ name: 'reading', client: page.client })
    other.type('seq 2000 2400\r')
    await other.shows(/^2400/m)
    other.close()
    Object.assign(page.notices, { length: 0 })
    await gateway.close()
    const restarted = await startConsole({ url: upstreamUrl })
    cookie = await restarted.signIn(service.key)
    gateway = restarted
    page.network.mend()
    page.session.check()
    await page.is('open')
    await page.shows(/^2400/m)
    expect(page.window).toBe(before)
  })

  it('reports the time of the loss and the next attempt, and pauses while offline', async () => {
    const page = await open({ name: 'lost' })
    page.isOffline = true
    const before = Date.now()
    page.network.break()
    await page.is('lost')
    expect(page.state.connection).toMatchObject({ wasOpen: true, isOffline: true, retryAtMs: null })
    page.isOffline = false
    const tries = page.addresses.length
    page.session.check()
    await page.until(() => page.addresses.length === tries + 1)
    await page.until(() => 'retryAtMs' in page.state.connection && page.state.connection.retryAtMs !== null)
    const { connection } = page.state
    if (connection.phase !== 'lost') throw new Error('It is lost')
    expect(connection.sinceMs).toBeGreaterThanOrEqual(before)
    expect(connection.retryAtMs).toBeGreaterThan(before)
    page.network.mend()
    await page.is('open')
  })

  it('stops when the session has ended', async () => {
    const page = await open({ name: 'signed-out' })
    await gateway.fetch('/api/session', { method: 'DELETE', cookie })
    await page.is('refused')
    expect(page.state.connection).toEqual({ phase: 'refused', code: 'signed_out' })
    page.session.connect()
    await page.is('refused')
    cookie = await gateway.signIn(service.key)
  })
})

describe('input without a connection', () => {
  describe.each(['page and console', 'console and service'])('sent over a connection of %s that is lost', (between) => {
    const sent = async (name: string) => {
      const page = await open({ name })
      const line = between === 'page and console' ? page.network : upstream
      page.type('echo heard\r')
      await page.shows(/^heard\n.*\$$/m)
      return { page, line }
    }

    it('is offered if it did not arrive, before input typed later', async () => {
      const { page, line } = await sent(`lost-${between.length}`)
      line.stall()
      page.type('echo into the vo')
      page.type('id; ')
      line.break()
      await page.until(() => !page.session.isLive)
      page.type('echo twice-$((1+1))\r')
      line.mend()
      page.session.check()
      await page.until(() => page.session.isLive)
      await page.until(() => page.state.unsent.text.length > 24)
      expect(page.state.unsent).toEqual({ ...noUnsentInput, text: 'echo into the void; echo twice-$((1+1))\r' })
      page.session.sendUnsent()
      await page.shows(/^into the void\ntwice-2/m)
      expect(page.state.unsent).toEqual(noUnsentInput)
      expect(page.text.match(/^into the void/gm)).toHaveLength(1)
    })

    it('is not offered if only its confirmation was lost', async () => {
      const { page, line } = await sent(`arrived-${between.length}`)
      const other = between === 'page and console' ? await open({ name: `arrived-${between.length}` }) : undefined
      line.mute()
      page.type('echo o""nce; echo >>ran-$$\r')
      // The service received it: another page or the devbox shows it.
      if (other) await other.shows(/^once/m)
      else
        await vi.waitFor(
          async () => {
            const body = { command: 'cat ran-* | wc -l' }
            const { stdout } = await service.client.executions.executeSync({ params: { id: devboxId }, body })
            expect(stdout).toBe('1\n')
          },
          { timeout: 60_000, interval: 20 },
        )
      line.break()
      await page.until(() => !page.session.isLive)
      line.mend()
      page.session.check()
      await page.until(() => page.session.isLive)
      page.type('echo "runs: $(cat ran-$$ | wc -l)"; rm ran-$$\r')
      await page.shows(/^runs: 1$/m)
      expect(page.state.unsent).toEqual(noUnsentInput)
      expect(page.text.match(/^once/gm)).toHaveLength(1)
    })
  })

  it('is known not to have arrived after a restart of the console', async () => {
    const page = await open({ name: 'restarted' })
    page.type('echo heard\r')
    await page.shows(/^heard\n.*\$$/m)
    page.network.mute()
    page.type('echo unsure\r')
    await gateway.close()
    await page.is('lost')
    // A retry before the new sign-in would be refused.
    page.network.break()
    gateway = await startConsole({ url: upstreamUrl })
    cookie = await gateway.signIn(service.key)
    page.network.mend()
    page.session.check()
    await page.is('open')
    expect(page.state.unsent).toEqual({ ...noUnsentInput, text: 'echo unsure\r' })
  })

  it('is kept while the console has lost the service', async () => {
    const page = await open({ name: 'upstream' })
    page.type('echo before; kept=$$\r')
    await page.shows(/^before\n.*\$$/m)
    upstream.break()
    await page.until(() => page.state.upstreamLost !== null)
    expect(page.state.connection.phase).toBe('open')
    page.type('echo [$((kept - $$))]\r')
    expect(page.state.unsent.text).toBe('echo [$((kept - $$))]\r')
    page.session.sendUnsent()
    expect(page.state.unsent.text).not.toBe('')
    upstream.mend()
    await page.until(() => page.state.upstreamLost === null)
    page.session.sendUnsent()
    await page.shows(/^\[0\]/m)
  })

  it('excludes mouse and focus reports, and is limited in size', async () => {
    const page = await open({ name: 'reports' })
    page.network.break()
    await page.is('lost')
    for (const report of ['\x1b[I', '\x1b[O', '\x1b[<0;3;4M', '\x1b[<0;3;4m']) page.session.sendText(report)
    page.session.sendBinary('\x1b[M !!')
    expect(page.state.unsent.text).toBe('')
    page.type('x'.repeat(1000))
    page.type('y'.repeat(100))
    page.type('z')
    expect(page.state.unsent).toMatchObject({ text: 'x'.repeat(1000), isFull: true })
  })

  it('is marked if it was typed for another shell', async () => {
    const page = await open({ name: 'other-shell' })
    page.network.break()
    await page.is('lost')
    page.type('rm notes\r')
    const other = await open({ name: 'other-shell', client: page.client })
    other.type('exit\r')
    await other.is('ended')
    other.close()
    page.network.mend()
    page.session.check()
    await page.is('open')
    expect(page.state.unsent).toMatchObject({ text: 'rm notes\r', isForAnotherShell: true })
  })
})
