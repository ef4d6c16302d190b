import type { RawData, WebSocket } from 'ws'

// A ping after each piece: every client answers them, and so tells what has arrived. What the network between holds is
// megabytes otherwise, late for whoever presses Ctrl-C and lost with the connection.
const pieceBytes = 64 * 1024
const heartbeatMs = 15_000
const maxSilentHeartbeats = 3
// More than a connection holds: it is being sent now.
const surelyLiveBytes = 16 * 1024 * 1024

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
  #isDeaf = false
  /** How many wait for a sign of life, and what was typed meanwhile. */
  #asked = 0
  #heard = 0

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
      if (this.#asked > 0) this.#heard += bytes.length
      if (this.#heard > surelyLiveBytes) this.#tell(true)
      events.typed(bytes)
    })
    socket.on('error', () => socket.terminate())
    this.#closed = new Promise((resolve) =>
      socket.once('close', (code) => {
        clearInterval(this.#heartbeat)
        this.#tell(false)
        events.closed(code)
        resolve()
      }),
    )
  }

  /** The offset up to which the client has said to have everything. */
  get takenTo(): number {
    return this.#taken
  }

  /** While it is not read from, what has left this process counts as taken: the answers of the client wait as well. */
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

  /** Whether what is typed is left where it is for now. */
  set deaf(deaf: boolean) {
    this.#isDeaf = deaf
    this.#listenOrNot()
  }

  /** Cuts the connection unless the client answers within this time. True when it did. */
  async isThere(withinMs: number): Promise<boolean> {
    this.#asked++
    this.#listenOrNot()
    const alive = await new Promise<boolean>((resolve) => {
      const timer = setTimeout(() => resolve(false), withinMs)
      this.#answered.push((answered) => {
        clearTimeout(timer)
        resolve(answered)
      })
      this.#ping()
    })
    this.#heard = 0
    this.#asked--
    this.#listenOrNot()
    if (alive) return true
    this.#socket.terminate()
    await this.#closed
    return false
  }

  /** An answer comes behind what was typed before. */
  #listenOrNot() {
    const pause = this.#isDeaf && this.#asked === 0
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
    // Nobody can have taken what was not sent: a pong may say anything.
    if (offset > this.#taken && offset <= this.#pinged) this.#taken = offset
    this.#events.taken()
    this.#tell(true)
  }

  #tell(answered: boolean) {
    for (const each of this.#answered.splice(0)) each(answered)
  }

  #beat() {
    // Who is not read from cannot be heard.
    if (this.#socket.isPaused) this.#silentHeartbeats = 0
    if (this.#silentHeartbeats++ >= maxSilentHeartbeats) this.#socket.terminate()
    else this.#ping()
  }
}

const bytesOf = (data: RawData): Buffer => {
  if (Array.isArray(data)) return Buffer.concat(data)
  return Buffer.isBuffer(data) ? data : Buffer.from(data)
}
