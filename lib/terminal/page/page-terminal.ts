import { maxCells } from '#lib/contract/terminal-limits.ts'
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
import { TypedInput } from './typed-input.ts'
import { noUnsentInput, type UnsentInput } from './unsent-input.ts'

/** What there is to say about a terminal; a new object after each change. */
export interface TerminalState {
  connection: ConnectionState
  role: 'writer' | 'watcher'
  /** This page's own id among `viewers`. */
  you: string | null
  writer: TerminalViewer | null
  viewers: readonly TerminalViewer[]
  /** Who took the keyboard from this page, until it has it again. */
  takenBy: TerminalViewer | null
  /** Set while the console has lost the service: nothing typed arrives. */
  upstreamLost: { sinceMs: number; message: string | null } | null
  latency: Latency | null
  unsent: UnsentInput
  /** Counts the keys a watcher has pressed in vain. */
  refusedKeys: number
  recording: { id: string; sinceMs: number | null } | null
  follow: { path: string; expiresAtMs: number | null } | null
  /** What the console said last of something that went wrong; forgotten when it has connected anew. */
  problem: string | null
}

interface Options extends Pick<ConnectionOptions, 'isSignedOut' | 'isOffline' | 'isVisible' | 'WebSocket'> {
  /** `ws:` or `wss:` address of the terminal, without a query. */
  url(): string
  screen: TerminalScreen
  /** The page's own name, by which the console gives it its place again when it comes back. */
  page: string
  role?: 'watch' | undefined
}

interface Size {
  cols: number
  rows: number
}

const resizeQuietMs = 100
/** An Enter right after the end was still meant for the shell that ended. */
const afterEndMs = 500
const xtermScrollback = 1000

/**
 * One terminal of a devbox: moves bytes between the console and a screen, keeps the screen what it is at the console
 * through lost connections, and knows who may type. The screen is written to by nobody else.
 */
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
  /** How much of which shell's output the screen shows; undefined before the first shell and after the last has ended. */
  #place: { epoch: string; offset: number } | undefined
  /** Set when the next binary frame is a snapshot. */
  #snapshot: Snapshot | undefined
  /** The next snapshot goes below what is on the screen. */
  #keepsOldShell = false
  #hasShownShell = false
  #folder: string | undefined
  #endedAtMs = 0
  /** The size that fits into the pane; the screen has it unless this page watches. */
  #available: Size
  /** The size the shell has, as far as this page knows. */
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

  /** Calls `listener` after each change of `state`, until the answer is called. */
  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /**
   * Calls `listener` when a snapshot has replaced the screen, with the marks in it, their lines counted from the first
   * line of the screen's buffer; what was marked before is gone. Nothing printed later has been parsed then.
   */
  onMarks = (listener: (marks: readonly TerminalMark[]) => void): (() => void) => this.#painter.onMarks(listener)

  /** Connects now, whatever the state; also the way to start a new shell after the last one ended. */
  connect = () => this.#connection.connect()

  /** The page is looked at again, or the network has come or gone. */
  check = () => this.#connection.check()

  /** Where the shell stands, if it tells. */
  get folder(): string | undefined {
    return this.#folder
  }

  /** What the writer types now goes to the shell. */
  get isLive(): boolean {
    const { connection, upstreamLost } = this.#state
    return connection.phase === 'open' && upstreamLost === null
  }

  /** Keystrokes, pastes and reports of mouse and focus, as xterm's `onData` gives them. */
  sendText = (text: string) => {
    if (reportPattern.test(text)) {
      // A restored screen that reports the focus reports it again; the program was told when it changed.
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
        if (text === '\r' && Date.now() - this.#endedAtMs > afterEndMs) this.connect()
    }
  }

  /** Mouse reports in the old encoding, as xterm's `onBinary` gives them: one byte per character. */
  sendBinary = (text: string) => {
    if (this.#mayType) this.#input.report(Uint8Array.from(text, (character) => character.charCodeAt(0) & 255))
  }

  /** Sends the unsent text, if this page may type now. */
  sendUnsent = () => {
    if (this.#mayType) this.#input.sendUnsent()
  }

  discardUnsent = () => this.#input.discardUnsent()

  /** So many cells fit into the pane now. A writer's screen takes that size at once; a watcher's keeps the writer's. */
  fit = (available: Size) => {
    this.#available = clampedSize(available)
    if (this.#state.role === 'watcher') return
    this.#options.screen.resize(this.#available.cols, this.#available.rows)
    // The first change is sent at once, then at most one each tenth of a second.
    if (!this.#resizeTimer) this.#sendSize()
  }

  /** Asks the console for something; false when there is no connection to ask over. */
  request = (request: TerminalRequest): boolean =>
    this.#state.connection.phase === 'open' && this.#connection.request(request)

  /** Leaves; the shell goes on without this page. */
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
      this.#endedAtMs = Date.now()
      this.#place = undefined
      this.#change({ recording: null, follow: null, viewers: [], writer: null })
    }
    this.#change({ connection })
    if (connection.phase !== 'open' && connection.phase !== 'connecting') this.#input.closed(connection.phase)
  }

  /** A writer's screen gets the size that fits, a watcher's that of the shell: after the output that came before. */
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

/**
 * Keeps a terminal from answering what programs ask it. The console's own terminal answers, whether a page looks or
 * not; a page that did so too would answer twice, and each further page once more.
 */
const silenceAnswers = ({ parser }: Pick<TerminalScreen, 'parser'>): void => {
  for (const question of [
    // What are you? (DA1 to DA3, XTVERSION)
    { final: 'c' },
    { prefix: '>', final: 'c' },
    { prefix: '=', final: 'c' },
    { prefix: '>', final: 'q' },
    // How are you, and where is the cursor? (DSR)
    { final: 'n' },
    { prefix: '?', final: 'n' },
    // Which modes and settings are on? (DECRQM, DECREQTPARM)
    { intermediates: '$', final: 'p' },
    { prefix: '?', intermediates: '$', final: 'p' },
    { final: 'x' },
  ])
    parser.registerCsiHandler(question, () => true)
  // Which settings are on, and what can you do? (DECRQSS, XTGETTCAP)
  for (const intermediates of ['$', '+']) parser.registerDcsHandler({ intermediates, final: 'q' }, () => true)
  // Which colours? Setting one goes on to the terminal. No program does both in one sequence.
  for (const code of [4, 5, 10, 11, 12, 13, 14, 17, 19])
    parser.registerOscHandler(code, (data) => data.split(';').includes('?'))
}

/** Reports of mouse and focus: nobody typed them, and later they would be wrong. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: reports begin with one
const reportPattern = /^\x1b\[(?:[IO]$|<[\d;]+[mM]$|[\d;]+M$|M)/

const clamp = (cells: number) => Math.min(maxCells, Math.max(1, Math.floor(cells)))
const clampedSize = ({ cols, rows }: Size): Size => ({ cols: clamp(cols), rows: clamp(rows) })
const isSame = (one: Size, other: Size | undefined) => one.cols === other?.cols && one.rows === other.rows
