import { randomUUID } from 'node:crypto'
import { constants as os } from 'node:os'
import type { WebSocket } from 'ws'
import { type PtySession, shellEndedCode, type terminalSignals } from '#lib/contract/terminals.ts'
import type { RunningDevbox } from '#lib/service/engine/engine.ts'
import { signal } from '#lib/service/engine/processes.ts'
import { ServiceError } from '#lib/service/kit/errors.ts'
import { processStat } from '#lib/service/kit/proc.ts'
import { Batches } from './batches.ts'
import { TerminalClient } from './client.ts'
import { History } from './history.ts'
import { Keyboard } from './keyboard.ts'
import { PseudoTerminal, type Size } from './pseudo-terminal.ts'

/** Unspecified: how long a shell without a client is kept. The hosted service keeps one for minutes only. */
const idleTtlSeconds = 3600
// The shell waits while this much is on its way to the client, so a flood costs the slow client's time, not memory. The
// history holds twice as much: also what a client received and had no time to use.
const pauseAboveBytes = 512 * 1024
const resumeBelowBytes = 256 * 1024
const maxWaitingInputBytes = 256 * 1024
const takeInputBelowBytes = 64 * 1024
/** Unspecified: for how long the shell waits with its output for a client that lost its connection. */
const lostClientGraceMs = 10_000
/** Unspecified: within which time a client must answer when another one wants its place. */
const answerMs = 1500
const hangUpGraceMs = 1000
const maxStartMs = 1000

const shellKilledCode = 1011
const closedNormallyCode = 1000
const noCode = 1005
const lostCode = 1001
const alreadyAttachedCode = 4009

/** A terminal session. */
export interface SessionKey {
  account: string
  devboxId: string
  name: string
}

/** The bash of a terminal session, in a pseudoterminal. It outlives its clients, of which there is one at a time. */
export class Shell {
  /** Differs between two shells of one session. */
  readonly id = randomUUID()
  /** Resolves when the shell has printed something, or has had the time to. */
  readonly started: Promise<void>
  readonly name: string
  readonly account: string
  readonly devboxId: string
  readonly #devbox: RunningDevbox
  readonly #terminal: PseudoTerminal
  readonly #forget: () => void
  readonly #history = new History()
  readonly #batches = new Batches(() => this.#pass())
  readonly #keyboard: Keyboard
  #size: Size
  #client: TerminalClient | undefined
  /** The offset up to which a client had read that lost its connection and may come back. */
  #awaitedFrom: number | undefined
  #lostClientTimer: NodeJS.Timeout | undefined
  #ended = false
  #paused = false
  #inputBytes = 0
  /** How the shell ended: told to a client once it has read all. */
  #exit: { code: number; reason: string } | undefined
  #idleTimer: NodeJS.Timeout | undefined

  constructor({ account, devboxId, name }: SessionKey, devbox: RunningDevbox, size: Size, forget: () => void) {
    this.name = name
    this.account = account
    this.devboxId = devboxId
    this.#devbox = devbox
    this.#size = size
    this.#forget = forget
    const { promise: started, resolve: start } = Promise.withResolvers<void>()
    this.started = started
    setTimeout(start, maxStartMs).unref()
    this.#terminal = startShell(devbox, size, {
      data: (bytes) => {
        start()
        this.#output(bytes)
      },
      ended: (exitCode, signalName) => {
        start()
        this.#shellEnded(exitCode, signalName)
      },
    })
    this.#keyboard = new Keyboard(this.#terminal)
    this.#startIdle()
  }

  /** Bytes of input received from all clients. */
  get inputBytes(): number {
    return this.#inputBytes
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

  /** Where `attach` begins for a client that has read the first `after` bytes: there, if they are still kept. */
  offsetFor(after: number | undefined): number {
    return this.#history.startFor(after)
  }

  /**
   * Whether a client can attach. An attached client that does not answer, as on a sleeping laptop, has lost its
   * connection and is cut off.
   */
  async isFree(): Promise<boolean> {
    return !this.#client || !(await this.#client.answers(answerMs))
  }

  /**
   * Takes over the socket: what the terminal has shown since `offset`, then what it shows, until either side ends. The
   * offset is one of `offsetFor` at the same moment.
   */
  attach(socket: WebSocket, offset: number, size: Size | undefined): void {
    if (this.#ended || this.attached) {
      socket.close(
        this.#ended ? lostCode : alreadyAttachedCode,
        this.#ended ? 'The session has ended' : 'Another client is attached',
      )
      return
    }
    clearTimeout(this.#idleTimer)
    this.#waitFor(undefined)
    const release = this.#devbox.busy()
    const client = new TerminalClient(socket, offset, {
      taken: () => this.#regulate(),
      typed: (bytes) => this.#input(client, bytes),
      closed: (code) => {
        release()
        this.#client = undefined
        if (this.#ended) return
        this.#waitFor(leavesForGood(code) ? undefined : client.takenTo)
        this.#startIdle()
      },
    })
    this.#client = client
    if (size) this.resize(size)
    client.send(this.#history.from(offset))
    this.#regulate()
    if (this.#exit) this.end(this.#exit.code, this.#exit.reason)
  }

  resize({ cols, rows }: Size): void {
    this.#size = { cols, rows }
    this.#terminal.resize({ cols, rows })
  }

  /** Signals the process group in the foreground of the terminal; false when there is none. */
  signal(name: (typeof terminalSignals)[number]): boolean {
    const group = processStat(this.#terminal.leader ?? 0)?.foregroundGroup ?? -1
    return group > 0 && signal(-group, name)
  }

  /** Hangs up: what runs in the terminal gets SIGHUP, and SIGKILL if it is still there a moment later. */
  close(): void {
    this.signal('SIGHUP')
    const shell = this.#terminal.leader
    if (shell !== undefined) signal(shell, 'SIGHUP')
    this.end(closedNormallyCode, 'The session was closed')
  }

  /** Forgets the session, closes its client with `code` and leaves no shell behind. */
  end(code: number, reason: string): void {
    if (this.#ended) return
    this.#batches.flush()
    this.#ended = true
    clearTimeout(this.#idleTimer)
    clearTimeout(this.#lostClientTimer)
    this.#forget()
    this.#keyboard.stop()
    this.#client?.close(code, reason)
    // A program that waits to print gets an error now.
    this.#terminal.resume()
    setTimeout(() => {
      const shell = this.#terminal.leader
      if (shell !== undefined) signal(shell, 'SIGKILL')
    }, hangUpGraceMs).unref()
  }

  #shellEnded(exitCode: number, signalName: NodeJS.Signals | undefined) {
    this.#exit =
      signalName === undefined
        ? { code: shellEndedCode, reason: `The shell ended with ${exitCode}` }
        : { code: shellKilledCode, reason: `The shell was killed by signal ${os.signals[signalName]}` }
    // A client that lost its connection is told once it is back and has read all.
    if (this.#awaitedFrom === undefined) this.end(this.#exit.code, this.#exit.reason)
  }

  #output(bytes: Uint8Array) {
    if (this.#ended) return
    this.#history.add(bytes)
    this.#batches.add(bytes.length)
  }

  /** Has the client sent what it has not been sent yet. */
  #pass() {
    const client = this.#client
    // Not copied: all that is on the way is less than the history keeps, so nothing of it changes before it has left.
    if (client) for (const bytes of this.#history.viewsFrom(client.sentTo)) client.send(bytes)
    this.#regulate()
  }

  /** Lets the shell print, or has it wait for its client. */
  #regulate() {
    if (this.#ended) return
    const unread = this.#client?.bytesOnTheWay ?? this.#history.end - (this.#awaitedFrom ?? this.#history.end)
    if (!this.#paused && unread > pauseAboveBytes) {
      this.#paused = true
      this.#terminal.pause()
    } else if (this.#paused && unread < resumeBelowBytes) {
      this.#paused = false
      this.#terminal.resume()
    }
  }

  /** For a while the shell waits rather than print more than the history keeps for a client that read to `offset`. */
  #waitFor(offset: number | undefined) {
    clearTimeout(this.#lostClientTimer)
    this.#awaitedFrom = offset
    if (offset !== undefined)
      this.#lostClientTimer = setTimeout(() => {
        this.#waitFor(undefined)
        if (this.#exit) this.end(this.#exit.code, this.#exit.reason)
      }, lostClientGraceMs).unref()
    this.#regulate()
  }

  #input(client: TerminalClient, bytes: Buffer) {
    if (this.#ended) return
    this.#inputBytes += bytes.length
    this.#keyboard.type(bytes)
    if (this.#keyboard.waitingBytes <= maxWaitingInputBytes) return
    client.isInputPaused = true
    this.#keyboard.onceBelow(takeInputBelowBytes, () => {
      client.isInputPaused = false
    })
  }

  #startIdle() {
    clearTimeout(this.#idleTimer)
    this.#idleTimer = setTimeout(() => this.close(), idleTtlSeconds * 1000)
    this.#idleTimer.unref()
  }
}

/** A client that needs the session no more closes with these; a lost connection or a restart has other codes. */
const leavesForGood = (code: number) => code === closedNormallyCode || code === noCode

const startShell = (
  { sandbox, env }: RunningDevbox,
  size: Size,
  events: ConstructorParameters<typeof PseudoTerminal>[3],
) => {
  const terminal = { TERM: 'xterm-256color', COLORTERM: 'truecolor' }
  // Unspecified: that shells mark their prompts, and how a devbox is told not to.
  const marks = env.DEVDECK_SHELL_INTEGRATION === '0' ? [] : ['--rcfile', sandbox.bashrc]
  try {
    return new PseudoTerminal(
      sandbox,
      { argv: ['/bin/bash', ...marks, '-i'], env: { ...env, ...terminal } },
      size,
      events,
    )
  } catch (cause) {
    throw new ServiceError('unavailable', 'The terminal could not be started', { cause, retryAfterSeconds: 1 })
  }
}
