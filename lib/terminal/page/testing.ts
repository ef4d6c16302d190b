import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer, connect as dial, type Socket } from 'node:net'
import headless from '@xterm/headless'
import { WebSocket as NodeWebSocket } from 'ws'
import type { TestConsole } from '#lib/gateway/testing.ts'
import type { TerminalNotice } from '#lib/protocol/terminals.ts'
import { PageTerminal, type TerminalState } from './page-terminal.ts'

const patienceMs = 120_000

/** A network between two ends that tests can break. */
export class TestNetwork {
  readonly #sockets = new Set<Socket>()
  readonly #server = createServer((near) => {
    if (this.#isDown) return near.destroy()
    const far = dial(Number(new URL(this.#target()).port), '127.0.0.1')
    for (const socket of [near, far]) {
      this.#sockets.add(socket)
      socket.on('error', () => undefined)
      socket.once('close', () => {
        this.#sockets.delete(socket)
        near.destroy()
        far.destroy()
      })
    }
    let isUnanswered = false
    near.on('data', (bytes) => {
      isUnanswered ||= this.#unanswered?.test(bytes.toString('latin1')) ?? false
      return this.#isStalled || far.write(bytes)
    })
    far.on('data', (bytes) => this.#isStalled || this.#isMute || isUnanswered || near.write(bytes))
  })
  readonly #target: () => string
  #isDown = false
  #isStalled = false
  #isMute = false
  #unanswered: RegExp | undefined

  /** `target` is resolved for each connection. */
  constructor(target: () => string) {
    this.#target = target
  }

  async listen(): Promise<string> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  cut() {
    for (const socket of this.#sockets) socket.destroy()
  }

  /** Cuts all connections and refuses new ones until `mend`. */
  break() {
    this.#isDown = true
    this.cut()
  }

  /** Silently stops delivery in both directions. */
  stall() {
    this.#isStalled = true
  }

  /** Delivers outgoing data but no answers. */
  mute() {
    this.#isMute = true
  }

  /** Delivers no more answers on a connection once it has sent such a request. */
  muteAfter(request: RegExp) {
    this.#unanswered = request
  }

  mend() {
    this.#unanswered = undefined
    this.#isDown = this.#isStalled = this.#isMute = false
  }

  close() {
    this.break()
    this.#server.close()
  }
}

interface TestOptions {
  /** Resolved for each connection. */
  console: () => TestConsole
  cookie: () => string
  devboxId: string
  name: string
  client?: string
  role?: 'watch'
  cols?: number
  rows?: number
  scrollback?: number
}

/** A page's terminal with a headless screen, a real session and a network that can fail. */
export class TestPageTerminal {
  readonly client: string
  readonly screen: InstanceType<typeof headless.Terminal>
  readonly session: PageTerminal
  readonly network: TestNetwork
  readonly hash = createHash('sha256')
  readonly notices: TerminalNotice[] = []
  readonly addresses: URL[] = []
  received = { output: 0, snapshots: 0 }
  isOffline = false
  #url = ''
  #wake = () => {}

  constructor(options: TestOptions) {
    const { console, cookie, devboxId, name, role, cols = 80, rows = 24, scrollback = 5000 } = options
    this.client = options.client ?? crypto.randomUUID()
    this.network = new TestNetwork(() => console().url)
    this.screen = new headless.Terminal({ cols, rows, scrollback, allowProposedApi: true, logLevel: 'off' })
    const { screen } = this
    this.session = new PageTerminal({
      url: () => `${this.#url}/api/terminals/${devboxId}/${name}`,
      screen,
      page: this.client,
      role,
      isSignedOut: async () => {
        const answer = await console()
          .fetch('/api/session', { cookie: cookie() })
          .catch(() => undefined)
        return answer?.status === 401
      },
      isOffline: () => this.isOffline,
      isVisible: () => true,
      WebSocket: this.#socketClass(() => ({ cookie: cookie(), host: new URL(console().url).host })),
    })
    screen.onData(this.session.sendText)
    screen.onBinary(this.session.sendBinary)
    screen.onWriteParsed(() => this.#wake())
    this.session.subscribe(() => this.#wake())
  }

  async open() {
    await this.listen()
    this.session.connect()
    await this.is('open')
  }

  async listen() {
    this.#url = (await this.network.listen()).replace('http', 'ws')
  }

  close() {
    this.session.dispose()
    this.network.close()
  }

  get state(): TerminalState {
    return this.session.state
  }

  /** Fails with the screen's content. */
  async until(holds: () => boolean) {
    const lateMs = Date.now() + patienceMs
    while (!holds()) {
      if (Date.now() > lateMs) throw new Error(`${JSON.stringify(this.state.connection)} shows:\n${this.text}`)
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#wake = resolve
      const timer = setTimeout(resolve, 50)
      await promise
      clearTimeout(timer)
    }
  }

  is(phase: TerminalState['connection']['phase']) {
    return this.until(() => this.state.connection.phase === phase)
  }

  /** Checks only the last lines, to keep up with the output. */
  shows(text: string | RegExp) {
    const pattern = typeof text === 'string' ? RegExp.escape(text) : text
    return this.until(() => {
      const { length } = this.screen.buffer.active
      return this.#lines(Math.max(0, length - Math.max(this.screen.rows, 300)), length).search(pattern) >= 0
    })
  }

  type(text: string) {
    this.screen.input(text)
  }

  /** Scrollback and screen without trailing blanks. */
  get text(): string {
    return this.#lines(0, this.screen.buffer.active.length)
  }

  /** The rows in view. */
  get window(): string {
    const { viewportY } = this.screen.buffer.active
    return this.#lines(viewportY, viewportY + this.screen.rows)
  }

  #lines(from: number, to: number): string {
    const { active } = this.screen.buffer
    return Array.from({ length: to - from }, (_, row) => active.getLine(from + row)?.translateToString(true) ?? '')
      .join('\n')
      .trimEnd()
  }

  /** A socket that uses this page's network, sends an Origin as a browser would, and is counted. */
  #socketClass(headers: () => Record<string, string>): typeof WebSocket {
    const page = this
    return class extends NodeWebSocket {
      constructor(url: string) {
        const { host, ...rest } = headers()
        super(url, { headers: { host, ...rest }, origin: `http://${host}` })
        page.addresses.push(new URL(url))
        let isSnapshot = false
        // Closing it notifies the session.
        this.on('error', () => undefined)
        this.on('close', () => page.#wake())
        this.on('message', (data: Buffer | ArrayBuffer, isBinary) => {
          // The session has dropped this socket, so later data is lost.
          if (!this.onmessage) return
          const bytes = Buffer.from(data as ArrayBuffer)
          if (!isBinary) {
            const notice = JSON.parse(String(bytes)) as TerminalNotice
            page.notices.push(notice)
            if (notice.t === 'snap') isSnapshot = true
          } else if (isSnapshot) {
            isSnapshot = false
            page.received.snapshots++
          } else {
            page.received.output += bytes.length
            page.hash.update(bytes)
          }
        })
      }
    } as unknown as typeof WebSocket
  }
}
