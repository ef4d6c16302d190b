import type { RawData, WebSocket } from 'ws'

// A ping follows so many bytes: every client answers pings, which tells what has arrived. Without that count the network
// between would hold megabytes: what Ctrl-C stops would go on for long, and be lost with the connection.
const pieceBytes = 64 * 1024
const heartbeatMs = 15_000
const maxSilentHeartbeats = 3
// A connection buffers less than this, so a client that has sent it since the ping is alive.
const provenBytes = 16 * 1024 * 1024

interface Events {
  /** The client has taken more of what was sent. */
  taken(): void
  typed(bytes: Buffer): void
  closed(code: number): void
}

/** The WebSocket of a session's client: bytes of the shell go out, what is typed comes in. */
export class TerminalClient {
  readonly #socket: WebSocket
  readonly #events: Events
  readonly #heartbeat: NodeJS.Timeout
  readonly #closed: Promise<void>
  readonly #answered: ((answered: boolean) => void)[] = []
  #sent: number
  #pinged: number
  #taken: number
  #silentHeartbeats = 0
  #isInputPaused = false
  /** Calls of `answers` that wait, and the bytes typed since the first of them. */
  #probes = 0
  #typedBytes = 0

  /** `offset`: of the first byte that will be sent. */
  constructor(socket: WebSocket, offset: number, events: Events) {
    this.#socket = socket
    this.#sent = this.#pinged = this.#taken = offset
    this.#events = events
    this.#heartbeat = setInterval(() => this.#beat(), heartbeatMs)
    socket.on('pong', (payload) => this.#pong(payload))
    socket.on('message', (data) => {
      this.#silentHeartbeats = 0
      const bytes = bytesOf(data)
      if (this.#probes > 0) this.#typedBytes += bytes.length
      if (this.#typedBytes > provenBytes) this.#settleProbes(true)
      events.typed(bytes)
    })
    socket.on('error', () => socket.terminate())
    this.#closed = new Promise((resolve) =>
      socket.once('close', (code) => {
        clearInterval(this.#heartbeat)
        this.#settleProbes(false)
        events.closed(code)
        resolve()
      }),
    )
  }

  /** The offset of the next byte to send. */
  get sentTo(): number {
    return this.#sent
  }

  /** The offset up to which the client has confirmed everything. */
  get takenTo(): number {
    return this.#taken
  }

  /** While its input is paused its pongs wait too, so what has left this process counts as taken. */
  get bytesOnTheWay(): number {
    const unanswered = this.#sent - this.#taken
    return this.#socket.isPaused ? Math.min(unanswered, this.#socket.bufferedAmount) : unanswered
  }

  send(bytes: Buffer): void {
    for (let at = 0; at < bytes.length; at += pieceBytes) {
      const piece = bytes.length <= pieceBytes ? bytes : bytes.subarray(at, at + pieceBytes)
      this.#socket.send(piece, { binary: true })
      this.#sent += piece.length
      if (this.#sent - this.#pinged >= pieceBytes) this.#ping()
    }
  }

  close(code: number, reason: string): void {
    this.#socket.close(code, reason)
  }

  /** Whether what is typed stays in the connection for now. */
  set isInputPaused(isPaused: boolean) {
    this.#isInputPaused = isPaused
    this.#pauseOrResume()
  }

  /** Cuts the connection unless the client answers a ping within this time. True when it did. */
  async answers(withinMs: number): Promise<boolean> {
    this.#probes++
    this.#pauseOrResume()
    const isAlive = await new Promise<boolean>((resolve) => {
      const timer = setTimeout(() => resolve(false), withinMs)
      this.#answered.push((answered) => {
        clearTimeout(timer)
        resolve(answered)
      })
      this.#ping()
    })
    this.#typedBytes = 0
    this.#probes--
    this.#pauseOrResume()
    if (isAlive) return true
    this.#socket.terminate()
    await this.#closed
    return false
  }

  /** A probe reads on: the pong comes behind what was typed before it. */
  #pauseOrResume() {
    const pause = this.#isInputPaused && this.#probes === 0
    if (pause === this.#socket.isPaused) return
    if (pause) this.#socket.pause()
    else this.#socket.resume()
    this.#events.taken()
  }

  #ping() {
    this.#pinged = this.#sent
    this.#socket.ping(String(this.#sent), undefined, () => this.#events.taken())
  }

  #pong(payload: Buffer) {
    this.#silentHeartbeats = 0
    const offset = Number(payload.toString('latin1'))
    // A pong may hold any number: only offsets up to the last ping count.
    if (offset > this.#taken && offset <= this.#pinged) this.#taken = offset
    this.#events.taken()
    this.#settleProbes(true)
  }

  #settleProbes(answered: boolean) {
    for (const each of this.#answered.splice(0)) each(answered)
  }

  #beat() {
    // Pongs of a client whose input is paused are not read.
    if (this.#socket.isPaused) this.#silentHeartbeats = 0
    if (this.#silentHeartbeats++ >= maxSilentHeartbeats) this.#socket.terminate()
    else this.#ping()
  }
}

const bytesOf = (data: RawData): Buffer => {
  if (Array.isArray(data)) return Buffer.concat(data)
  return Buffer.isBuffer(data) ? data : Buffer.from(data)
}
