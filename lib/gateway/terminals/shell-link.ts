import { setTimeout as delay } from 'node:timers/promises'
import type { RawData, WebSocket } from 'ws'
import { backoffMs } from '#lib/client/backoff.ts'
import { type PtyControl, shellEndedCode } from '#lib/contract/terminals.ts'
import { type ShellInput, terminalClose } from '#lib/protocol/terminals.ts'
import { closeWithTimeout, terminateWhenDead } from '../http/sockets.ts'
import type { Size } from './size-keeper.ts'
import { type Attached, attach, Ending, endingOf, isHeld, isUnavailable } from './upstream.ts'

/** Few attempts before there is a shell, because the page waits for an answer. */
const mostFirstRetries = 3
const firstBackoff = { firstMs: 400, maxMs: 1_600 }
const droppedBackoff = { firstMs: 25, maxMs: 5_000 }
const refusedBackoff = { firstMs: 100, maxMs: 5_000 }
/** After the service has closed the connection without a reason this often, no further attempt is made. */
const maxHangUps = 3
const abnormalCode = 1006
/** The close code after the `close` control. */
const closedOnRequestCode = 1000
const maxEarlyBytes = 64 * 1024
const highWaterBytes = 512 * 1024
const lowWaterBytes = 128 * 1024
const roundTripEveryMs = 5_000
const replayWithinMs = 2_000
/** Assumed until the service has told how long it keeps a shell without a client. */
const usualIdleTtlMs = 300_000

/** `resting`: no page shows the terminal, and there is no connection until one does. */
export type LinkPhase = 'attaching' | 'live' | 'retrying' | 'resting'

export interface Exit {
  code: number | null
  reason: string
}

interface Shell {
  devboxId: string
  sessionName: string
  apiKey(): string
  size(): Size
  /** The offset to replay from; undefined when the service does not count or there is no shell yet. */
  after(): number | undefined
}

interface LinkEvents {
  /** Called before the first byte. Returns true when the shell is the same as before. */
  attached(attached: Attached): boolean
  output(bytes: Buffer): void
  phase(): void
  /** The shell has received all input up to this position, but for what was dropped. */
  reached(position: number): void
  /** Input between two positions was lost; `mayHaveArrived` when the service does not say where. */
  dropped(from: number, to: number, mayHaveArrived: boolean): void
  /** The shell takes typed bytes again. */
  drained(): void
  exited(exit: Exit): void
  /** There is no connection and no further attempt until `wake`. */
  failed(ending: Ending): void
}

/** The connection to one shell at the service: made again when it is lost, for as long as the service keeps the shell. */
export class ShellLink {
  readonly #shell: Shell
  readonly #events: LinkEvents
  readonly #gone = new AbortController()
  #attached: Attached | undefined
  #hadShell = false
  #phase: LinkPhase = 'attaching'
  #phaseSinceMs = Date.now()
  #wake = Promise.withResolvers<void>()
  #idleTtlMs = usualIdleTtlMs
  #live: PromiseWithResolvers<boolean> | undefined
  #early: Buffer[] = []
  #earlyBytes = 0
  // Positions count the bytes of input given to this link. What is after `#sent` waits in `#early`.
  #position = 0
  #sent = 0
  /** Up to here it is known what became of the input. */
  #settled = 0
  /** How the positions of this link and of the service belong together. */
  #inputOrigin: { shellId: string; offset: number; position: number } | undefined
  /** The connection on which a confirmation is awaited. */
  #confirming: WebSocket | undefined
  #roundTripMs: number | null = null
  #pingedAt: number | undefined
  /** Round trips are measured only while a page shows the terminal. */
  isWatched = true

  constructor(shell: Shell, events: LinkEvents) {
    this.#shell = shell
    this.#events = events
  }

  get phase(): LinkPhase {
    return this.#phase
  }

  get phaseSinceMs(): number {
    return this.#phaseSinceMs
  }

  get idleTtlMs(): number {
    return this.#idleTtlMs
  }

  /** The last round trip to the service and back. */
  get roundTripMs(): number | null {
    return this.#roundTripMs
  }

  /** Attaches, and attaches again when the service's side is lost; until the shell ends or `end` is called. */
  async run(): Promise<void> {
    while (!this.#gone.signal.aborted) {
      try {
        const exit = await this.#untilRestOrExit()
        if (exit) {
          this.#events.exited(exit)
          return
        }
      } catch (error) {
        if (this.#gone.signal.aborted) return
        if (!(error instanceof Ending)) console.error('A terminal failed:', error)
        this.#beginRest()
        this.#events.failed(
          error instanceof Ending
            ? error
            : new Ending(terminalClose.upstreamLost, 'internal', 'The console failed to keep this terminal open'),
        )
      }
      await this.#wake.promise
      this.#setPhase('attaching')
    }
  }

  /** Disconnects and leaves the shell to the service. */
  rest(): void {
    if (this.#phase === 'resting') return
    this.#beginRest()
    const socket = this.#attached?.socket
    // What is typed or asked from now on waits for the next connection instead of being lost with this one.
    this.#attached = undefined
    if (socket) closeWithTimeout(socket)
  }

  wake(): void {
    this.#wake.resolve()
  }

  /** What the shell has received, by its own count, once it has all input up to this position. */
  inputAt(position = this.#sent): ShellInput | undefined {
    const origin = this.#inputOrigin
    return origin && { shell: origin.shellId, offset: origin.offset + position - origin.position }
  }

  /** Whether there is a connection, once that is decided. */
  async live(): Promise<boolean> {
    if (this.#attached || this.#gone.signal.aborted) return this.#attached !== undefined
    this.#live ??= Promise.withResolvers()
    return this.#live.promise
  }

  end(): void {
    this.#decide(false)
    this.#gone.abort()
    this.#wake.resolve()
  }

  /**
   * Bytes typed before there is a shell wait for it; bytes typed while the connection is lost are dropped. Returns the
   * position after them.
   */
  send(bytes: Buffer): number {
    this.#position += bytes.length
    const socket = this.#attached?.socket
    if (socket) {
      socket.send(bytes, { binary: true }, () => {
        if (socket.bufferedAmount < lowWaterBytes) this.#events.drained()
      })
      this.#sent = this.#position
      this.#confirm()
    } else {
      this.#early.push(bytes)
      this.#earlyBytes += bytes.length
    }
    return this.#position
  }

  /** Drops what was typed while there is no connection: when the service is back, another program may be reading. */
  dropWhileLost(): void {
    if (this.#phase === 'retrying') this.#dropEarly()
  }

  /** True while the shell takes typed bytes more slowly than they come. */
  get isFull(): boolean {
    return this.#earlyBytes > maxEarlyBytes || (this.#attached?.socket.bufferedAmount ?? 0) > highWaterBytes
  }

  /** Resolves with true when the service has done it, with false when there is no connection. */
  async control(request: PtyControl): Promise<boolean> {
    const attached = this.#attached
    if (!attached) return false
    await attached.control(request)
    // A size given to a connection that is lost by now does not hold for the next.
    return request.action !== 'resize' || attached === this.#attached
  }

  /** While true, output is left unread, and the service stops the shell. */
  set isHeld(held: boolean) {
    const socket = this.#attached?.socket
    if (held) socket?.pause()
    else if (socket?.isPaused) socket.resume()
  }

  /** Calls `run` when all that the service has sent until now has come. */
  afterReplay(run: () => void): void {
    const socket = this.#attached?.socket
    if (!socket) return
    // The replayed output comes before the answer to a ping.
    const mark = 'replayed'
    const done = () => {
      clearTimeout(timer)
      socket.off('pong', onPong)
      if (this.#attached?.socket === socket) run()
    }
    const onPong = (payload: Buffer) => String(payload) === mark && done()
    const timer = setTimeout(done, replayWithinMs)
    socket.on('pong', onPong)
    socket.ping(mark)
  }

  /** Resolves with the end of the shell, or with undefined when the link was told to rest. */
  async #untilRestOrExit(): Promise<Exit | undefined> {
    for (let hangUps = 0, cuts = 0; ; ) {
      const attached = await this.#attach()
      if (this.#isResting) {
        closeWithTimeout(attached.socket)
        return undefined
      }
      const { code, reason, moved } = await this.#serve(attached)
      if (this.#isResting) return undefined
      const exit = exitOf(code, reason)
      if (exit) return exit
      // Lost connections are made again for as long as output comes through. Closes by the service are counted.
      if (code !== abnormalCode) hangUps++
      cuts = moved ? 1 : cuts + 1
      if (hangUps > maxHangUps)
        throw new Ending(terminalClose.upstreamLost, 'unavailable', 'The service keeps dropping this terminal')
      this.#setPhase('retrying')
      await delay(backoffMs(Math.max(cuts, hangUps), droppedBackoff), undefined, { signal: this.#gone.signal })
    }
  }

  async #attach(): Promise<Attached> {
    const { devboxId, sessionName, apiKey, size, after } = this.#shell
    const { signal } = this.#gone
    const beganAt = Date.now()
    for (let retries = 0; ; retries++) {
      try {
        return await attach({ apiKey: apiKey(), devboxId, sessionName, size: size(), after: after(), signal })
      } catch (error) {
        if (signal.aborted) throw error
        // The service may still count the lost connection as attached to the shell.
        const mayWork = isUnavailable(error) || (this.#hadShell && isHeld(error))
        const isOver = this.#hadShell ? Date.now() - beganAt > this.#idleTtlMs : retries === mostFirstRetries
        if (!mayWork || isOver || this.#phase === 'resting') throw endingOf(error)
        if (this.#hadShell) {
          this.#setPhase('retrying')
          this.#dropEarly()
        }
        const waitMs = backoffMs(retries, this.#hadShell ? refusedBackoff : firstBackoff)
        await delay(waitMs, undefined, { signal })
      }
    }
  }

  /** Resolves when the service's side is closed; `moved` when it had printed anything until then. */
  #serve(attached: Attached): Promise<{ code: number; reason: string; moved: boolean }> {
    const { socket } = attached
    const { promise, resolve } = Promise.withResolvers<{ code: number; reason: string; moved: boolean }>()
    terminateWhenDead(socket)
    const hangUp = () => closeWithTimeout(socket)
    this.#gone.signal.addEventListener('abort', hangUp, { once: true })
    const measuring = setInterval(() => this.#measure(socket), roundTripEveryMs)
    let moved = false
    socket.on('message', (data: RawData) => {
      moved = true
      this.#events.output(data as Buffer)
    })
    socket.on('pong', (payload) => {
      this.#measured(String(payload))
      this.#confirmed(socket, String(payload))
    })
    socket.on('error', () => socket.terminate())
    socket.once('close', (code, reason) => {
      clearInterval(measuring)
      this.#gone.signal.removeEventListener('abort', hangUp)
      this.#attached = undefined
      this.#pingedAt = undefined
      resolve({ code, reason: String(reason), moved })
    })
    if (this.#gone.signal.aborted) hangUp()
    else this.#take(attached)
    socket.resume()
    return promise
  }

  #take(attached: Attached): void {
    const { socket, idleTtlMs } = attached
    this.#attached = attached
    this.#idleTtlMs = idleTtlMs
    this.#settle(attached)
    const isKnown = this.#events.attached(attached)
    // Bytes typed for a shell that is gone must not run in the shell that replaced it.
    if (this.#hadShell && !isKnown) this.#dropEarly()
    // The shell counts from here: what was dropped has a position, but never reaches it.
    if (this.#inputOrigin) this.#inputOrigin.position = this.#position - this.#earlyBytes
    for (const bytes of this.#early) socket.send(bytes, { binary: true })
    this.#early = []
    this.#earlyBytes = 0
    this.#sent = this.#position
    this.#confirm()
    this.#hadShell = true
    this.#setPhase('live')
    this.#decide(true)
    this.#events.drained()
    this.#measure(socket)
  }

  #measure(socket: WebSocket): void {
    if (this.#pingedAt !== undefined || !this.isWatched || socket.readyState !== socket.OPEN) return
    this.#pingedAt = performance.now()
    socket.ping('round trip')
  }

  #measured(payload: string): void {
    if (payload !== 'round trip' || this.#pingedAt === undefined) return
    this.#roundTripMs = Math.round((performance.now() - this.#pingedAt) * 10) / 10
    this.#pingedAt = undefined
  }

  /** Decides what became of the input that was on the way when the last connection was lost. */
  #settle({ shellId, inputOffset }: Attached): void {
    const origin = this.#inputOrigin
    if (this.#sent > this.#settled) {
      const isCounted = origin !== undefined && origin.shellId === shellId && inputOffset !== undefined
      const reached = isCounted ? origin.position + inputOffset - origin.offset : this.#settled
      this.#reached(Math.min(reached, this.#sent))
      if (this.#settled < this.#sent) this.#events.dropped(this.#settled, this.#sent, !isCounted)
    }
    this.#settled = this.#sent
    this.#inputOrigin =
      shellId === undefined || inputOffset === undefined
        ? undefined
        : { shellId, offset: inputOffset, position: this.#sent }
  }

  #reached(position: number): void {
    if (position <= this.#settled) return
    this.#settled = position
    this.#events.reached(position)
  }

  /** Asks whether input has arrived: the answer to a ping comes after everything that was sent before it was received. */
  #confirm(): void {
    const socket = this.#attached?.socket
    if (!socket || this.#confirming === socket || this.#settled === this.#sent) return
    this.#confirming = socket
    socket.ping(`typed ${this.#sent}`)
  }

  #confirmed(socket: WebSocket, payload: string): void {
    const position = Number(/^typed (\d+)$/.exec(payload)?.[1])
    if (this.#confirming !== socket || !(position <= this.#sent)) return
    this.#confirming = undefined
    this.#reached(position)
    this.#confirm()
  }

  get #isResting(): boolean {
    return this.#phase === 'resting'
  }

  #dropEarly(): void {
    if (this.#early.length === 0) return
    const from = this.#position - this.#earlyBytes
    this.#early = []
    this.#earlyBytes = 0
    this.#events.drained()
    this.#events.dropped(from, this.#position, false)
  }

  #decide(isLive: boolean): void {
    this.#live?.resolve(isLive)
    this.#live = undefined
  }

  #beginRest(): void {
    this.#decide(false)
    this.#wake = Promise.withResolvers()
    this.#setPhase('resting')
  }

  #setPhase(phase: LinkPhase): void {
    if (phase === this.#phase) return
    this.#phase = phase
    this.#phaseSinceMs = Date.now()
    this.#events.phase()
  }
}

/** What the close code says about the shell; undefined when the shell may still run. */
const exitOf = (code: number, reason: string): Exit | undefined => {
  const status = /\bended with (\d{1,3})\b/.exec(reason)?.[1]
  if (code === shellEndedCode)
    return { code: status === undefined ? null : Number(status), reason: reason || 'The shell has ended' }
  if (code === closedOnRequestCode) return { code: null, reason: reason || 'The shell was closed' }
  return /\bkilled by signal\b/.test(reason) ? { code: null, reason } : undefined
}
