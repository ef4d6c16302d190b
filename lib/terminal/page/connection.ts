import { backoffMs } from '#lib/client/backoff.ts'
import { serviceNow } from '#lib/client/clock.ts'
import { type TerminalNotice, type TerminalRequest, terminalClose } from '#lib/protocol/terminals.ts'
import { type Latency, TerminalPulse } from './pulse.ts'

export type ConnectionState =
  | { phase: 'connecting' }
  | { phase: 'open' }
  /** `retryAtMs` is null during an attempt and while offline. */
  | { phase: 'lost'; sinceMs: number; wasOpen: boolean; retryAtMs: number | null; isOffline: boolean }
  | { phase: 'ended'; exitCode: number | null; reason: string }
  | { phase: 'taken'; reason: string }
  /** No automatic retries; call `connect()` once the cause is resolved. */
  | { phase: 'refused'; code: 'signed_out' | 'not_found' | 'not_running' | 'link_ended' | 'follow_only' | 'too_many' }

export interface ConnectionOptions {
  url(): string
  onNotice(notice: TerminalNotice): void
  onOutput(bytes: Uint8Array): void
  onState(state: ConnectionState): void
  onLatency(latency: Latency): void
  /** Called when a connection fails before opening, since browsers don't report why. */
  isSignedOut(): Promise<boolean>
  /** While offline, nothing is attempted until `check` is called. */
  isOffline(): boolean
  isVisible(): boolean
  WebSocket?: typeof globalThis.WebSocket | undefined
}

const retryBackoff = { firstMs: 250, maxMs: 15_000 }

const refusals: Record<number, Extract<ConnectionState, { phase: 'refused' }>['code']> = {
  [terminalClose.signedOut]: 'signed_out',
  [terminalClose.devboxNotFound]: 'not_found',
  [terminalClose.devboxNotRunning]: 'not_running',
  [terminalClose.linkEnded]: 'link_ended',
  [terminalClose.followOnly]: 'follow_only',
  [terminalClose.tooMany]: 'too_many',
}

export class TerminalConnection {
  readonly #options: ConnectionOptions
  readonly #pulse: TerminalPulse
  #state: ConnectionState = { phase: 'connecting' }
  #socket: WebSocket | undefined
  #retry: ReturnType<typeof setTimeout> | undefined
  #attempt = 0

  constructor(options: ConnectionOptions) {
    this.#options = options
    this.#pulse = new TerminalPulse({
      send: (id) => this.request({ t: 'ping', id }),
      measured: options.onLatency,
      died: () => this.#lose(),
      isVisible: options.isVisible,
    })
  }

  connect() {
    this.close()
    const state = this.#state
    this.#enter(state.phase === 'lost' ? { ...state, retryAtMs: null, isOffline: false } : { phase: 'connecting' })
    this.#open(this.#options.url())
  }

  /** Retries immediately; call when the page becomes visible or the network changes. */
  check() {
    const state = this.#state
    if (state.phase !== 'lost') {
      if (this.#socket?.readyState === 1) this.#pulse.probe()
    } else if (this.#options.isOffline()) {
      if (!state.isOffline) this.#lose()
    } else if (state.isOffline || state.retryAtMs !== null) this.connect()
  }

  send(bytes: Uint8Array<ArrayBuffer>): boolean {
    if (this.#socket?.readyState !== 1) return false
    this.#socket.send(bytes)
    this.#pulse.typed()
    return true
  }

  request(request: TerminalRequest): boolean {
    if (this.#socket?.readyState !== 1) return false
    this.#socket.send(JSON.stringify(request))
    return true
  }

  #open(url: string) {
    const { WebSocket = globalThis.WebSocket, onOutput } = this.#options
    const socket = new WebSocket(url)
    socket.binaryType = 'arraybuffer'
    this.#socket = socket
    let isRefused = true
    socket.onopen = () => {
      isRefused = false
      this.#pulse.start()
    }
    socket.onmessage = ({ data }: MessageEvent<ArrayBuffer | string>) => {
      this.#pulse.heard()
      if (typeof data === 'string') this.#hear(JSON.parse(data) as TerminalNotice)
      else onOutput(new Uint8Array(data))
    }
    socket.onclose = ({ code, reason }) => {
      this.#closed(code, reason)
      if (isRefused) void this.#stopIfSignedOut()
    }
  }

  #hear(notice: TerminalNotice) {
    if (notice.t === 'pong') return this.#pulse.answered(notice.id, notice.upstream_ms)
    this.#options.onNotice(notice)
    if (notice.t === 'ready') {
      this.#attempt = 0
      this.#enter({ phase: 'open' })
    } else if (notice.t === 'exit') {
      this.#stop({ phase: 'ended', exitCode: notice.code, reason: notice.reason })
    }
  }

  #closed(code: number, reason: string) {
    const refusal = refusals[code]
    if (refusal) this.#stop({ phase: 'refused', code: refusal })
    else if (code === terminalClose.shellEnded) this.#stop({ phase: 'ended', exitCode: null, reason })
    else if (code === terminalClose.takenOver) this.#stop({ phase: 'taken', reason })
    else this.#lose()
  }

  #stop(state: ConnectionState) {
    this.close()
    this.#enter(state)
  }

  #lose() {
    this.close()
    const before = this.#state
    const since =
      before.phase === 'lost'
        ? { sinceMs: before.sinceMs, wasOpen: before.wasOpen }
        : { sinceMs: serviceNow(), wasOpen: before.phase === 'open' }
    if (this.#options.isOffline()) {
      // `check` is called once the browser is online.
      this.#attempt = 0
      return this.#enter({ phase: 'lost', ...since, retryAtMs: null, isOffline: true })
    }
    const waitMs = backoffMs(this.#attempt++, retryBackoff)
    this.#retry = setTimeout(() => this.connect(), waitMs)
    this.#enter({ phase: 'lost', ...since, retryAtMs: serviceNow() + waitMs, isOffline: false })
  }

  async #stopIfSignedOut() {
    const before = this.#state
    if (!(await this.#options.isSignedOut()) || this.#state !== before) return
    this.#stop({ phase: 'refused', code: 'signed_out' })
  }

  close() {
    clearTimeout(this.#retry)
    this.#pulse.stop()
    const socket = this.#socket
    this.#socket = undefined
    if (socket) {
      socket.onopen = socket.onmessage = socket.onclose = null
      socket.close()
    }
  }

  #enter(state: ConnectionState) {
    this.#state = state
    this.#options.onState(state)
  }
}
