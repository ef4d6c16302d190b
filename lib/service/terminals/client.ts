import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import type { RawData, WebSocket } from 'ws'

// Pongs show what has arrived: network buffers would hold megabytes that are lost with the connection.
const pieceBytes = 64 * 1024
const heartbeatMs = 15_000
const maxSilentHeartbeats = 3

interface Events {
  acknowledged(): void
  typed(bytes: Buffer): void
  closed(code: number): void
}

export class TerminalClient {
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
