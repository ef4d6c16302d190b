import { once } from 'node:events'
import { constants as os } from 'node:os'
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import type { RawData, WebSocket } from 'ws'
import { defaultSize, type PtySession, shellEndedCode, type terminalSignals } from '#lib/contract/terminals.ts'
import type { BoxTerminal, RunningDevbox, Size, TerminalEvents } from '#lib/service/engine/box.ts'
import { ServiceError } from '#lib/service/kit/errors.ts'
import { logFailure } from '#lib/service/kit/log.ts'

/** Unspecified: how long a shell without a client is kept. The hosted service keeps it for minutes. */
const idleTtlSeconds = 3600
// Pauses the shell while this much is in flight. The history is larger, to resend what wasn't processed.
const pauseAboveBytes = 512 * 1024
const resumeBelowBytes = 256 * 1024
const maxPendingInputBytes = 256 * 1024
const resumeInputBelowBytes = 64 * 1024
/** Unspecified: how long output is paused for a client that lost its connection. */
const lostClientGraceMs = 10_000
/** Unspecified: how quickly a client must respond when another one attaches. */
const responseTimeoutMs = 1500
const hangUpGraceMs = 1000

const shellKilledCode = 1011
const closedNormallyCode = 1000
const noCode = 1005
const lostCode = 1001
const alreadyAttachedCode = 4009

export interface SessionKey {
  account: string
  devboxId: string
  name: string
}

export class Shell {
  readonly id: string
  readonly name: string
  readonly account: string
  readonly devboxId: string
  readonly #devbox: RunningDevbox
  #terminal!: BoxTerminal
  readonly #onEnd: () => void
  #history = new History()
  #size: Size
  #client: TerminalClient | undefined
  #disconnectedAt: number | undefined
  #lostClientTimer: NodeJS.Timeout | undefined
  #ended = false
  #paused = false
  inputBytes = 0
  #lastInputMs: number | undefined
  #sending: NodeJS.Immediate | undefined
  #exit: { code: number; reason: string } | undefined
  #idleTimer: NodeJS.Timeout | undefined

  private constructor(
    id: string,
    { account, devboxId, name }: SessionKey,
    devbox: RunningDevbox,
    size: Size,
    onEnd: () => void,
  ) {
    this.id = id
    this.name = name
    this.account = account
    this.devboxId = devboxId
    this.#devbox = devbox
    this.#size = size
    this.#onEnd = onEnd
    this.#startIdleTimer()
  }

  static start(id: string, key: SessionKey, devbox: RunningDevbox, size: Size, onEnd: () => void): Shell {
    const shell = new Shell(id, key, devbox, size, onEnd)
    try {
      shell.#terminal = startShell(id, devbox, size, shell.#events)
    } catch (cause) {
      clearTimeout(shell.#idleTimer)
      throw new ServiceError('unavailable', 'Could not start the terminal', { cause, retryAfterSeconds: 1 })
    }
    return shell
  }

  /** Continues the shell of an earlier service. Undefined if it no longer exists. */
  static async resume(id: string, key: SessionKey, devbox: RunningDevbox, onEnd: () => void) {
    const shell = new Shell(id, key, devbox, defaultSize, onEnd)
    // Its client reconnects to this service, and is informed of an exit.
    shell.#disconnectedAt = Number.POSITIVE_INFINITY
    const terminal = await devbox.box.survivors?.terminal(holdOf(id), {
      ...shell.#events,
      attached({ offset, size, inputBytes }) {
        shell.#history = new History(offset)
        shell.#size = size
        shell.inputBytes = inputBytes
      },
    })
    if (!terminal) {
      clearTimeout(shell.#idleTimer)
      return undefined
    }
    shell.#terminal = terminal
    shell.#holdFor(shell.#history.end)
    return shell
  }

  get #events(): TerminalEvents {
    return {
      data: (bytes) => this.#output(bytes),
      ended: (exitCode, signalName) => void this.#shellEnded(exitCode, signalName),
    }
  }

  get outlivesService(): boolean {
    return this.#devbox.box.survivors !== undefined
  }

  /** The program in its foreground, if it is known. */
  get program(): string | undefined {
    return this.#exit ? undefined : this.#terminal.program?.()
  }

  get lastInputMs(): number | undefined {
    return this.#lastInputMs
  }

  get attached(): boolean {
    return this.#client !== undefined
  }

  view(created: boolean, connectUrl: string): PtySession {
    return {
      created,
      attached: this.attached,
      session_name: this.name,
      status: 'ready',
      protocol_version: '1',
      connect_url: connectUrl,
      ...this.#size,
      idle_ttl_seconds: idleTtlSeconds,
    }
  }

  offsetFor(after: number | undefined): number {
    return this.#history.startFor(after)
  }

  /** Whether a client can attach. Disconnects an unresponsive client, such as a sleeping laptop. */
  async isFree(): Promise<boolean> {
    return !this.#client || !(await this.#client.responds(responseTimeoutMs))
  }

  attach(socket: WebSocket, offset: number, size: Size | undefined) {
    if (this.#ended) return socket.close(lostCode, 'The session has ended')
    if (this.attached) return socket.close(alreadyAttachedCode, 'Another client is attached')
    clearTimeout(this.#idleTimer)
    this.#holdFor(undefined)
    const release = this.#devbox.busy()
    const client = new TerminalClient(socket, offset, {
      acknowledged: () => this.#applyBackpressure(),
      typed: (bytes) => this.#input(client, bytes),
      closed: (code) => {
        release()
        this.#client = undefined
        if (this.#ended) return
        this.#holdFor(isDeliberateClose(code) ? undefined : client.acknowledgedTo)
        this.#startIdleTimer()
      },
    })
    this.#client = client
    if (size) this.resize(size)
    client.send(this.#history.from(offset))
    this.#applyBackpressure()
    if (this.#exit) this.end(this.#exit.code, this.#exit.reason)
  }

  resize({ cols, rows }: Size): void {
    this.#size = { cols, rows }
    this.#terminal.resize({ cols, rows })
  }

  /** Leaves it running for the next service. */
  detach(code: number, reason: string): void {
    this.#sendPending()
    this.#ended = true
    clearTimeout(this.#idleTimer)
    clearTimeout(this.#lostClientTimer)
    this.#client?.close(code, reason)
  }

  signal(name: (typeof terminalSignals)[number]): Promise<boolean> {
    return this.#terminal.kill(name, 'foreground')
  }

  close(): void {
    for (const target of ['foreground', 'process'] as const) this.#kill('SIGHUP', target)
    this.end(closedNormallyCode, 'The session was closed')
  }

  #kill(name: NodeJS.Signals, target: 'foreground' | 'process') {
    this.#terminal.kill(name, target).catch(logFailure(`Could not signal terminal session ${this.name}`))
  }

  end(code: number, reason: string): void {
    if (this.#ended) return
    this.#sendPending()
    this.#ended = true
    clearTimeout(this.#idleTimer)
    clearTimeout(this.#lostClientTimer)
    this.#onEnd()
    this.#terminal.stopInput()
    this.#client?.close(code, reason)
    this.#terminal.resume()
    setTimeout(() => this.#kill('SIGKILL', 'process'), hangUpGraceMs).unref()
  }

  async #shellEnded(exitCode: number, signalName: NodeJS.Signals | undefined) {
    // A devbox that failed ends its terminals with its own reason.
    if (await Promise.race([this.#devbox.box.ended, nextTurn(undefined)])) return
    this.#exit =
      signalName === undefined
        ? { code: shellEndedCode, reason: `The shell ended with ${exitCode}` }
        : { code: shellKilledCode, reason: `The shell was killed by signal ${os.signals[signalName]}` }
    // A disconnected client receives the rest and the exit when it returns.
    if (this.#disconnectedAt === undefined) this.end(this.#exit.code, this.#exit.reason)
  }

  #output(bytes: Uint8Array) {
    if (this.#ended) return
    this.#history.add(bytes)
    // Combines several reads, of at most 4 KiB each, into one message.
    this.#sending ??= setImmediate(() => this.#sendPending())
  }

  #sendPending() {
    clearImmediate(this.#sending)
    this.#sending = undefined
    const client = this.#client
    // Views are safe: less is in flight than the history holds.
    if (client) for (const bytes of this.#history.viewsFrom(client.sentTo)) client.send(bytes)
    this.#applyBackpressure()
  }

  #applyBackpressure() {
    if (this.#ended) return
    const unread = this.#client?.bytesInFlight ?? this.#history.end - (this.#disconnectedAt ?? this.#history.end)
    if (!this.#paused && unread > pauseAboveBytes) {
      this.#paused = true
      this.#terminal.pause()
    } else if (this.#paused && unread < resumeBelowBytes) {
      this.#paused = false
      this.#terminal.resume()
    }
  }

  #holdFor(offset: number | undefined) {
    clearTimeout(this.#lostClientTimer)
    this.#disconnectedAt = offset
    if (offset !== undefined)
      this.#lostClientTimer = setTimeout(() => {
        this.#holdFor(undefined)
        if (this.#exit) this.end(this.#exit.code, this.#exit.reason)
      }, lostClientGraceMs).unref()
    this.#applyBackpressure()
  }

  #input(client: TerminalClient, bytes: Buffer) {
    if (this.#ended) return
    this.inputBytes += bytes.length
    this.#lastInputMs = Date.now()
    this.#terminal.write(bytes)
    if (this.#terminal.pendingBytes <= maxPendingInputBytes) return
    client.isInputPaused = true
    this.#terminal.onceBelow(resumeInputBelowBytes, () => {
      client.isInputPaused = false
    })
  }

  #startIdleTimer() {
    clearTimeout(this.#idleTimer)
    this.#idleTimer = setTimeout(() => this.close(), idleTtlSeconds * 1000)
    this.#idleTimer.unref()
  }
}

const isDeliberateClose = (code: number) => code === closedNormallyCode || code === noCode

/** The name by which the next service finds a shell. */
export const holdOf = (id: string): string => `terminal ${id}`

const startShell = (id: string, { box, env }: RunningDevbox, size: Size, events: TerminalEvents) => {
  const terminal = { TERM: 'xterm-256color', COLORTERM: 'truecolor' }
  // Unspecified: shell integration marks, and DEVDECK_SHELL_INTEGRATION=0 to turn them off.
  const marks = box.bashrc === undefined || env.DEVDECK_SHELL_INTEGRATION === '0' ? [] : ['--rcfile', box.bashrc]
  const command = { argv: [box.shell, ...marks, '-i'], env: { ...env, ...terminal }, hold: holdOf(id) }
  return box.openTerminal(command, size, events)
}

/** More than can be in flight, so it can be resent after a lost connection. */
export const maxHistoryBytes = 1024 * 1024
const firstHistoryBytes = 64 * 1024

/** The most recent terminal output, addressed by byte offset. */
class History {
  // Ring buffer: small chunks stored individually would use a hundred times their size.
  #ring: Buffer
  readonly #start: number
  end: number

  constructor(start = 0) {
    this.#ring = Buffer.alloc(start === 0 ? firstHistoryBytes : maxHistoryBytes)
    this.#start = this.end = start
  }

  add(chunk: Uint8Array): void {
    this.#growFor(chunk.length)
    const recent = chunk.subarray(Math.max(0, chunk.length - this.#ring.length))
    this.end += chunk.length
    const at = (this.end - recent.length) % this.#ring.length
    const first = recent.subarray(0, this.#ring.length - at)
    this.#ring.set(first, at)
    this.#ring.set(recent.subarray(first.length))
  }

  /** Returns `after` if still available, otherwise the start of the first complete line. */
  startFor(after: number | undefined): number {
    const oldest = Math.max(this.#start, this.end - this.#ring.length)
    if (after !== undefined && after >= oldest && after <= this.end) return after
    return oldest === 0 ? 0 : oldest + this.from(oldest).indexOf('\n') + 1
  }

  from(offset: number): Buffer {
    return Buffer.concat(this.viewsFrom(offset))
  }

  /** Views of the bytes from `offset`; overwritten once the ring wraps. */
  viewsFrom(offset: number): Buffer[] {
    const at = offset % this.#ring.length
    const length = this.end - offset
    const first = this.#ring.subarray(at, at + length)
    return first.length === length ? [first] : [first, this.#ring.subarray(0, length - first.length)]
  }

  #growFor(more: number) {
    const needed = Math.min(maxHistoryBytes, this.end + more)
    if (needed <= this.#ring.length) return
    const all = this.from(0)
    let size = this.#ring.length
    while (size < needed) size *= 2
    this.#ring = Buffer.alloc(size)
    all.copy(this.#ring)
  }
}

// Pongs show what has arrived: network buffers would hold megabytes that are lost with the connection.
const pieceBytes = 64 * 1024
const heartbeatMs = 15_000
const maxSilentHeartbeats = 3

interface Events {
  acknowledged(): void
  typed(bytes: Buffer): void
  closed(code: number): void
}

class TerminalClient {
  readonly #socket: WebSocket
  readonly #events: Events
  readonly #heartbeat: NodeJS.Timeout
  readonly #closed: Promise<void>
  sentTo: number
  #pinged: number
  acknowledgedTo: number
  #silentHeartbeats = 0
  #isInputPaused = false
  #probes = 0

  constructor(socket: WebSocket, offset: number, events: Events) {
    this.#socket = socket
    this.sentTo = this.#pinged = this.acknowledgedTo = offset
    this.#events = events
    this.#heartbeat = setInterval(() => this.#beat(), heartbeatMs)
    socket.on('pong', (payload) => this.#pong(payload))
    socket.on('message', (data) => {
      this.#silentHeartbeats = 0
      events.typed(bytesOf(data))
    })
    socket.on('error', () => socket.terminate())
    this.#closed = new Promise((resolve) =>
      socket.once('close', (code) => {
        clearInterval(this.#heartbeat)
        events.closed(code)
        resolve()
      }),
    )
  }

  /** While input is paused, pongs aren't read, so sent bytes count as acknowledged. */
  get bytesInFlight(): number {
    const unanswered = this.sentTo - this.acknowledgedTo
    return this.#socket.isPaused ? Math.min(unanswered, this.#socket.bufferedAmount) : unanswered
  }

  send(bytes: Buffer): void {
    for (let at = 0; at < bytes.length; at += pieceBytes) {
      const piece = bytes.length <= pieceBytes ? bytes : bytes.subarray(at, at + pieceBytes)
      this.#socket.send(piece, { binary: true })
      this.sentTo += piece.length
      if (this.sentTo - this.#pinged >= pieceBytes) this.#ping()
    }
  }

  close(code: number, reason: string): void {
    this.#socket.close(code, reason)
  }

  set isInputPaused(isPaused: boolean) {
    this.#isInputPaused = isPaused
    this.#pauseOrResume()
  }

  /** Disconnects the client unless it responds to a ping in time. Returns whether it did. */
  async responds(withinMs: number): Promise<boolean> {
    this.#probes++
    this.#pauseOrResume()
    this.#ping()
    const isAlive = await Promise.race([
      once(this.#socket, 'pong').then(
        () => true,
        () => false,
      ),
      this.#closed.then(() => false),
      delay(withinMs, false, { ref: false }),
    ])
    this.#probes--
    this.#pauseOrResume()
    if (isAlive) return true
    this.#socket.terminate()
    await this.#closed
    return false
  }

  /** A probe resumes input: the pong is queued behind typed bytes. */
  #pauseOrResume() {
    const pause = this.#isInputPaused && this.#probes === 0
    if (pause === this.#socket.isPaused) return
    if (pause) this.#socket.pause()
    else this.#socket.resume()
    this.#events.acknowledged()
  }

  #ping() {
    this.#pinged = this.sentTo
    this.#socket.ping(String(this.sentTo), undefined, () => this.#events.acknowledged())
  }

  #pong(payload: Buffer) {
    this.#silentHeartbeats = 0
    const offset = Number(payload.toString('latin1'))
    // Pongs are untrusted: ignore offsets beyond the last ping.
    if (offset > this.acknowledgedTo && offset <= this.#pinged) this.acknowledgedTo = offset
    this.#events.acknowledged()
  }

  #beat() {
    if (this.#socket.isPaused) this.#silentHeartbeats = 0
    if (this.#silentHeartbeats++ >= maxSilentHeartbeats) this.#socket.terminate()
    else this.#ping()
  }
}

const bytesOf = (data: RawData): Buffer => {
  if (Array.isArray(data)) return Buffer.concat(data)
  return Buffer.isBuffer(data) ? data : Buffer.from(data)
}
