import { type TerminalNotice, type TerminalRequest, terminalClose } from '#lib/contract/relay.ts'
import { maxCells } from '#lib/contract/terminals.ts'

/** What a session needs of the thing that draws it; an xterm `Terminal` is one. */
export interface TerminalScreen {
  readonly cols: number
  readonly rows: number
  /** Parses in order; `parsed` is called once this piece has been. */
  write(data: Uint8Array | string, parsed?: () => void): void
}

export type TerminalState =
  | { phase: 'connecting' }
  | { phase: 'open' }
  /** `attempt` counts from 1; the next try starts at `retryAtMs`. */
  | { phase: 'reconnecting'; attempt: number; retryAtMs: number }
  | { phase: 'ended'; reason: string }
  | { phase: 'taken_over' }
  /** Trying again by itself makes no sense; `connect()` may, once the cause is gone. */
  | { phase: 'refused'; code: 'signed_out' | 'not_found' | 'not_running' }

interface Options {
  /** `ws:` or `wss:` address of the terminal, without cols and rows. */
  url: string
  screen: TerminalScreen
  onState(state: TerminalState): void
  /** Asked when a connection fails before it is open: why it was refused, no browser tells. */
  isSignedOut(): Promise<boolean>
  WebSocket?: typeof globalThis.WebSocket
}

/** A longer paste goes in pieces, so that the size limits on the way never cut the connection. */
const maxInputBytes = 16 * 1024
const resizeQuietMs = 100
/** What a service replays follows `ready` at once. What comes later is new, and belongs below what is on the screen. */
const replayWithinMs = 1_000
const firstRetryMs = 250
const maxRetryMs = 15_000

/**
 * One terminal of a devbox: keeps a WebSocket to the console for as long as the shell lives, and moves bytes between
 * it and a screen. Leaves the screen as it is when the connection goes.
 */
export class TerminalSession {
  readonly #options: Options
  readonly #encoder = new TextEncoder()
  #state: TerminalState = { phase: 'connecting' }
  #socket: WebSocket | undefined
  #retry: ReturnType<typeof setTimeout> | undefined
  #resizeTimer: ReturnType<typeof setTimeout> | undefined
  #resizeWaits = false
  #attempt = 0
  /** The size the shell has, as far as this page knows. */
  #shellSize: { cols: number; rows: number } | undefined
  /** This page has shown a shell before, so that a new one is worth a word. */
  #hasShownShell = false
  #lastProblem: string | undefined
  #expectsReplay = false
  #readyAtMs = 0
  #isReplaying = false

  constructor(options: Options) {
    this.#options = options
  }

  get state(): TerminalState {
    return this.#state
  }

  /** Connects now, whatever the state; also the way to start a new shell after the last one ended. */
  connect = () => {
    this.#hangUp()
    this.#setState(
      this.#attempt > 0
        ? { phase: 'reconnecting', attempt: this.#attempt, retryAtMs: Date.now() }
        : { phase: 'connecting' },
    )
    const { screen, url, WebSocket = globalThis.WebSocket } = this.#options
    const { cols, rows } = sizeOf(screen)
    const socket = new WebSocket(`${url}?cols=${cols}&rows=${rows}`)
    socket.binaryType = 'arraybuffer'
    this.#socket = socket
    this.#shellSize = { cols, rows }
    socket.onmessage = ({ data }: MessageEvent<ArrayBuffer | string>) => {
      if (typeof data === 'string') this.#notice(JSON.parse(data) as TerminalNotice)
      else this.#output(new Uint8Array(data))
    }
    let wasOpen = false
    socket.onopen = () => {
      wasOpen = true
    }
    socket.onclose = ({ code, reason }) => {
      if (socket !== this.#socket) return
      this.#closed(code, reason)
      if (!wasOpen) void this.#stopIfSignedOut()
    }
  }

  /** Connects without waiting for the next try, if one is being waited for. */
  retryNow = () => {
    if (this.#state.phase === 'reconnecting' && this.#retry) this.connect()
  }

  /** Keystrokes and pastes, as xterm's `onData` gives them, and its answers to what a program asks the terminal. */
  sendText = (text: string) => {
    if (!isTalkative(text)) this.#send(this.#encoder.encode(text))
  }

  /** Mouse reports in the old encoding, as xterm's `onBinary` gives them: one byte per character. */
  sendBinary = (text: string) => this.#send(Uint8Array.from(text, (character) => character.charCodeAt(0) & 255))

  /** To be called after every change of the screen's size: the first goes out at once, a flurry as its last one. */
  resized = () => {
    if (this.#resizeTimer) {
      this.#resizeWaits = true
      return
    }
    this.#sendSize()
    this.#resizeTimer = setTimeout(() => {
      this.#resizeTimer = undefined
      if (this.#resizeWaits) {
        this.#resizeWaits = false
        this.resized()
      }
    }, resizeQuietMs)
  }

  /** Ends the shell. */
  endShell = () => this.#request({ type: 'close' })

  /** Leaves; the shell goes on without this page. */
  dispose = () => {
    clearTimeout(this.#resizeTimer)
    this.#hangUp()
  }

  #hangUp() {
    clearTimeout(this.#retry)
    this.#retry = undefined
    const socket = this.#socket
    this.#socket = undefined
    this.#isReplaying = false
    this.#expectsReplay = false
    if (socket) {
      socket.onmessage = null
      socket.close()
    }
  }

  #notice(notice: TerminalNotice) {
    switch (notice.type) {
      case 'ready':
        this.#attempt = 0
        this.#lastProblem = undefined
        this.#shellSize = { cols: notice.cols, rows: notice.rows }
        if (notice.created && this.#hasShownShell) this.say('The last shell is gone. This is a new one.')
        this.#hasShownShell = true
        this.#expectsReplay = !notice.created
        this.#readyAtMs = Date.now()
        this.#setState({ phase: 'open' })
        this.#sendSize()
        return
      case 'problem':
        // Each failed try to come back brings the same one.
        if (notice.message !== this.#lastProblem) this.say(notice.message)
        this.#lastProblem = notice.message
        return
      case 'exit':
        // The close that follows carries the same.
        return
    }
  }

  #output(bytes: Uint8Array) {
    const { screen } = this.#options
    if (!this.#expectsReplay) return screen.write(bytes)
    // What is replayed was answered when it was new: a terminal that answers its queries again types the answers
    // into whatever program now reads the keyboard.
    this.#expectsReplay = false
    this.#isReplaying = true
    if (Date.now() - this.#readyAtMs < replayWithinMs) screen.write(resetScreen)
    screen.write(bytes, () => {
      this.#isReplaying = false
    })
  }

  #closed(code: number, reason: string) {
    this.#socket = undefined
    this.#isReplaying = false
    switch (code) {
      case terminalClose.shellEnded:
        this.#attempt = 0
        // Its end was told; the next shell is one that somebody asked for.
        this.#hasShownShell = false
        return this.#setState({ phase: 'ended', reason })
      case terminalClose.takenOver:
        return this.#setState({ phase: 'taken_over' })
      case terminalClose.signedOut:
        return this.#setState({ phase: 'refused', code: 'signed_out' })
      case terminalClose.devboxNotFound:
        return this.#setState({ phase: 'refused', code: 'not_found' })
      case terminalClose.devboxNotRunning:
        return this.#setState({ phase: 'refused', code: 'not_running' })
      default: {
        const waitMs = Math.min(maxRetryMs, firstRetryMs * 2 ** this.#attempt) * (0.8 + Math.random() * 0.4)
        this.#attempt += 1
        this.#retry = setTimeout(this.connect, waitMs)
        this.#setState({ phase: 'reconnecting', attempt: this.#attempt, retryAtMs: Date.now() + waitMs })
      }
    }
  }

  async #stopIfSignedOut() {
    const retry = this.#retry
    if (!(await this.#options.isSignedOut()) || retry !== this.#retry) return
    this.#hangUp()
    this.#setState({ phase: 'refused', code: 'signed_out' })
  }

  /** A line of the console's own on the screen, told apart from the shell's by brackets and dimness. */
  say(text: string) {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: a message may quote what a devbox said
    const plain = text.replace(/[\x00-\x1f\x7f-\x9f]/g, ' ')
    this.#options.screen.write(`\r\n\x1b[0;2m[${plain}]\x1b[0m\r\n`)
  }

  #send(bytes: Uint8Array) {
    if (this.#isReplaying || this.#socket?.readyState !== 1) return
    for (let start = 0; start < bytes.length; start += maxInputBytes) {
      this.#socket.send(bytes.slice(start, start + maxInputBytes))
    }
  }

  #sendSize() {
    const size = sizeOf(this.#options.screen)
    if (size.cols === this.#shellSize?.cols && size.rows === this.#shellSize.rows) return
    if (this.#request({ type: 'resize', ...size })) this.#shellSize = size
  }

  #request(request: TerminalRequest): boolean {
    if (this.#state.phase !== 'open' || this.#socket?.readyState !== 1) return false
    this.#socket.send(JSON.stringify(request))
    return true
  }

  #setState(state: TerminalState) {
    this.#state = state
    this.#options.onState(state)
  }
}

/**
 * Answers that carry more than numbers (colours, settings, titles): a program that prints the question and ends leaves
 * the answer to be read by the shell as if it were typed. No key sends more than two characters that begin like this.
 */
const isTalkative = (text: string) => text.length > 2 && (text.startsWith('\x1bP') || text.startsWith('\x1b]'))

/** A full reset: modes, colours and both buffers, so that what is replayed does not stand below itself. */
const resetScreen = '\x1bc'

const clamp = (cells: number) => Math.min(maxCells, Math.max(1, Math.floor(cells)))
const sizeOf = ({ cols, rows }: TerminalScreen) => ({ cols: clamp(cols), rows: clamp(rows) })

/**
 * Pasted text without the control characters a keyboard would not send by accident, above all the escape that ends a
 * bracketed paste. Tabs and line ends stay.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed
export const cleanPaste = (text: string): string => text.replace(/[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/g, '')
