import { randomUUID } from 'node:crypto'
import { constants as os } from 'node:os'
import type { WebSocket } from 'ws'
import { defaultSize, type PtySession, shellEndedCode, type terminalSignals } from '#lib/contract/terminals.ts'
import { ServiceError } from '#lib/service/kit/errors.ts'
import { Slots } from '#lib/service/kit/slots.ts'
import { processStat, signal } from '#lib/service/sandbox/processes.ts'
import type { RunningDevbox } from '#lib/service/sandbox/sandbox.ts'
import { TerminalClient } from './client.ts'
import { History } from './history.ts'
import { Keyboard } from './keyboard.ts'
import { PseudoTerminal, type Size } from './pseudo-terminal.ts'

/** Unspecified: how long a shell without a client is kept. The hosted service keeps one for minutes; here it costs nobody. */
const idleTtlSeconds = 3600
// The shell waits while a client has this much still to take, so a flood costs the slow client's time, not memory. All
// that is on the way is history as well, and as much again that a client took and had no time to use.
const pauseAboveBytes = 512 * 1024
const resumeBelowBytes = 256 * 1024
const maxWaitingInputBytes = 256 * 1024
const takeInputBelowBytes = 64 * 1024
/** Unspecified: how long a client that lost its connection may be away, and miss nothing however much is printed. */
const lostClientGraceMs = 10_000
/** Unspecified: how long a client that another wants to replace may take to show that it is there. */
const proofMs = 1500
const hangUpGraceMs = 1000
const maxStartMs = 1000

const devboxEndedCode = 4001
const shellKilledCode = 1011
const closedNormallyCode = 1000
const noCode = 1005
const lostCode = 1001
const alreadyAttachedCode = 4009

interface Key {
  account: string
  devboxId: string
  name: string
}

interface Opening {
  running: () => RunningDevbox
  size: Size | undefined
  signal: AbortSignal
}

interface Opened {
  session: TerminalSession
  /** The shell was started for this call. */
  created: boolean
}

/** The terminal sessions of all devboxes. A session belongs to an account, a devbox and a name. */
export class Terminals {
  readonly #maxPerAccount: number
  readonly #sessions = new Map<string, TerminalSession>()
  // Starting a process holds up everything until it runs, the longer the more others are being started.
  readonly #starts = new Slots(4)

  constructor(maxPerAccount: number) {
    this.#maxPerAccount = maxPerAccount
  }

  find(key: Key): TerminalSession | undefined {
    return this.#sessions.get(keyOf(key))
  }

  /**
   * The session of this key, its shell started if there is none, in the devbox that runs when its turn has come. `size`
   * is taken unless a client is attached. Rejects when `signal` aborts before.
   */
  async open(key: Key, { running, size, signal }: Opening): Promise<Opened> {
    running()
    if (this.find(key)) return this.#open(key, running(), size)
    const { promise, resolve, reject } = Promise.withResolvers<Opened>()
    const start = async () => {
      const opened = this.#open(key, running(), size)
      resolve(opened)
      await opened.session.started
    }
    this.#starts.run(signal, start).catch(reject)
    return promise
  }

  #open(key: Key, devbox: RunningDevbox, size: Size | undefined): Opened {
    const found = this.find(key)
    if (found) {
      if (size && !found.attached) found.resize(size)
      return { session: found, created: false }
    }
    const count = [...this.#sessions.values()].filter(({ account }) => account === key.account).length
    if (count >= this.#maxPerAccount)
      throw new ServiceError('rate_limited', `The account has ${count} terminal sessions already; close one`, {
        retryAfterSeconds: 30,
      })
    const session = new TerminalSession(key, devbox, size ?? defaultSize, () => {
      if (this.find(key) === session) this.#sessions.delete(keyOf(key))
    })
    this.#sessions.set(keyOf(key), session)
    return { session, created: true }
  }

  /** Forgets the sessions of a devbox whose processes are being ended, and tells their clients why. */
  endAll(devboxId: string, reason: string): void {
    for (const session of this.#sessions.values())
      if (session.devboxId === devboxId) session.end(devboxEndedCode, reason)
  }

  close(): void {
    for (const session of this.#sessions.values()) session.end(lostCode, 'The service is stopping')
  }
}

const keyOf = ({ account, devboxId, name }: Key) => `${account} ${devboxId} ${name}`

/** A shell in a pseudoterminal that outlives its clients; one client at a time. */
class TerminalSession {
  /** Another for each shell, however often the name is used. */
  readonly shellId = randomUUID()
  /** Resolves when the shell has printed something, or has had the time to. */
  readonly started: Promise<void>
  readonly name: string
  readonly account: string
  readonly devboxId: string
  readonly #devbox: RunningDevbox
  readonly #terminal: PseudoTerminal
  readonly #forget: () => void
  readonly #history = new History()
  readonly #keyboard: Keyboard
  #size: Size
  #client: TerminalClient | undefined
  /** Up to where a client had read that is expected back. */
  #awaitedFrom: number | undefined
  #lostClientTimer: NodeJS.Timeout | undefined
  #ended = false
  #paused = false
  /** What is told to a client when it has read all: of a shell that has ended. */
  #exit: { code: number; reason: string } | undefined
  #idleTimer: NodeJS.Timeout | undefined

  constructor({ account, devboxId, name }: Key, devbox: RunningDevbox, size: Size, forget: () => void) {
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
   * Whether a client can attach. One that is attached and does not answer has lost its connection without a word, as
   * in a sleeping laptop, and makes room.
   */
  async isFree(): Promise<boolean> {
    return !this.#client || !(await this.#client.isThere(proofMs))
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
    this.#ended = true
    clearTimeout(this.#idleTimer)
    clearTimeout(this.#lostClientTimer)
    this.#forget()
    this.#keyboard.stop()
    this.#client?.close(code, reason)
    // Whoever waits to print is to find out.
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
    // A client that lost its connection is told when it is back, after the last words of the shell.
    if (this.#awaitedFrom === undefined) this.end(this.#exit.code, this.#exit.reason)
  }

  #output(data: Buffer) {
    if (this.#ended) return
    this.#history.add(data)
    this.#client?.send(data)
    this.#regulate()
  }

  /** Lets the shell print, or has it wait for who is to read it. */
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

  /** Has the shell wait for a while rather than print more than is kept for the client that took all up to `offset`. */
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
    this.#keyboard.type(bytes)
    if (this.#keyboard.waitingBytes <= maxWaitingInputBytes) return
    client.deaf = true
    this.#keyboard.onceBelow(takeInputBelowBytes, () => {
      client.deaf = false
    })
  }

  #startIdle() {
    clearTimeout(this.#idleTimer)
    this.#idleTimer = setTimeout(() => this.close(), idleTtlSeconds * 1000)
    this.#idleTimer.unref()
  }
}

/** Closed as one closes what is not needed any more; a lost connection or a client that restarts has other codes. */
const leavesForGood = (code: number) => code === closedNormallyCode || code === noCode

const startShell = (
  { box, env }: RunningDevbox,
  size: Size,
  events: ConstructorParameters<typeof PseudoTerminal>[3],
) => {
  const terminal = { TERM: 'xterm-256color', COLORTERM: 'truecolor' }
  // Unspecified: that shells mark their prompts, and how a devbox is told not to.
  const marks = env.DEVDECK_SHELL_INTEGRATION === '0' ? [] : ['--rcfile', box.bashrc]
  try {
    return new PseudoTerminal(box, { argv: ['/bin/bash', ...marks, '-i'], env: { ...env, ...terminal } }, size, events)
  } catch (cause) {
    throw new ServiceError('unavailable', 'The terminal could not be started', { cause, retryAfterSeconds: 1 })
  }
}
