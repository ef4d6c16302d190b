import { maxCells } from '#lib/contract/terminals.ts'
import type {
  TerminalMark,
  TerminalNotice,
  TerminalOpening,
  TerminalRequest,
  TerminalViewer,
} from '#lib/protocol/terminals.ts'
import { reportedFolder } from '../xterm/osc.ts'
import { type ConnectionOptions, type ConnectionState, TerminalConnection } from './connection.ts'
import { type Snapshot, TerminalPainter, type TerminalScreen } from './painter.ts'
import type { Latency } from './pulse.ts'
import { noUnsentInput, TypedInput, type UnsentInput } from './typed-input.ts'

export interface TerminalState {
  connection: ConnectionState
  role: 'writer' | 'watcher'
  you: string | null
  writer: TerminalViewer | null
  viewers: readonly TerminalViewer[]
  /** Who took over from this page, until it writes again. */
  takenBy: TerminalViewer | null
  /** Set while the console has lost the service: input doesn't arrive. */
  upstreamLost: { sinceMs: number; message: string | null } | null
  latency: Latency | null
  unsent: UnsentInput
  refusedKeys: number
  recording: { id: string; sinceMs: number | null } | null
  follow: { path: string; expiresAtMs: number | null } | null
  /** Last problem the console reported on this connection. */
  problem: string | null
}

interface Options extends Pick<ConnectionOptions, 'isSignedOut' | 'isOffline' | 'isVisible' | 'WebSocket'> {
  url(): string
  screen: TerminalScreen
  /** Stable name that restores this page's role after a reload. */
  page: string
  role?: 'watch' | undefined
}

interface Size {
  cols: number
  rows: number
}

const resizeQuietMs = 100
/** Enter this soon after the end was meant for the old shell. */
const afterEndMs = 500
const xtermScrollback = 1000

/** A page's side of one terminal. Nothing else writes to the screen. */
export class PageTerminal {
  readonly #options: Options
  readonly #connection: TerminalConnection
  readonly #painter: TerminalPainter
  readonly #input: TypedInput
  readonly #listeners = new Set<() => void>()
  #state: TerminalState = {
    connection: { phase: 'connecting' },
    role: 'writer',
    you: null,
    writer: null,
    viewers: [],
    takenBy: null,
    upstreamLost: null,
    latency: null,
    unsent: noUnsentInput,
    refusedKeys: 0,
    recording: null,
    follow: null,
    problem: null,
  }
  /** How much of which shell's output is on screen; undefined without a shell. */
  #place: { epoch: string; offset: number } | undefined
  /** Set while the next binary frame is a snapshot. */
  #snapshot: Snapshot | undefined
  /** The next snapshot goes below the current screen. */
  #keepsOldShell = false
  #hasShownShell = false
  #folder: string | undefined
  #endedAtMs = 0
  /** Size that fits the pane. The screen uses it unless this page only watches. */
  #available: Size
  #shellSize: Size | undefined
  #resizeTimer: ReturnType<typeof setTimeout> | undefined

  constructor(options: Options) {
    this.#options = options
    this.#available = clampedSize(options.screen)
    this.#painter = new TerminalPainter(options.screen)
    silenceAnswers(options.screen)
    options.screen.parser.registerOscHandler(7, (data) => {
      this.#folder = data === '' ? undefined : (reportedFolder(data) ?? this.#folder)
      return false
    })
    this.#input = new TypedInput({
      send: (bytes) => this.#connection.send(bytes),
      onUnsent: (unsent) => this.#change({ unsent }),
    })
    this.#connection = new TerminalConnection({
      ...options,
      url: this.#url,
      onNotice: this.#notice,
      onOutput: this.#output,
      onState: this.#connectionChanged,
      onLatency: (latency) => this.#change({ latency }),
    })
  }

  get state(): TerminalState {
    return this.#state
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Called with a snapshot's marks, before later output is parsed. Lines count from the start of the buffer. */
  onMarks = (listener: (marks: readonly TerminalMark[]) => void): (() => void) => this.#painter.onMarks(listener)

  /** Connects in any state; also starts a new shell after the last one ended. */
  connect = () => this.#connection.connect()

  check = () => this.#connection.check()

  get folder(): string | undefined {
    return this.#folder
  }

  /** Input from this page reaches the shell. */
  get isLive(): boolean {
    const { connection, upstreamLost } = this.#state
    return connection.phase === 'open' && upstreamLost === null
  }

  /** Keystrokes, pastes and reports from xterm's `onData`. */
  sendText = (text: string) => {
    if (reportPattern.test(text)) {
      // A restored screen reports focus again, which the program already knows.
      if (this.#mayType && !this.#painter.isRestoring) this.#input.report(new TextEncoder().encode(text))
      return
    }
    const { connection, role, unsent, refusedKeys } = this.#state
    switch (connection.phase) {
      case 'open':
        if (role === 'watcher') this.#change({ refusedKeys: refusedKeys + 1 })
        else if (this.#mayType) this.#input.type(text)
        else this.#input.keep(text)
        return
      case 'connecting':
        return this.#input.typeAhead(text)
      case 'lost':
        if (text === '\r') this.check()
        if (text !== '\r' || unsent.text !== '') this.#input.keep(text)
        return
      case 'ended':
        if (text === '\r' && performance.now() - this.#endedAtMs > afterEndMs) this.connect()
    }
  }

  /** Legacy mouse reports from xterm's `onBinary`, one byte per character. */
  sendBinary = (text: string) => {
    if (this.#mayType) this.#input.report(Uint8Array.from(text, (character) => character.charCodeAt(0) & 255))
  }

  sendUnsent = () => {
    if (this.#mayType) this.#input.sendUnsent()
  }

  discardUnsent = () => this.#input.discardUnsent()

  /** Sets the size that fits the pane. Writers resize at once, watchers keep the writer's size. */
  fit = (available: Size) => {
    this.#available = clampedSize(available)
    if (this.#state.role === 'watcher') return
    this.#options.screen.resize(this.#available.cols, this.#available.rows)
    // The first change is sent at once, later ones at most every 100 ms.
    if (!this.#resizeTimer) this.#sendSize()
  }

  request = (request: TerminalRequest): boolean =>
    this.#state.connection.phase === 'open' && this.#connection.request(request)

  dispose = () => {
    clearTimeout(this.#resizeTimer)
    this.#painter.stop()
    this.#connection.close()
  }

  #url = (): string => {
    const { url, screen, page, role } = this.#options
    const opening: TerminalOpening = {
      ...this.#available,
      client: page,
      scrollback: screen.options.scrollback ?? xtermScrollback,
      ...(role && { role }),
      ...(this.#place && { epoch: this.#place.epoch, since: this.#place.offset }),
      ack: '1',
    }
    return `${url()}${url().includes('?') ? '&' : '?'}${new URLSearchParams(Object.entries(opening).map(([key, value]) => [key, `${value}`]))}`
  }

  #notice = (notice: TerminalNotice) => {
    switch (notice.t) {
      case 'ready':
        return this.#ready(notice)
      case 'typed':
        return this.#input.confirmed(notice.n, notice.input)
      case 'dropped':
        return this.#input.dropped(notice.from, notice.to, notice.may_have_arrived)
      case 'snap':
        this.#snapshot = notice
        return
      case 'size':
        this.#shellSize = { cols: notice.cols, rows: notice.rows }
        return this.#takeSize()
      case 'people': {
        const { you, role, writer, viewers } = notice
        const before = this.#state
        this.#change({ you, role, writer, viewers, takenBy: role === 'writer' ? null : before.takenBy })
        if (role === 'watcher') this.#input.watched()
        if (role !== before.role) this.#takeSize()
        return
      }
      case 'taken':
        this.#change({ takenBy: notice.by, role: 'watcher' })
        return this.#takeSize()
      case 'state': {
        const { upstream, since_ms, message = null } = notice
        return this.#change({ upstreamLost: upstream === 'retrying' ? { sinceMs: since_ms, message } : null })
      }
      case 'problem':
        return this.#change({ problem: notice.message })
      case 'recording': {
        const { id, since_ms = null, message } = notice
        this.#change({ recording: id === null ? null : { id, sinceMs: since_ms } })
        if (message) this.#change({ problem: message })
        return
      }
      case 'follow': {
        const { path, expires_at_ms = null } = notice
        return this.#change({ follow: path === null ? null : { path, expiresAtMs: expires_at_ms } })
      }
    }
  }

  #ready({
    created,
    has_last_shell,
    cols,
    rows,
    epoch,
    offset,
    role,
    typed,
    input,
  }: Extract<TerminalNotice, { t: 'ready' }>) {
    const isAnotherShell = created && this.#hasShownShell
    this.#keepsOldShell = isAnotherShell && !has_last_shell
    this.#hasShownShell = true
    this.#place = { epoch, offset }
    this.#snapshot = undefined
    this.#shellSize = { cols, rows }
    this.#painter.begin((n) => this.#connection.request({ t: 'ack', n }))
    this.#change({ role, problem: null, upstreamLost: null })
    if (this.#state.connection.phase !== 'open') this.#input.connected(typed, input)
    this.#input.opened({ mayType: role === 'writer', isAnotherShell })
    this.#takeSize()
  }

  #output = (bytes: Uint8Array) => {
    const snapshot = this.#snapshot
    if (!snapshot) {
      if (this.#place) this.#place.offset += bytes.length
      return this.#painter.output(bytes)
    }
    this.#snapshot = undefined
    if (this.#place) this.#place.offset = snapshot.offset
    this.#painter.restore(snapshot, bytes, { below: this.#keepsOldShell }, () => {
      if (this.#state.role === 'writer') this.fit(this.#available)
    })
    this.#keepsOldShell = false
  }

  #connectionChanged = (connection: ConnectionState) => {
    if (connection.phase === 'ended') {
      this.#endedAtMs = performance.now()
      this.#place = undefined
      this.#change({ recording: null, follow: null, viewers: [], writer: null })
    }
    this.#change({ connection })
    if (connection.phase !== 'open' && connection.phase !== 'connecting') this.#input.closed(connection.phase)
  }

  /** Applies the size after earlier output is parsed. */
  #takeSize() {
    const size = this.#shellSize
    this.#painter.afterwards(() => {
      if (this.#state.role === 'writer') this.fit(this.#available)
      else if (size) this.#options.screen.resize(size.cols, size.rows)
    })
  }

  #sendSize() {
    if (this.#state.role !== 'writer' || isSame(this.#available, this.#shellSize)) return
    if (!this.request({ t: 'resize', ...this.#available })) return
    this.#shellSize = this.#available
    this.#resizeTimer = setTimeout(() => {
      this.#resizeTimer = undefined
      this.#sendSize()
    }, resizeQuietMs)
  }

  get #mayType(): boolean {
    return this.isLive && this.#state.role === 'writer'
  }

  #change(part: Partial<TerminalState>) {
    this.#state = { ...this.#state, ...part }
    for (const listener of this.#listeners) listener()
  }
}

/** Stops xterm from answering queries. The console's mirror answers them, so pages would answer twice. */
const silenceAnswers = ({ parser }: Pick<TerminalScreen, 'parser'>): void => {
  for (const question of [
    // Device attributes (DA1 to DA3, XTVERSION)
    { final: 'c' },
    { prefix: '>', final: 'c' },
    { prefix: '=', final: 'c' },
    { prefix: '>', final: 'q' },
    // Device status and cursor position (DSR)
    { final: 'n' },
    { prefix: '?', final: 'n' },
    // Modes and settings (DECRQM, DECREQTPARM)
    { intermediates: '$', final: 'p' },
    { prefix: '?', intermediates: '$', final: 'p' },
    { final: 'x' },
  ])
    parser.registerCsiHandler(question, () => true)
  // Settings and capabilities (DECRQSS, XTGETTCAP)
  for (const intermediates of ['$', '+']) parser.registerDcsHandler({ intermediates, final: 'q' }, () => true)
  // Colors: queries stop here, settings continue to xterm. No program mixes both in one sequence.
  for (const code of [4, 5, 10, 11, 12, 13, 14, 17, 19])
    parser.registerOscHandler(code, (data) => data.split(';').includes('?'))
}

/** Mouse and focus reports are not typed input and would be wrong later. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: reports begin with one
const reportPattern = /^\x1b\[(?:[IO]$|<[\d;]+[mM]$|[\d;]+M$|M)/

const clamp = (cells: number) => Math.min(maxCells, Math.max(1, Math.floor(cells)))
const clampedSize = ({ cols, rows }: Size): Size => ({ cols: clamp(cols), rows: clamp(rows) })
const isSame = (one: Size, other: Size | undefined) => one.cols === other?.cols && one.rows === other.rows
