import type { IDisposable, Terminal } from '@xterm/xterm'
import type { TerminalMark, TerminalNotice, TerminalRequest, TerminalViewer } from '#lib/contract/terminal-relay.ts'
import { WholeCharacters } from '#lib/contract/terminal-text.ts'
import { maxCells } from '#lib/contract/terminals.ts'
import { type HeldInput, holdInput, maxHeldBytes, noHeldInput } from './held-input.ts'
import { readingPlace } from './reading-place.ts'
import { silenceAnswers } from './terminal-answers.ts'
import { type ConnectionOptions, type ConnectionState, TerminalConnection } from './terminal-connection.ts'
import type { Latency } from './terminal-pulse.ts'

/** What a session needs of the thing that draws it; a headless terminal has it, too. */
export type TerminalScreen = Pick<
  Terminal,
  'cols' | 'rows' | 'write' | 'resize' | 'buffer' | 'scrollToLine' | 'parser' | 'options'
>

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
  held: HeldInput
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
  /** Told to the console, which gives a page that comes back its place again. */
  page(): Promise<string>
  role?: 'watch' | undefined
}

/** A longer paste goes in pieces, so that the size limits on the way never cut the connection. */
const maxInputBytes = 16 * 1024
const resizeQuietMs = 100
const afterEndMs = 500
const ackBytes = 64 * 1024
/** One frame: an acknowledgement of less is only there so that the last bytes are acknowledged, too. */
const ackQuietMs = 16

/** Named so that the eye finds where the old shell ended; drawn dimmed over the width of the screen. */
const newShellRule = 'new shell'

/**
 * One terminal of a devbox: moves bytes between the console and a screen, keeps the screen what it is at the console
 * through lost connections, and knows who may type. The screen is written to by nobody else.
 */
export class TerminalSession {
  readonly #options: Options
  readonly #connection: TerminalConnection
  readonly #encoder = new TextEncoder()
  readonly #listeners = new Set<() => void>()
  readonly #markListeners = new Set<(marks: readonly TerminalMark[]) => void>()
  readonly #silence: IDisposable
  #state: TerminalState = {
    connection: { phase: 'connecting' },
    role: 'writer',
    you: null,
    writer: null,
    viewers: [],
    takenBy: null,
    upstreamLost: null,
    latency: null,
    held: noHeldInput,
    refusedKeys: 0,
    recording: null,
    follow: null,
    problem: null,
  }
  /** Where the screen stands in the output of which shell; nothing before the first, and after the last has ended. */
  #place: { epoch: string; offset: number } | undefined
  #characters = new WholeCharacters()
  #snapshot: Extract<TerminalNotice, { t: 'snap' }> | undefined
  #isRestoring = false
  /** Of the next snapshot: what is on the screen is of another shell, and stays above it. */
  #keepsOldShell = false
  #hasShownShell = false
  /** The console has told on this connection where the page stands. */
  #isReady = false
  /** Typed into a terminal that was just asked for: it goes to the shell as soon as there is one. */
  #ahead = ''
  /** Sent since anything came from the console: if the connection is lost now, nobody knows whether it arrived. */
  #unconfirmed = ''
  #endedAtMs = 0
  #acks = new AckCounter(() => false)
  /** What there is room for; the screen has it unless this page watches. */
  #room: Size
  /** The size the shell has, as far as this page knows. */
  #shellSize: Size | undefined
  #resizeTimer: ReturnType<typeof setTimeout> | undefined

  constructor(options: Options) {
    this.#options = options
    this.#room = sizeOf(options.screen)
    this.#silence = silenceAnswers(options.screen)
    this.#connection = new TerminalConnection({
      ...options,
      url: this.#url,
      onNotice: this.#notice,
      onOutput: this.#output,
      onState: this.#connectionChanged,
      onLatency: (latency) => {
        this.#unconfirmed = ''
        this.#change({ latency })
      },
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
  onMarks = (listener: (marks: readonly TerminalMark[]) => void): (() => void) => {
    this.#markListeners.add(listener)
    return () => void this.#markListeners.delete(listener)
  }

  /** Connects now, whatever the state; also the way to start a new shell after the last one ended. */
  connect = () => this.#connection.connect()

  /** The page is looked at again, or the network is back. */
  check = () => this.#connection.check()

  /** Whether what is typed now goes to the shell. */
  get isLive(): boolean {
    const { connection, upstreamLost } = this.#state
    return connection.phase === 'open' && upstreamLost === null
  }

  /** Keystrokes, pastes and reports of mouse and focus, as xterm's `onData` gives them. */
  sendText = (text: string) => {
    const isReport = reportPattern.test(text)
    if (isReport) {
      // A restored screen that reports the focus reports it again; the program was told when it changed.
      if (this.#isLiveWriter() && !this.#isRestoring) this.#send(this.#encoder.encode(text))
      return
    }
    const { connection, role, held, refusedKeys } = this.#state
    switch (connection.phase) {
      case 'open':
        if (role === 'watcher') return this.#change({ refusedKeys: refusedKeys + 1 })
        // What comes after something held back waits with it: half a command is another one.
        if (!this.isLive || held.text !== '') return this.#hold(text)
        return this.#sendTyped(text)
      case 'connecting':
        if (held.text !== '' || (this.#ahead + text).length > maxHeldBytes) return this.#hold(text)
        this.#ahead += text
        return
      case 'lost':
        if (text === '\r') this.check()
        if (text !== '\r' || held.text !== '') this.#hold(text)
        return
      case 'ended':
        // Not the Enter that somebody was still typing.
        if (text === '\r' && Date.now() - this.#endedAtMs > afterEndMs) this.connect()
    }
  }

  /** Mouse reports in the old encoding, as xterm's `onBinary` gives them: one byte per character. */
  sendBinary = (text: string) => {
    if (this.#isLiveWriter()) this.#send(Uint8Array.from(text, (character) => character.charCodeAt(0) & 255))
  }

  /** Sends what was held back; only `isLive`, as the one who writes. */
  sendHeld = () => {
    const { text } = this.#state.held
    if (!this.#isLiveWriter()) return
    this.#sendTyped(text)
    this.discardHeld()
  }

  discardHeld = () => this.#change({ held: noHeldInput })

  /** There is room for so many cells now. A writer's screen takes them, at once; a watcher's keeps the writer's size. */
  fit = (room: Size) => {
    this.#room = clampedSize(room)
    if (this.#state.role === 'watcher') return
    this.#options.screen.resize(this.#room.cols, this.#room.rows)
    // The first change goes out at once, a flurry of them as its last one.
    if (this.#resizeTimer) return
    this.#sendSize()
  }

  /** Asks the console for something; false when there is no connection to ask over. */
  request = (request: TerminalRequest): boolean =>
    this.#state.connection.phase === 'open' && this.#connection.request(request)

  /** Leaves; the shell goes on without this page. */
  dispose = () => {
    clearTimeout(this.#resizeTimer)
    this.#acks.stop()
    this.#silence.dispose()
    this.#connection.close()
  }

  #url = async (): Promise<string> => {
    const { url, screen, page, role } = this.#options
    const query = new URLSearchParams({ cols: `${this.#room.cols}`, rows: `${this.#room.rows}`, ack: '1' })
    query.set('client', await page())
    query.set('scrollback', `${screen.options.scrollback ?? 1000}`)
    if (role) query.set('role', role)
    if (this.#place) {
      query.set('epoch', this.#place.epoch)
      query.set('since', `${this.#place.offset}`)
    }
    return `${url()}?${query}`
  }

  #notice = (notice: TerminalNotice) => {
    this.#unconfirmed = ''
    switch (notice.t) {
      case 'ready':
        return this.#ready(notice)
      case 'snap':
        this.#snapshot = notice
        return
      case 'size':
        this.#shellSize = { cols: notice.cols, rows: notice.rows }
        return this.#followSize()
      case 'people': {
        const { role } = this.#state
        this.#change({
          you: notice.you,
          role: notice.role,
          writer: notice.writer,
          viewers: notice.viewers,
          ...(notice.role === 'writer' && { takenBy: null }),
        })
        if (role !== notice.role) this.#roleChanged()
        return
      }
      case 'taken':
        this.#change({ takenBy: notice.by, role: 'watcher' })
        return this.#roleChanged()
      case 'state': {
        const isLost = notice.upstream === 'retrying'
        return this.#change({
          upstreamLost: isLost ? { sinceMs: notice.since_ms, message: notice.message ?? null } : null,
        })
      }
      case 'problem':
        return this.#change({ problem: notice.message })
      case 'recording':
        return this.#change({
          recording: notice.id === null ? null : { id: notice.id, sinceMs: notice.since_ms ?? null },
          ...(notice.message && { problem: notice.message }),
        })
      case 'follow':
        return this.#change({
          follow: notice.path === null ? null : { path: notice.path, expiresAtMs: notice.expires_at_ms ?? null },
        })
    }
  }

  #ready({ created, cols, rows, epoch, offset, role }: Extract<TerminalNotice, { t: 'ready' }>) {
    const isAnother = created && this.#hasShownShell
    // A console that was there when the shell went has the old one above the new one itself.
    this.#keepsOldShell = isAnother && !this.#isReady
    this.#hasShownShell = this.#isReady = true
    this.#place = { epoch, offset }
    this.#snapshot = undefined
    this.#shellSize = { cols, rows }
    this.#acks.stop()
    this.#acks = new AckCounter((n) => this.#connection.request({ t: 'ack', n }))
    const { held } = this.#state
    const isForAnotherShell = held.isForAnotherShell || (held.text !== '' && isAnother)
    this.#change({ role, problem: null, upstreamLost: null, held: { ...held, isForAnotherShell } })
    if (role === 'writer') this.#sendTyped(this.#ahead)
    this.#ahead = ''
    this.#roleChanged()
  }

  #connectionChanged = (connection: ConnectionState) => {
    if (connection.phase !== 'open') this.#isReady = false
    if (connection.phase === 'ended') {
      this.#endedAtMs = Date.now()
      this.#place = undefined
      this.#change({ connection, held: noHeldInput, recording: null, follow: null, viewers: [], writer: null })
    } else this.#change({ connection })
    if (connection.phase === 'connecting' || connection.phase === 'open') return
    if (this.#ahead !== '') this.#hold(this.#ahead)
    if (this.#unconfirmed !== '' && connection.phase === 'lost') {
      this.#hold(this.#unconfirmed)
      this.#change({ held: { ...this.#state.held, mayHaveArrived: true } })
    }
    this.#ahead = this.#unconfirmed = ''
  }

  #hold(text: string) {
    this.#change({ held: holdInput(this.#state.held, text) })
  }

  #output = (bytes: Uint8Array) => {
    const { screen } = this.#options
    this.#unconfirmed = ''
    const acks = this.#acks
    const snapshot = this.#snapshot
    if (snapshot) {
      this.#snapshot = undefined
      if (this.#place) this.#place.offset = snapshot.offset
      this.#characters = new WholeCharacters()
      // It may end in the middle of a character, whose end comes next.
      return this.#restore(snapshot, this.#characters.take(bytes), () => acks.parsed(bytes.length))
    }
    if (this.#place) this.#place.offset += bytes.length
    screen.write(this.#characters.take(bytes), () => acks.parsed(bytes.length))
  }

  /** Replaces the screen, in one piece and in order with what came before: nothing in between is ever drawn. */
  #restore(snapshot: Extract<TerminalNotice, { t: 'snap' }>, bytes: Uint8Array, parsed: () => void) {
    const { screen } = this.#options
    const keepsOldShell = this.#keepsOldShell
    this.#keepsOldShell = false
    let returnToPlace: ReturnType<typeof readingPlace>
    let firstLine = 0
    screen.write('', () => {
      returnToPlace = readingPlace(screen)
      screen.resize(snapshot.cols, snapshot.rows)
      this.#isRestoring = true
    })
    if (keepsOldShell) {
      screen.write(aboveNewShell(snapshot))
      screen.write('', () => {
        firstLine = screen.buffer.normal.baseY
      })
    }
    screen.write(keepsOldShell ? withoutReset(bytes) : bytes, () => {
      this.#isRestoring = false
      const marks = snapshot.marks.map((mark) => ({ ...mark, line: mark.line + firstLine }))
      for (const listener of this.#markListeners) listener(marks)
      if (this.#state.role === 'writer') {
        screen.resize(this.#room.cols, this.#room.rows)
        this.#sendSize()
      }
      returnToPlace?.(screen)
      parsed()
    })
  }

  #roleChanged() {
    if (this.#state.role === 'watcher') return this.#followSize()
    // After what was sent for the watcher's size.
    this.#options.screen.write('', () => this.fit(this.#room))
  }

  /** In order with the output around it, which was made for either size. */
  #followSize() {
    const { screen } = this.#options
    if (this.#state.role !== 'watcher') return
    const size = this.#shellSize
    screen.write('', () => {
      if (size && this.#state.role === 'watcher') screen.resize(size.cols, size.rows)
    })
  }

  #sendSize() {
    const size = this.#room
    if (this.#state.role !== 'writer' || isSame(size, this.#shellSize)) return
    if (!this.request({ t: 'resize', ...size })) return
    this.#shellSize = size
    this.#resizeTimer = setTimeout(() => {
      this.#resizeTimer = undefined
      this.#sendSize()
    }, resizeQuietMs)
  }

  #isLiveWriter = () => this.isLive && this.#state.role === 'writer'

  #sendTyped(text: string) {
    this.#send(this.#encoder.encode(text))
    // Beyond what can be held anyway, it is only known that there was more.
    if (this.#unconfirmed.length <= maxHeldBytes) this.#unconfirmed += text
  }

  #send(bytes: Uint8Array<ArrayBuffer>) {
    for (let start = 0; start < bytes.length; start += maxInputBytes)
      this.#connection.send(bytes.slice(start, start + maxInputBytes))
  }

  #change(part: Partial<TerminalState>) {
    this.#state = { ...this.#state, ...part }
    for (const listener of this.#listeners) listener()
  }
}

interface Size {
  cols: number
  rows: number
}

/** Tells the console how much of one connection's output has been parsed, in portions. */
class AckCounter {
  readonly #send: (bytes: number) => void
  #waiting = 0
  #timer: ReturnType<typeof setTimeout> | undefined
  #isStopped = false

  constructor(send: (bytes: number) => void) {
    this.#send = send
  }

  parsed(bytes: number) {
    if (this.#isStopped) return
    this.#waiting += bytes
    if (this.#waiting >= ackBytes) this.#flush()
    // No animation frame: hidden pages have none, and go on reading.
    else this.#timer ??= setTimeout(() => this.#flush(), ackQuietMs)
  }

  stop() {
    this.#isStopped = true
    clearTimeout(this.#timer)
  }

  #flush() {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#send(this.#waiting)
    this.#waiting = 0
  }
}

/** Mouse and focus: nobody typed them, and later they would be wrong. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: reports begin with one
const reportPattern = /^\x1b\[(?:[IO]$|<[\d;]+[mM]$|[\d;]+M$|M)/

/**
 * Pushes what is on the screen up into the scrollback and draws a rule below it, leaving a screen as empty and its
 * modes as plain as a full reset would.
 */
const aboveNewShell = ({ cols, rows }: Size): string => {
  const rule = ` ${newShellRule} `.padStart(Math.ceil((cols + newShellRule.length + 2) / 2), '─').padEnd(cols, '─')
  // Saved first, so that leaving the alternate screen moves no cursor when it was not on it.
  return `\x1b7\x1b[?1049l\x1b[!p${plainModes}\r\n\x1b[0m\x1b[J\x1b[2m${rule.slice(0, cols)}\x1b[0m${'\r\n'.repeat(rows)}\x1b[H`
}
/** What a soft reset leaves on: mouse reports, focus reports, bracketed paste, and the palette. */
const plainModes =
  '\x1b[?9;1000;1002;1003;1004;1005;1006;1015;1016;2004;2026l\x1b]104\x1b\\\x1b]110\x1b\\\x1b]111\x1b\\\x1b]112\x1b\\'

/** A snapshot begins with one, after a byte or two that end what was cut off. */
const withoutReset = (bytes: Uint8Array): Uint8Array => {
  const end = bytes.subarray(0, 8).findIndex((byte, at) => byte === 0x63 && bytes[at - 1] === 0x1b)
  return bytes.subarray(end + 1)
}

const clamp = (cells: number) => Math.min(maxCells, Math.max(1, Math.floor(cells)))
const clampedSize = ({ cols, rows }: Size): Size => ({ cols: clamp(cols), rows: clamp(rows) })
const sizeOf = ({ cols, rows }: TerminalScreen): Size => clampedSize({ cols, rows })
const isSame = (one: Size, other: Size | undefined) => one.cols === other?.cols && one.rows === other.rows
