import { randomBytes } from 'node:crypto'
import { type RawData, WebSocket } from 'ws'
import * as z from 'zod/mini'
import { maxCells, terminalSignals } from '#lib/contract/terminals.ts'
import type { TerminalMark, TerminalNotice, TerminalViewer } from '#lib/protocol/terminals.ts'
import type { Session } from '../accounts/types.ts'
import { closeWithTimeout, hangUpMs, heard, parseJson, terminateWhenDead } from '../http/sockets.ts'
import { Allowance } from './allowance.ts'
import type { Size } from './size-keeper.ts'

/** Above this, output stops until a page is below `lowWaterBytes`; then a snapshot replaces what it missed. */
const highWaterBytes = 256 * 1024
const lowWaterBytes = 128 * 1024
const snapshotGapMs = 100
/** Scrollback of snapshots during a flood. A full one follows once output pauses. */
const floodScrollback = 500
const quietMs = 300
/** Notices don't count toward the window. A page with this much unsent isn't reading at all. */
const maxUnsentBytes = 4 * 1024 * 1024
const inputRate = { burst: 1024 * 1024, perSecond: 1024 * 1024 }
/** Minimum cost of a text frame, because parsing costs more than reading. */
const requestCost = 256

/** The screen after `offset` bytes of output. */
export interface Snapshot {
  bytes: Uint8Array
  offset: number
  cols: number
  rows: number
  marks: TerminalMark[]
}

export type ViewerRequest = Exclude<z.infer<typeof PageRequest>, { t: 'ack' | 'ping' }>

interface ViewerEvents {
  input(bytes: Buffer): void
  request(request: ViewerRequest): void
  /** Requests a snapshot with this much scrollback. */
  behind(scrollback: number): void
  upstreamMs(): number | null
  left(): void
}

export interface ViewerOpening {
  /** Undefined for visitors with a link, who can only watch. */
  signedIn: Session | undefined
  person: string | null
  browser: string
  address: string
  client: string | undefined
  wantsToWatch: boolean
  /** Why this person may only watch, if so. */
  watchOnlyReason: string | null
  size: Size
  epoch: string | undefined
  since: number | undefined
  scrollback: number
  promisesAcks: boolean
}

export class Viewer {
  readonly #socket: WebSocket
  readonly opening: ViewerOpening
  readonly view: TerminalViewer
  /** Size of the page's window, even while another page decides the terminal's size. */
  size: Size
  #events: ViewerEvents | undefined
  /** Only `live` pages receive output. `behind` pages get a snapshot next, `waiting` pages `ready`. */
  #phase: 'waiting' | 'live' | 'behind' = 'waiting'
  hasBegun = false
  #acks: boolean
  sentBytes = 0
  typedBytes = 0
  #acked = 0
  #snapshotRequested = false
  #fullSnapshotRequested = false
  #lastSnapshotAt = 0
  #snapshotTimer: NodeJS.Timeout | undefined
  /** The last snapshot had less scrollback than the page keeps. */
  #isShort = false
  #wantsAll = true
  #quietTimer: NodeJS.Timeout | undefined
  #holds = new Set<'rate' | 'shell'>()
  readonly #input = new Allowance(inputRate)
  #rateTimer: NodeJS.Timeout | undefined

  constructor(socket: WebSocket, opening: ViewerOpening) {
    this.#socket = socket
    this.opening = opening
    this.size = opening.size
    this.#acks = opening.promisesAcks
    this.view = {
      id: randomBytes(6).toString('base64url'),
      name: [opening.person, opening.browser].filter(Boolean).join(', '),
      since_ms: Date.now(),
      follower: opening.signedIn === undefined,
    }
    terminateWhenDead(socket)
    socket.on('message', (data: RawData, isBinary: boolean) => this.#message(data as Buffer, isBinary))
    socket.on('error', () => socket.terminate())
    socket.once('close', () => {
      clearTimeout(this.#snapshotTimer)
      clearTimeout(this.#quietTimer)
      clearTimeout(this.#rateTimer)
      this.#events?.left()
    })
  }

  /** Must be called immediately: earlier messages are lost. */
  listen(events: ViewerEvents): void {
    this.#events = events
  }

  get isOpen(): boolean {
    return this.#socket.readyState === WebSocket.OPEN
  }

  onceClosed(run: () => void): void {
    this.#socket.once('close', run)
  }

  get isBehind(): boolean {
    return this.#phase === 'behind'
  }

  notify(notice: TerminalNotice): void {
    if (!this.isOpen) return
    if (this.#socket.bufferedAmount > maxUnsentBytes) this.#socket.terminate()
    else this.#socket.send(JSON.stringify(notice))
  }

  /** Sends `ready`, then `bytes` the page missed, or a snapshot if undefined. */
  begin(ready: Extract<TerminalNotice, { t: 'ready' }>, bytes: Buffer | undefined): void {
    this.notify(ready)
    // A restarted page no longer acknowledges earlier output.
    this.#acked = this.sentBytes
    this.#forgetSnapshot()
    this.hasBegun = true
    if (bytes) {
      this.#phase = 'live'
      if (bytes.length > 0) this.#send(bytes)
      return
    }
    this.#showAll()
  }

  /** Redraws the whole screen, which output alone can no longer reproduce. */
  redraw(): void {
    if (this.#phase === 'waiting') return
    this.#forgetSnapshot()
    this.#showAll()
  }

  /** Holds output until `begin`, because it doesn't continue what the page shows. */
  wait(): void {
    this.#forgetSnapshot()
    this.#phase = 'waiting'
  }

  /** Sends output now or not at all; nothing is queued. */
  output(bytes: Buffer): void {
    this.#quietTimer?.refresh()
    if (this.#phase !== 'live') return
    if (this.#unread <= highWaterBytes) this.#send(bytes)
    else {
      this.#phase = 'behind'
      this.#catchUp()
    }
  }

  /** Sends the requested snapshot and the output since; `since` is undefined if part of it is no longer buffered. */
  show({ bytes, offset, cols, rows, marks }: Snapshot, since: Uint8Array | undefined): void {
    if (!this.#snapshotRequested || !this.isOpen) return
    this.#isShort = !this.#fullSnapshotRequested
    this.#forgetSnapshot()
    this.#lastSnapshotAt = Date.now()
    this.notify({ t: 'snap', bytes: bytes.length, offset, cols, rows, marks })
    this.#send(bytes)
    if (since && since.length <= lowWaterBytes) {
      this.#phase = 'live'
      if (since.length > 0) this.#send(since)
    } else this.#catchUp()
    if (this.#isShort) this.#quietTimer ??= setTimeout(() => this.#sendAllOnceQuiet(), quietMs)
  }

  /** Sends the final screen of an ended shell, regardless of unread output. */
  showLast(snapshot: Snapshot): void {
    if (this.#phase !== 'behind') return
    this.#snapshotRequested = true
    this.show(snapshot, Buffer.alloc(0))
  }

  /** After Ctrl-C, a page that is behind gets its next snapshot immediately. */
  interrupted(): void {
    if (this.#phase !== 'behind') return
    this.#lastSnapshotAt = 0
    clearTimeout(this.#snapshotTimer)
    this.#snapshotTimer = undefined
    this.#catchUp()
  }

  /** Stops reading input while the shell doesn't accept it. */
  hold(reason: 'rate' | 'shell', held: boolean): void {
    if (held) this.#holds.add(reason)
    else this.#holds.delete(reason)
    if (!this.isOpen) return
    if (this.#holds.size > 0) this.#socket.pause()
    else this.#socket.resume()
  }

  close(code: number, reason: string, withinMs = hangUpMs): void {
    closeWithTimeout(this.#socket, code, reason, withinMs)
  }

  fail({ closeCode, code, message }: { closeCode: number; code: string; message: string }): void {
    this.notify({ t: 'problem', code, message })
    this.close(closeCode, message)
  }

  get #unread(): number {
    const { bufferedAmount } = this.#socket
    return this.#acks ? Math.max(this.sentBytes - this.#acked, bufferedAmount) : bufferedAmount
  }

  #send(bytes: Uint8Array): void {
    this.sentBytes += bytes.length
    this.#socket.send(bytes, { binary: true }, this.#flushed)
  }

  readonly #flushed = (error?: Error | null) => {
    if (error) return
    heard(this.#socket)
    this.#catchUp()
  }

  #catchUp(): void {
    if (this.#phase !== 'behind' || this.#snapshotRequested || this.#snapshotTimer || !this.isOpen) return
    if (this.#unread > lowWaterBytes) return
    const waitMs = this.#lastSnapshotAt + snapshotGapMs - Date.now()
    if (waitMs > 0) {
      this.#snapshotTimer = setTimeout(() => {
        this.#snapshotTimer = undefined
        this.#catchUp()
      }, waitMs)
      return
    }
    this.#snapshotRequested = true
    this.#fullSnapshotRequested = this.#wantsAll
    const { scrollback } = this.opening
    this.#events?.behind(this.#wantsAll ? scrollback : Math.min(scrollback, floodScrollback))
  }

  #showAll(): void {
    this.#phase = 'behind'
    this.#wantsAll = true
    this.#lastSnapshotAt = 0
    this.#catchUp()
  }

  #forgetSnapshot(): void {
    clearTimeout(this.#snapshotTimer)
    this.#snapshotTimer = undefined
    this.#snapshotRequested = this.#wantsAll = false
  }

  #sendAllOnceQuiet(): void {
    this.#quietTimer = undefined
    if (!this.#isShort || !this.isOpen) return
    if (this.#phase === 'live' && this.#unread > lowWaterBytes) {
      this.#quietTimer = setTimeout(() => this.#sendAllOnceQuiet(), quietMs)
      return
    }
    this.#wantsAll = true
    this.#phase = 'behind'
    this.#catchUp()
  }

  #message(data: Buffer, isBinary: boolean): void {
    this.#spend(isBinary ? data.length : Math.max(requestCost, data.length))
    if (isBinary) {
      if (this.#isReadOnly) return
      this.typedBytes += data.length
      this.#events?.input(data)
      return
    }
    const request = PageRequest.safeParse(parseJson(String(data))).data
    if (request?.t === 'ack') {
      this.#acks = true
      // Limits acknowledgments to what was sent.
      this.#acked = Math.min(this.sentBytes, this.#acked + request.n)
      this.#catchUp()
    } else if (request?.t === 'ping') {
      this.notify({ t: 'pong', id: request.id, upstream_ms: this.#events?.upstreamMs() ?? null })
    } else if (this.view.follower) return
    else if (this.opening.watchOnlyReason !== null) {
      // Pages report their size unasked.
      if (request?.t !== 'resize')
        this.notify({ t: 'problem', code: 'forbidden', message: this.opening.watchOnlyReason })
    } else if (request) this.#events?.request(request)
    else this.notify({ t: 'problem', code: 'invalid_argument', message: 'Unknown request' })
  }

  get #isReadOnly(): boolean {
    return this.view.follower || this.opening.watchOnlyReason !== null
  }

  #spend(bytes: number): void {
    if (this.#input.spend(bytes) >= 0 || this.#rateTimer) return
    this.hold('rate', true)
    this.#rateTimer = setTimeout(() => {
      this.#rateTimer = undefined
      this.hold('rate', false)
    }, this.#input.debtMs)
  }
}

const cells = z.int().check(z.minimum(1), z.maximum(maxCells))
const count = z.int().check(z.minimum(0))
const PageRequest = z.discriminatedUnion('t', [
  z.object({ t: z.literal('resize'), cols: cells, rows: cells }),
  z.object({ t: z.literal('ack'), n: count }),
  z.object({ t: z.literal('ping'), id: count }),
  z.object({ t: z.literal('takeover') }),
  z.object({ t: z.literal('signal'), signal: z.enum(terminalSignals) }),
  z.object({ t: z.literal('reset') }),
  z.object({ t: z.literal('clear_scrollback') }),
  z.object({ t: z.literal('close') }),
  z.object({ t: z.literal('record'), on: z.boolean() }),
  z.object({ t: z.literal('follow'), on: z.boolean() }),
])
