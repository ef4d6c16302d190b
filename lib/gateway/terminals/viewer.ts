import { randomBytes } from 'node:crypto'
import { type RawData, WebSocket } from 'ws'
import * as z from 'zod/mini'
import { maxCells } from '#lib/contract/terminal-size.ts'
import { terminalSignals } from '#lib/contract/terminals.ts'
import type { TerminalMark, TerminalNotice, TerminalViewer } from '#lib/wire/terminals.ts'
import type { SignedIn } from '../accounts/signed-in.ts'
import { Allowance } from './allowance.ts'
import type { Ending } from './ending.ts'
import type { Size } from './size-keeper.ts'
import { closeSoon, hangUpMs, watchForDeath } from './sockets.ts'

/** A page that has more than this unread falls behind: it is sent nothing until it has less than `lowWaterBytes`. */
const highWaterBytes = 256 * 1024
const lowWaterBytes = 128 * 1024
const snapshotGapMs = 100
/** Lines above the screen while output floods; all of them follow once it is quiet. */
const floodScrollback = 500
const quietMs = 300
/** Notices are small and not counted in the window; a page that piles them up does not read at all. */
const maxPileBytes = 4 * 1024 * 1024
const typeable = { burst: 1024 * 1024, perSecond: 1024 * 1024 }
/** What a text frame counts at least: parsing it costs more than its bytes. */
const requestCost = 256

/** The screen as it was when the shell had printed `offset` bytes. */
export interface Snapshot {
  bytes: Uint8Array
  offset: number
  cols: number
  rows: number
  marks: TerminalMark[]
}

/** What a page asks of the session; the rest its viewer answers. */
export type ViewerRequest = Exclude<z.infer<typeof PageRequest>, { t: 'ack' | 'ping' }>

interface ViewerEvents {
  input(bytes: Buffer): void
  request(request: ViewerRequest): void
  /** It has missed something: it is to be shown a snapshot with so many lines above the screen. */
  behind(scrollback: number): void
  /** The last round trip between console and service. */
  upstreamMs(): number | null
  left(): void
}

export interface ViewerOpening {
  /** Undefined for who came by a link: that one may look, and nothing else. */
  signedIn: SignedIn | undefined
  /** In words, from its browser. */
  name: string
  client: string | undefined
  wantsToWatch: boolean
  size: Size
  epoch: string | undefined
  since: number | undefined
  scrollback: number
  promisesAcks: boolean
}

/** One page's socket: what it is sent depends on how much of it the page has parsed. */
export class Viewer {
  readonly #socket: WebSocket
  readonly #alive: ReturnType<typeof watchForDeath>
  readonly opening: ViewerOpening
  readonly view: TerminalViewer
  /** The size its window has, whether it may set it or not. */
  size: Size
  #events: ViewerEvents | undefined
  /** Only a `live` page is sent output. One that is `behind` is shown a snapshot next, one that waits is told where it stands. */
  #phase: 'waiting' | 'live' | 'behind' = 'waiting'
  #hasBegun = false
  #acks: boolean
  #sent = 0
  #typed = 0
  #acked = 0
  #askedForSnapshot = false
  #askedForAll = false
  #lastSnapshotAt = 0
  #snapshotTimer: NodeJS.Timeout | undefined
  #skipsGap = false
  /** Lines above the screen it lacks, since the last snapshot was cut short. */
  #isShort = false
  #wantsAll = true
  #quietTimer: NodeJS.Timeout | undefined
  #holds = new Set<'rate' | 'shell'>()
  readonly #typeable = new Allowance(typeable)
  #rateTimer: NodeJS.Timeout | undefined

  constructor(socket: WebSocket, opening: ViewerOpening) {
    this.#socket = socket
    this.opening = opening
    this.size = opening.size
    this.#acks = opening.promisesAcks
    this.view = {
      id: randomBytes(6).toString('base64url'),
      name: opening.name,
      since_ms: Date.now(),
      follower: opening.signedIn === undefined,
    }
    this.#alive = watchForDeath(socket)
    socket.on('message', (data: RawData, isBinary: boolean) => this.#message(data as Buffer, isBinary))
    socket.on('error', () => socket.terminate())
    socket.once('close', () => {
      this.#alive.stop()
      clearTimeout(this.#snapshotTimer)
      clearTimeout(this.#quietTimer)
      clearTimeout(this.#rateTimer)
      this.#events?.left()
    })
  }

  /** To be called at once: what the page says before is lost. */
  listen(events: ViewerEvents): void {
    this.#events = events
  }

  get isOpen(): boolean {
    return this.#socket.readyState === WebSocket.OPEN
  }

  onceClosed(run: () => void): void {
    this.#socket.once('close', run)
  }

  /** Has been told where it stands. */
  get hasBegun(): boolean {
    return this.#hasBegun
  }

  get sentBytes(): number {
    return this.#sent
  }

  get typedBytes(): number {
    return this.#typed
  }

  get isBehind(): boolean {
    return this.#phase === 'behind'
  }

  tell(notice: TerminalNotice): void {
    if (!this.isOpen) return
    if (this.#socket.bufferedAmount > maxPileBytes) this.#socket.terminate()
    else this.#socket.send(JSON.stringify(notice))
  }

  /** Goes on from where it stands with `bytes`, or without them is shown a snapshot. */
  begin(ready: Extract<TerminalNotice, { t: 'ready' }>, bytes: Buffer | undefined): void {
    this.tell(ready)
    // What came before counts as read: a page that begins anew may not say any more that it was.
    this.#acked = this.#sent
    this.#forgetSnapshot()
    this.#hasBegun = true
    if (bytes) {
      this.#phase = 'live'
      if (bytes.length > 0) this.#send(bytes)
      return
    }
    this.#phase = 'behind'
    this.#wantsAll = true
    this.#skipsGap = true
    this.#catchUp()
  }

  /** What comes is not what it was shown until now: nothing more until it begins anew. */
  wait(): void {
    this.#forgetSnapshot()
    this.#phase = 'waiting'
  }

  /** What the shell prints is passed on at once, or not at all. */
  output(bytes: Buffer): void {
    this.#quietTimer?.refresh()
    if (this.#phase !== 'live') return
    if (this.#unread <= highWaterBytes) this.#send(bytes)
    else {
      this.#phase = 'behind'
      this.#catchUp()
    }
  }

  /** The snapshot it was to be shown, and what was printed since it was taken; undefined when that is too much. */
  show({ bytes, offset, cols, rows, marks }: Snapshot, since: Uint8Array | undefined): void {
    if (!this.#askedForSnapshot || !this.isOpen) return
    this.#isShort = !this.#askedForAll
    this.#forgetSnapshot()
    this.#lastSnapshotAt = Date.now()
    this.tell({ t: 'snap', bytes: bytes.length, offset, cols, rows, marks })
    this.#send(bytes)
    if (since && since.length <= lowWaterBytes) {
      this.#phase = 'live'
      if (since.length > 0) this.#send(since)
    } else this.#catchUp()
    if (this.#isShort) this.#quietTimer ??= setTimeout(() => this.#isQuiet(), quietMs)
  }

  /** The last there is to see, however much it has still to read. */
  showLast(snapshot: Snapshot): void {
    if (this.#phase !== 'behind') return
    this.#askedForSnapshot = true
    this.show(snapshot, Buffer.alloc(0))
  }

  /** The snapshot it waits for cannot be shown; it asks again when the time comes. */
  retry(): void {
    this.#askedForSnapshot = false
    this.#catchUp()
  }

  /** A page that is behind is shown what comes of a key such as Ctrl-C without the gap between snapshots. */
  interrupted(): void {
    if (this.#phase !== 'behind') return
    this.#skipsGap = true
    clearTimeout(this.#snapshotTimer)
    this.#snapshotTimer = undefined
    this.#catchUp()
  }

  /** Leaves what the page types unread for as long as the shell does not take it. */
  hold(reason: 'rate' | 'shell', held: boolean): void {
    if (held) this.#holds.add(reason)
    else this.#holds.delete(reason)
    if (!this.isOpen) return
    if (this.#holds.size > 0) this.#socket.pause()
    else this.#socket.resume()
  }

  close(code: number, reason: string, withinMs = hangUpMs): void {
    closeSoon(this.#socket, code, reason, withinMs)
  }

  fail({ closeCode, code, message }: Ending): void {
    this.tell({ t: 'problem', code, message })
    this.close(closeCode, message)
  }

  get #unread(): number {
    const { bufferedAmount } = this.#socket
    return this.#acks ? Math.max(this.#sent - this.#acked, bufferedAmount) : bufferedAmount
  }

  #send(bytes: Uint8Array): void {
    this.#sent += bytes.length
    this.#socket.send(bytes, { binary: true }, this.#flushed)
  }

  readonly #flushed = (error?: Error | null) => {
    if (error) return
    this.#alive.heard()
    this.#catchUp()
  }

  #catchUp(): void {
    if (this.#phase !== 'behind' || this.#askedForSnapshot || this.#snapshotTimer || !this.isOpen) return
    if (this.#unread > lowWaterBytes) return
    const waitMs = this.#skipsGap ? 0 : this.#lastSnapshotAt + snapshotGapMs - Date.now()
    if (waitMs > 0) {
      this.#snapshotTimer = setTimeout(() => {
        this.#snapshotTimer = undefined
        this.#catchUp()
      }, waitMs)
      return
    }
    this.#askedForSnapshot = true
    this.#askedForAll = this.#wantsAll
    const { scrollback } = this.opening
    this.#events?.behind(this.#wantsAll ? scrollback : Math.min(scrollback, floodScrollback))
  }

  #forgetSnapshot(): void {
    clearTimeout(this.#snapshotTimer)
    this.#snapshotTimer = undefined
    this.#askedForSnapshot = this.#skipsGap = this.#wantsAll = false
  }

  #isQuiet(): void {
    this.#quietTimer = undefined
    if (!this.#isShort || !this.isOpen) return
    if (this.#phase === 'live' && this.#unread > lowWaterBytes) {
      this.#quietTimer = setTimeout(() => this.#isQuiet(), quietMs)
      return
    }
    this.#wantsAll = true
    this.#phase = 'behind'
    this.#catchUp()
  }

  #message(data: Buffer, isBinary: boolean): void {
    this.#spend(isBinary ? data.length : Math.max(requestCost, data.length))
    if (isBinary) {
      if (this.view.follower) return
      this.#typed += data.length
      this.#events?.input(data)
      return
    }
    const request = PageRequest.safeParse(parseJson(String(data))).data
    if (request?.t === 'ack') {
      this.#acks = true
      // Nobody can have parsed what was not sent.
      this.#acked = Math.min(this.#sent, this.#acked + request.n)
      this.#catchUp()
    } else if (request?.t === 'ping') {
      this.tell({ t: 'pong', id: request.id, upstream_ms: this.#events?.upstreamMs() ?? null })
    } else if (this.view.follower) return
    else if (request) this.#events?.request(request)
    else this.tell({ t: 'problem', code: 'invalid_argument', message: 'The console does not know this request' })
  }

  #spend(bytes: number): void {
    if (this.#typeable.spend(bytes) >= 0 || this.#rateTimer) return
    this.hold('rate', true)
    this.#rateTimer = setTimeout(() => {
      this.#rateTimer = undefined
      this.hold('rate', false)
    }, this.#typeable.debtMs)
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
  z.object({ t: z.literal('close') }),
  z.object({ t: z.literal('record'), on: z.boolean() }),
  z.object({ t: z.literal('follow'), on: z.boolean() }),
])

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    // The schema refuses it.
    return undefined
  }
}
