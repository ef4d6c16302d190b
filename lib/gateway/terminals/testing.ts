import { once } from 'node:events'
import { type AddressInfo, createServer, connect as dial, type Socket } from 'node:net'
import { expect, vi } from 'vitest'
import { WebSocket } from 'ws'
import type { TerminalNotice, TerminalRequest } from '#lib/protocol/terminals.ts'
import { startService } from '#lib/service/testing/service.ts'
import { openXterm } from '#lib/terminal/xterm/headless.ts'
import { startConsole, type TestConsole } from '../testing.ts'

/** A console of a service with a devbox that runs, and somebody signed in. */
export const startTerminals = async () => {
  // Every page that comes and goes is told there.
  vi.spyOn(console, 'log').mockReturnValue(undefined)
  const service = await startService()
  const gateway = await startConsole({ url: service.url })
  const cookie = await gateway.signIn(service.key)
  const { id: devboxId } = await service.client.devboxes.createAndAwaitRunning({ body: {} })
  return { service, gateway, cookie, devboxId }
}

/** Until it passes: longer than a busy machine takes. */
export const until = <T>(check: () => T | Promise<T>): Promise<T> =>
  vi.waitFor(check, { timeout: 120_000, interval: 10 })

const maxShown = 32 * 1024

interface Options {
  cookie?: string
  headers?: Record<string, string>
  /** A page without acks has read what has left the socket; with them it promises one for every byte. */
  acks?: boolean
  origin?: string
}

type Kind = TerminalNotice['t']
type NoticeOf<K extends Kind> = Extract<TerminalNotice, { t: K }>

/** A page's terminal: what it was shown, what it was told, where it stands, and how it ended. */
export class TestPage {
  readonly socket: WebSocket
  readonly notices: TerminalNotice[] = []
  /** Which frames came in which order. */
  readonly order: ('output' | 'snapshot' | Kind)[] = []
  readonly closed: Promise<{ code: number; reason: string }>
  /** The last of everything, snapshots as well, as text. */
  shown = ''
  /** What the shell has printed, without snapshots. */
  readonly printed: Buffer[] = []
  lastSnapshot: Buffer | undefined
  /** What makes its screen: the last snapshot, and what was printed since. */
  painted: Buffer[] = []
  epoch = ''
  offset = 0
  /** Of all it was sent, notices not counted. */
  bytes = 0
  /** Of these, not acknowledged. */
  unread = 0
  peakUnread = 0
  #acks: boolean
  /** Where the snapshot ends whose bytes are the next to come. */
  #snapshotEnd: number | undefined

  constructor(gateway: TestConsole, path: string, { cookie, headers, acks = false, origin }: Options = {}) {
    this.#acks = acks
    this.socket = new WebSocket(gateway.url.replace('http', 'ws') + path, {
      headers: { ...(cookie === undefined ? {} : { cookie }), ...headers },
      origin: origin ?? gateway.origin,
    })
    this.socket.on('message', (data, isBinary) =>
      isBinary ? this.#output(data as Buffer) : this.#notice(JSON.parse(String(data))),
    )
    this.closed = once(this.socket, 'close').then(([code, reason]) => ({ code, reason: String(reason) }))
    // A test that does not wait for the end must not fail by it.
    this.closed.catch(() => undefined)
  }

  get lastNotice(): TerminalNotice | undefined {
    return this.notices.at(-1)
  }

  last<K extends Kind>(kind: K): NoticeOf<K> | undefined {
    return this.notices.findLast((each): each is NoticeOf<K> => each.t === kind)
  }

  type(text: string) {
    this.socket.send(Buffer.from(text), { binary: true })
  }

  ask(request: TerminalRequest | Record<string, unknown>) {
    this.socket.send(JSON.stringify(request))
  }

  /** From now on it acknowledges nothing, until `read`. */
  stopReading() {
    this.#acks = false
  }

  read() {
    this.#acks = true
    this.#ack()
  }

  shows(text: string | RegExp) {
    return until(() => {
      if (this.shown.search(text) === -1)
        throw new Error(`${text} is not shown; what is, ends with ${JSON.stringify(this.shown.slice(-300))}`)
    })
  }

  told(notice: Partial<TerminalNotice>) {
    return until(() => expect(this.notices).toContainEqual(expect.objectContaining(notice)))
  }

  /** Why the upgrade was refused. */
  async refused(): Promise<{ status: number; body: { code: string; message: string } }> {
    this.socket.on('error', () => undefined)
    const [, response] = await once(this.socket, 'unexpected-response')
    let text = ''
    for await (const chunk of response) text += chunk
    this.socket.terminate()
    return { status: response.statusCode, body: JSON.parse(text) }
  }

  async leave() {
    this.socket.close()
    await this.closed
  }

  /** Goes without a word, as when the network is lost. */
  async vanish() {
    this.socket.terminate()
    await this.closed
  }

  #notice(notice: TerminalNotice) {
    this.notices.push(notice)
    this.order.push(notice.t)
    if (notice.t === 'ready') {
      this.epoch = notice.epoch
      this.offset = notice.offset
    } else if (notice.t === 'snap') this.#snapshotEnd = notice.offset
  }

  #output(data: Buffer) {
    this.shown = (this.shown + data).slice(-maxShown)
    this.bytes += data.length
    this.unread += data.length
    this.peakUnread = Math.max(this.peakUnread, this.unread)
    this.order.push(this.#snapshotEnd === undefined ? 'output' : 'snapshot')
    if (this.#snapshotEnd !== undefined) {
      this.offset = this.#snapshotEnd
      this.lastSnapshot = data
      this.painted = [data]
    } else {
      this.painted.push(data)
      this.printed.push(data)
      this.offset += data.length
    }
    this.#snapshotEnd = undefined
    if (this.#acks) this.#ack()
  }

  #ack() {
    if (this.unread === 0 || this.socket.readyState !== WebSocket.OPEN) return
    this.ask({ t: 'ack', n: this.unread })
    this.unread = 0
  }
}

/** What a page of 80 by 24 shows, and whether its mouse and its keys are a program's. */
export const screenOf = (page: TestPage) => {
  const core = openXterm({ cols: 80, rows: 24, scrollback: 0 })
  core._inputHandler.parse(Buffer.concat(page.painted))
  const { buffers, coreService, coreMouseService } = core
  const { lines } = buffers.active
  const text = Array.from({ length: 24 }, (_, row) => lines.get(row)?.translateToString(true))
    .join('\n')
    .trimEnd()
  const screen = {
    text,
    isOnOwnScreen: buffers.active === buffers.alt,
    mouse: coreMouseService.activeProtocol,
    isCursorHidden: coreService.isCursorHidden,
    applicationCursorKeys: coreService.decPrivateModes.applicationCursorKeys,
  }
  core.dispose()
  return screen
}

/** Passes TCP connections on, until they are cut. */
export class CuttableProxy {
  readonly #server
  readonly #sockets = new Set<Socket>()
  #target: { host: string; port: number } | undefined
  #isSilent = false
  /** How many connections were made through it. */
  connections = 0

  constructor() {
    this.#server = createServer((near) => {
      this.connections++
      if (this.#isSilent) return void this.#sockets.add(near.on('error', () => undefined))
      if (!this.#target) return near.destroy()
      const far = dial(this.#target)
      for (const [from, to] of [
        [near, far],
        [far, near],
      ] as const) {
        this.#sockets.add(from)
        from.pipe(to)
        from
          .on('error', () => undefined)
          .on('close', () => {
            this.#sockets.delete(from)
            to.destroy()
          })
      }
    })
  }

  async listen(): Promise<number> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    return (this.#server.address() as AddressInfo).port
  }

  /** To where connections go from now on; undefined: they are refused. */
  lead(url: string | undefined) {
    this.#target = url === undefined ? undefined : { host: new URL(url).hostname, port: Number(new URL(url).port) }
  }

  /** Takes connections from now on, and says nothing. */
  fallSilent() {
    this.#isSilent = true
    this.cut()
  }

  /** Ends every connection without a word. */
  cut() {
    for (const socket of this.#sockets) socket.destroy()
  }

  async close() {
    this.cut()
    this.#server.close()
    await once(this.#server, 'close')
  }
}
