import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { type WebSocket as ServerSocket, WebSocketServer } from 'ws'
import type { TerminalNotice } from '#lib/contract/relay.ts'
import { cleanPaste, TerminalSession, type TerminalState } from './terminal-session.ts'

const ends: (() => void)[] = []
afterEach(() => {
  for (const end of ends.splice(0)) end()
})

/** Keeps what was written; parses like xterm: in order, a moment later. */
class Screen {
  cols = 80
  rows = 24
  text = ''
  #queue = Promise.resolve()
  #decoder = new TextDecoder()
  whileParsing: (() => void) | undefined
  onText = () => {}
  write(data: Uint8Array | string, parsed?: () => void) {
    this.#queue = this.#queue.then(() => {
      this.text += typeof data === 'string' ? data : this.#decoder.decode(data, { stream: true })
      if (typeof data !== 'string') this.whileParsing?.()
      parsed?.()
      this.onText()
    })
  }
  settled = () => this.#queue
}

/** The console's end of the wire: accepts sockets and lets a test speak on them. */
const bridge = async () => {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  await once(server, 'listening')
  const sockets: ServerSocket[] = []
  const urls: string[] = []
  const received: (string | Record<string, unknown>)[] = []
  let wake = () => {}
  const until = async (holds: () => boolean) => {
    while (!holds()) await new Promise<void>((resolve) => (wake = resolve))
  }
  server.on('connection', (socket, request) => {
    sockets.push(socket)
    urls.push(request.url ?? '')
    socket.on('message', (data: Buffer, isBinary) => {
      received.push(isBinary ? data.toString('latin1') : JSON.parse(data.toString()))
      wake()
    })
    wake()
  })
  const states: TerminalState[] = []
  const screen = new Screen()
  let isSignedOut = false
  screen.onText = () => wake()
  const session = new TerminalSession({
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/api/terminals/dbx_1/main`,
    screen,
    isSignedOut: async () => isSignedOut,
    onState(state) {
      states.push(state)
      wake()
    },
  })
  ends.push(() => {
    session.dispose()
    for (const socket of sockets) socket.terminate()
    server.close()
  })
  const inPhase = (phase: TerminalState['phase']) => until(() => session.state.phase === phase)
  const connection = async (number: number): Promise<ServerSocket> => {
    await until(() => sockets.length >= number)
    return sockets[number - 1]!
  }
  const say = (socket: ServerSocket, notice: TerminalNotice) => socket.send(JSON.stringify(notice))
  const ready = async (socket: ServerSocket, created: boolean) => {
    say(socket, { type: 'ready', created, cols: screen.cols, rows: screen.rows })
    await inPhase('open')
  }
  const signOut = () => {
    isSignedOut = true
    // What the console does with an upgrade of somebody it does not know.
    server.options.verifyClient = (_, answer) => answer(false, 401)
  }
  return { session, signOut, screen, states, urls, received, until, inPhase, connection, say, ready }
}

describe('a terminal session', () => {
  it('connects with both cols and rows and is open when the shell is ready', async () => {
    const { session, urls, states, connection, ready } = await bridge()
    session.connect()
    await ready(await connection(1), true)
    expect(urls).toEqual(['/api/terminals/dbx_1/main?cols=80&rows=24'])
    expect(states.map(({ phase }) => phase)).toEqual(['connecting', 'open'])
  })

  it('moves bytes both ways unchanged', async () => {
    const { session, screen, received, until, connection, ready } = await bridge()
    session.connect()
    const socket = await connection(1)
    await ready(socket, true)
    const bytes = Buffer.from('é\x1b[31m😀')
    // A character may arrive in two frames.
    socket.send(bytes.subarray(0, 1))
    socket.send(bytes.subarray(1))
    session.sendText('é')
    session.sendBinary('\x1b[M\xff')
    await until(() => received.length === 2)
    expect(received).toEqual(['\xc3\xa9', '\x1b[M\xff'])
    socket.send('{"type":"exit","reason":"x"}')
    socket.close(4000)
    await until(() => session.state.phase === 'ended')
    await screen.settled()
    expect(screen.text).toBe('é\x1b[31m😀')
  })

  it('answers what a terminal is and where its cursor stands, but not questions about colours and settings', async () => {
    const { session, received, until, connection, ready } = await bridge()
    session.connect()
    await ready(await connection(1), true)
    for (const answer of ['\x1bP1$r0m\x1b\\', '\x1b]10;rgb:ffff/ffff/ffff\x1b\\', '\x1b[?1;2c', '\x1b[3;1R', '\x1bP'])
      session.sendText(answer)
    await until(() => received.length === 3)
    expect(received).toEqual(['\x1b[?1;2c', '\x1b[3;1R', '\x1bP'])
  })

  it('sends a long paste in pieces that arrive whole', async () => {
    const { session, received, until, connection, ready } = await bridge()
    session.connect()
    await ready(await connection(1), true)
    const paste = 'abcdefghij'.repeat(5000)
    session.sendText(paste)
    await until(() => received.join('').length === paste.length)
    expect(received.join('')).toBe(paste)
    expect(received.every((piece) => typeof piece === 'string' && piece.length <= 16 * 1024)).toBe(true)
  })

  it('sends the first of a flurry of sizes at once and then only the last', async () => {
    const { session, screen, received, until, connection, ready } = await bridge()
    session.connect()
    await ready(await connection(1), true)
    for (let cols = 81; cols <= 100; cols++) {
      screen.cols = cols
      session.resized()
    }
    await until(() => received.length === 2)
    expect(received).toEqual([
      { type: 'resize', cols: 81, rows: 24 },
      { type: 'resize', cols: 100, rows: 24 },
    ])
  })

  it('makes up for a size that changed while it was connecting', async () => {
    const { session, screen, received, until, connection, say } = await bridge()
    session.connect()
    const socket = await connection(1)
    screen.cols = 120
    session.resized()
    say(socket, { type: 'ready', created: true, cols: 80, rows: 24 })
    await until(() => received.length === 1)
    expect(received).toEqual([{ type: 'resize', cols: 120, rows: 24 }])
  })

  it('reconnects after a broken connection, replaces the screen by the replay and keeps its answers to itself', async () => {
    const { session, screen, received, until, inPhase, connection, ready } = await bridge()
    session.connect()
    const first = await connection(1)
    await ready(first, true)
    first.send(Buffer.from('before'))
    first.terminate()
    await inPhase('reconnecting')
    const second = await connection(2)
    // As xterm does when it meets a query: it answers while parsing.
    screen.whileParsing = () => session.sendText('\x1b[?1;2c')
    await ready(second, false)
    second.send(Buffer.from('replayed \x1b[c'))
    await until(() => screen.text.includes('replayed'))
    await screen.settled()
    expect(screen.text).toBe('before\x1bcreplayed \x1b[c')
    second.send(Buffer.from('live \x1b[c'))
    await until(() => received.length > 0)
    await screen.settled()
    expect(received).toEqual(['\x1b[?1;2c'])
    expect(screen.text.endsWith('live \x1b[c')).toBe(true)
  })

  it('writes on below what it has when a service replays nothing', async () => {
    const { session, screen, until, inPhase, connection, ready } = await bridge()
    session.connect()
    const first = await connection(1)
    await ready(first, true)
    first.send(Buffer.from('before '))
    await until(() => screen.text.includes('before'))
    first.terminate()
    await inPhase('reconnecting')
    const second = await connection(2)
    vi.useFakeTimers({ toFake: ['Date'] })
    ends.push(() => vi.useRealTimers())
    await ready(second, false)
    vi.setSystemTime(Date.now() + 1_500)
    second.send(Buffer.from('typed later'))
    await until(() => screen.text.includes('later'))
    expect(screen.text).toBe('before typed later')
  })

  it('gives up once it is refused because the session is over', async () => {
    const { session, signOut, states, inPhase, connection, ready } = await bridge()
    session.connect()
    const first = await connection(1)
    await ready(first, true)
    signOut()
    first.terminate()
    await inPhase('refused')
    expect(session.state).toEqual({ phase: 'refused', code: 'signed_out' })
    expect(states.filter(({ phase }) => phase === 'reconnecting').length).toBeLessThan(5)
  })

  it('says on the screen when the shell it comes back to is a new one', async () => {
    const { session, screen, inPhase, connection, ready } = await bridge()
    session.connect()
    const first = await connection(1)
    await ready(first, true)
    first.close(1012)
    await inPhase('reconnecting')
    await ready(await connection(2), true)
    await screen.settled()
    expect(screen.text).toContain('[The last shell is gone. This is a new one.]')
  })

  it('has nothing to say about a new shell that was asked for', async () => {
    const { session, screen, inPhase, connection, ready } = await bridge()
    session.connect()
    const first = await connection(1)
    await ready(first, true)
    first.close(4000, 'exit')
    await inPhase('ended')
    session.connect()
    await ready(await connection(2), true)
    await screen.settled()
    expect(screen.text).not.toContain('The last shell is gone')
  })

  it.each([
    [4000, { phase: 'ended', reason: 'exit' }],
    [4401, { phase: 'refused', code: 'signed_out' }],
    [4404, { phase: 'refused', code: 'not_found' }],
    [4409, { phase: 'taken_over' }],
    [4412, { phase: 'refused', code: 'not_running' }],
  ] as const)('does not reconnect by itself after close code %i, but does when told to', async (code, state) => {
    const { session, until, connection, ready } = await bridge()
    session.connect()
    const socket = await connection(1)
    await ready(socket, true)
    socket.close(code, 'exit')
    await until(() => session.state.phase !== 'open')
    expect(session.state).toEqual(state)
    session.connect()
    await ready(await connection(2), true)
    expect(session.state).toEqual({ phase: 'open' })
  })

  it('leaves for good when disposed', async () => {
    const { session, connection, ready } = await bridge()
    session.connect()
    const socket = await connection(1)
    await ready(socket, true)
    const closed = once(socket, 'close')
    session.dispose()
    await closed
    expect(session.state).toEqual({ phase: 'open' })
  })

  it('shows a problem as text, without the control characters in it', async () => {
    const { session, screen, until, connection, ready, say } = await bridge()
    session.connect()
    const socket = await connection(1)
    await ready(socket, true)
    say(socket, { type: 'problem', code: 'unavailable', message: 'The service \x1b]52;c;ZXZpbA==\x07is away' })
    await until(() => screen.text.includes('is away'))
    expect(screen.text).toBe('\r\n\x1b[0;2m[The service  ]52;c;ZXZpbA== is away]\x1b[0m\r\n')
  })
})

describe('pasted text', () => {
  it('cannot end a bracketed paste, and keeps its lines and tabs', () => {
    expect(cleanPaste('a\x1b[201~\tb\r\nc\x03\x9b31mé')).toBe('a[201~\tb\r\nc31mé')
  })
})
