import { once } from 'node:events'
import { expect, vi } from 'vitest'
import { WebSocket } from 'ws'
import type { TerminalNotice, TerminalRequest } from '#lib/protocol/terminals.ts'
import { startService } from '#lib/service/testing/service.ts'
import { openXterm } from '#lib/terminal/xterm/headless.ts'
import { startConsole, type TestConsole } from '../testing.ts'

/** A signed-in console and a service with a running devbox. */
export const startTerminals = async (config: Parameters<typeof startConsole>[1] = {}) => {
  vi.spyOn(console, 'log').mockReturnValue(undefined)
  const service = await startService()
  const gateway = await startConsole({ url: service.url }, config)
  const cookie = await gateway.signIn(service.key)
  const { id: devboxId } = await service.client.devboxes.createAndAwaitRunning({ body: {} })
  return { service, gateway, cookie, devboxId }
}

export const until = <T>(check: () => T | Promise<T>): Promise<T> =>
  vi.waitFor(check, { timeout: 120_000, interval: 10 })

const maxShown = 32 * 1024

interface Options {
  cookie?: string
  headers?: Record<string, string>
  /** Without acks, bytes count as read once they leave the socket. */
  acks?: boolean
  origin?: string
}

type Kind = TerminalNotice['t']
type NoticeOf<K extends Kind> = Extract<TerminalNotice, { t: K }>

/** A page's terminal as a test client. */
export class TestPage {
  readonly socket: WebSocket
  readonly notices: TerminalNotice[] = []
  readonly closed: Promise<{ code: number; reason: string }>
  /** Everything shown so far, including snapshots, as text. */
  shown = ''
  readonly printed: Buffer[] = []
  lastSnapshot: Buffer | undefined
  /** The last snapshot and the output since. */
  painted: Buffer[] = []
  epoch = ''
  offset = 0
  /** Excludes notices. */
  bytes = 0
  unread = 0
  peakUnread = 0
  #acks: boolean
  /** Where the incoming snapshot ends. */
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
    this.closed.catch(() => undefined)
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

  /** Stops acknowledging until `read`. */
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

  /** Drops the connection without a close frame. */
  async vanish() {
    this.socket.terminate()
    await this.closed
  }

  #notice(notice: TerminalNotice) {
    this.notices.push(notice)
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

/** The screen at 80 by 24, and whether mouse and keys belong to a program. */
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
