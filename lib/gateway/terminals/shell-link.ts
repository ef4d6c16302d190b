import { setTimeout as delay } from 'node:timers/promises'
import type { RawData, WebSocket } from 'ws'
import { backoffMs } from '#lib/client/backoff.ts'
import { type PtyControl, shellEndedCode } from '#lib/contract/terminals.ts'
import { type ShellInput, terminalClose } from '#lib/protocol/terminals.ts'
import { closeWithTimeout, terminateWhenDead } from '../http/sockets.ts'
import { logError } from '../observability/log.ts'
import type { Size } from './size-keeper.ts'
import { type Attached, attach, Ending, endingOf, isUnavailable } from './upstream.ts'

/** Few attempts before the first shell, because the page is waiting. */
const maxFirstRetries = 5
const droppedBackoff = { firstMs: 25, maxMs: 5_000 }
const refusedBackoff = { firstMs: 100, maxMs: 5_000 }
/** Gives up after the service closes the connection this often without a reason. */
const maxHangUps = 3
const abnormalCode = 1006
const closedOnRequestCode = 1000
const maxEarlyBytes = 64 * 1024
const highWaterBytes = 512 * 1024
const lowWaterBytes = 128 * 1024
const roundTripEveryMs = 5_000
const replayTimeoutMs = 2_000
/** Default for services that don't report how long they keep an unattached shell. */
const usualIdleTtlMs = 300_000

/** `resting`: no page shows the terminal; there is no connection until one does. */
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
  /** Offset to replay from; undefined if the service doesn't count or there is no shell yet. */
  after(): number | undefined
}

interface LinkEvents {
  attached(attached: Attached): boolean
  output(bytes: Buffer): void
  phase(): void
  /** The shell has received all input up to this position, except what was dropped. */
  reached(position: number): void
  /** Input between two positions was lost; `mayHaveArrived` if the service doesn't report its position. */
  dropped(from: number, to: number, mayHaveArrived: boolean): void
  drained(): void
  exited(exit: Exit): void
  /** No connection and no further attempts until `wake`. */
  failed(ending: Ending): void
}

/** Connection to one shell of the service, re-established for as long as the service keeps the shell. */
export class ShellLink {
  readonly #shell: Shell
  readonly #events: LinkEvents
  readonly #disposed = new AbortController()
  #attached: Attached | undefined
  #hadShell = false
  #phase: LinkPhase = 'attaching'
  phaseSinceMs = Date.now()
  #wake = Promise.withResolvers<void>()
  idleTtlMs = usualIdleTtlMs
  #live: PromiseWithResolvers<boolean> | undefined
  #early: Buffer[] = []
  #earlyBytes = 0
  // Positions count input bytes. Bytes after `#sent` wait in `#early`.
  #position = 0
  #sent = 0
  #settled = 0
  /** Maps this link's positions to the service's count. */
  #inputOrigin: { shellId: string; offset: number; position: number } | undefined
  #confirming: WebSocket | undefined
  roundTripMs: number | null = null
  #pingedAt: number | undefined

  constructor(shell: Shell, events: LinkEvents) {
    this.#shell = shell
    this.#events = events
  }

  get phase(): LinkPhase {
    return this.#phase
  }

  /** Attaches and reattaches until the shell ends or `end` is called. */
  async run(): Promise<void> {
    while (!this.#disposed.signal.aborted) {
      try {
        const exit = await this.#untilRestOrExit()
        if (exit) {
          this.#events.exited(exit)
          return
        }
      } catch (error) {
        if (this.#disposed.signal.aborted) return
        if (!(error instanceof Ending)) logError('A terminal failed', error)
        this.#beginRest()
        this.#events.failed(
          error instanceof Ending
            ? error
            : new Ending(terminalClose.upstreamLost, 'internal', 'Internal error in the console'),
        )
      }
      await this.#wake.promise
      this.#setPhase('attaching')
    }
  }

  rest(): void {
    if (this.#phase === 'resting') return
    this.#beginRest()
    const socket = this.#attached?.socket
    // Further input and requests wait for the next connection.
    this.#attached = undefined
    if (socket) closeWithTimeout(socket)
  }

  wake(): void {
    this.#wake.resolve()
  }

  /** The shell's own input count once it has everything up to this position. */
  inputAt(position = this.#sent): ShellInput | undefined {
    const origin = this.#inputOrigin
    return origin && { shell: origin.shellId, offset: origin.offset + position - origin.position }
  }

  async live(): Promise<boolean> {
    if (this.#attached || this.#disposed.signal.aborted) return this.#attached !== undefined
    this.#live ??= Promise.withResolvers()
    return this.#live.promise
  }

  end(): void {
    this.#decide(false)
    this.#disposed.abort()
    this.#wake.resolve()
  }

  /** Queues input before the first shell and drops it while the connection is lost. Returns the new position. */
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

  /** When the service returns, another program may be reading, so input typed meanwhile is dropped. */
  dropWhileLost(): void {
    if (this.#phase === 'retrying') this.#dropEarly()
  }

  /** The shell reads input more slowly than it is typed. */
  get isFull(): boolean {
    return this.#earlyBytes > maxEarlyBytes || (this.#attached?.socket.bufferedAmount ?? 0) > highWaterBytes
  }

  async control(request: PtyControl): Promise<boolean> {
    const attached = this.#attached
    if (!attached) return false
    await attached.control(request)
    // A resize sent to a connection that was lost doesn't apply to the next.
    return request.action !== 'resize' || attached === this.#attached
  }

  set isHeld(held: boolean) {
    const socket = this.#attached?.socket
    if (held) socket?.pause()
    else if (socket?.isPaused) socket.resume()
  }

  /** Calls `run` once everything sent so far has arrived. */
  afterReplay(run: () => void): void {
    const socket = this.#attached?.socket
    if (!socket) return
    // The ping is answered after the replay.
    const mark = 'replayed'
    const done = () => {
      clearTimeout(timer)
      socket.off('pong', onPong)
      if (this.#attached?.socket === socket) run()
    }
    const onPong = (payload: Buffer) => String(payload) === mark && done()
    const timer = setTimeout(done, replayTimeoutMs)
    socket.on('pong', onPong)
    socket.ping(mark)
  }

  /** Resolves with the shell's exit, or undefined when asked to rest. */
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
      // Reconnects as long as output gets through. Closes by the service are counted.
      if (code !== abnormalCode) hangUps++
      cuts = moved ? 1 : cuts + 1
      if (hangUps > maxHangUps)
        throw new Ending(terminalClose.upstreamLost, 'unavailable', 'The service keeps closing the connection')
      this.#setPhase('retrying')
      await delay(backoffMs(Math.max(cuts, hangUps), droppedBackoff), undefined, { signal: this.#disposed.signal })
    }
  }

  async #attach(): Promise<Attached> {
    const { devboxId, sessionName, apiKey, size, after } = this.#shell
    const { signal } = this.#disposed
    const beganAt = Date.now()
    for (let retries = 0; ; retries++) {
      try {
        return await attach({ apiKey: apiKey(), devboxId, sessionName, size: size(), after: after(), signal })
      } catch (error) {
        if (signal.aborted) throw error
        const isOver = this.#hadShell ? Date.now() - beganAt > this.idleTtlMs : retries === maxFirstRetries
        if (!isUnavailable(error) || isOver || this.#phase === 'resting') throw endingOf(error)
        if (this.#hadShell) {
          this.#setPhase('retrying')
          this.#dropEarly()
        }
        await delay(backoffMs(retries, refusedBackoff), undefined, { signal })
      }
    }
  }

  /** Resolves when the connection closes; `moved` if there was any output. */
  #serve(attached: Attached): Promise<{ code: number; reason: string; moved: boolean }> {
    const { socket } = attached
    const { promise, resolve } = Promise.withResolvers<{ code: number; reason: string; moved: boolean }>()
    terminateWhenDead(socket)
    const hangUp = () => closeWithTimeout(socket)
    this.#disposed.signal.addEventListener('abort', hangUp, { once: true })
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
      this.#disposed.signal.removeEventListener('abort', hangUp)
      this.#attached = undefined
      this.#pingedAt = undefined
      resolve({ code, reason: String(reason), moved })
    })
    if (this.#disposed.signal.aborted) hangUp()
    else this.#take(attached)
    socket.resume()
    return promise
  }

  #take(attached: Attached): void {
    const { socket, idleTtlMs } = attached
    this.#attached = attached
    this.idleTtlMs = idleTtlMs
    this.#settle(attached)
    const isKnown = this.#events.attached(attached)
    // Input for the old shell must not run in the new one.
    if (this.#hadShell && !isKnown) this.#dropEarly()
    // The new shell counts from here; dropped input keeps its position but never arrives.
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
    if (this.#pingedAt !== undefined || socket.readyState !== socket.OPEN) return
    this.#pingedAt = performance.now()
    socket.ping('round trip')
  }

  #measured(payload: string): void {
    if (payload !== 'round trip' || this.#pingedAt === undefined) return
    this.roundTripMs = Math.round((performance.now() - this.#pingedAt) * 10) / 10
    this.#pingedAt = undefined
  }

  /** Decides what became of input in flight when the connection was lost. */
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

  /** Checks whether input arrived: a ping is answered after everything sent before it. */
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
    this.phaseSinceMs = Date.now()
    this.#events.phase()
  }
}

const exitOf = (code: number, reason: string): Exit | undefined => {
  const status = /\bended with (\d{1,3})\b/.exec(reason)?.[1]
  if (code === shellEndedCode)
    return { code: status === undefined ? null : Number(status), reason: reason || 'The shell has ended' }
  if (code === closedOnRequestCode) return { code: null, reason: reason || 'The shell was closed' }
  return /\bkilled by signal\b/.test(reason) ? { code: null, reason } : undefined
}
