import { writeSync } from 'node:fs'
import type { Socket } from 'node:net'
import pty, { type IPty } from '@lydell/node-pty'
import type { RawData, WebSocket } from 'ws'
import { defaultSize, type PtySession, shellEndedCode, type terminalSignals } from '#lib/contract/terminals.ts'
import { ServiceError } from '#lib/service/errors.ts'
import type { RunningDevbox } from './execution.ts'
import { processStat, signal } from './processes.ts'
import { wrapped } from './sandbox/sandbox.ts'

interface Size {
  cols: number
  rows: number
}

/** Unspecified: how long a shell without a client is kept. */
const idleTtlSeconds = 300
// 256 KiB is about 3200 full 80-column lines: enough to redraw a screen, with some history, after a reconnect.
const maxHistoryBytes = 256 * 1024
// The shell waits while a client has this much still to take, so a flood costs the slow client's time, not memory.
const pauseAboveBytes = 256 * 1024
const resumeBelowBytes = 64 * 1024
const typeAgainMs = 5
const pingMs = 15_000
const maxSilentPings = 3
const hangUpGraceMs = 1000

const devboxEndedCode = 4001
const shellKilledCode = 1011
const closedByControlCode = 1000
const lostCode = 1001
const alreadyAttachedCode = 4009

interface Key {
  account: string
  devboxId: string
  name: string
}

/** The terminal sessions of all devboxes. A session belongs to an account, a devbox and a name. */
export class Terminals {
  readonly #maxPerAccount: number
  readonly #sessions = new Map<string, TerminalSession>()

  constructor(maxPerAccount: number) {
    this.#maxPerAccount = maxPerAccount
  }

  find(key: Key): TerminalSession | undefined {
    return this.#sessions.get(keyOf(key))
  }

  /** The session of this key, its shell started if there is none. `size` is taken unless a client is attached. */
  open(key: Key, devbox: RunningDevbox, size: Size | undefined): { session: TerminalSession; created: boolean } {
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
  readonly name: string
  readonly account: string
  readonly devboxId: string
  readonly #devbox: RunningDevbox
  readonly #pty: IPty
  readonly #forget: () => void
  readonly #history = new History()
  readonly #keyboard: Keyboard
  #size: Size
  #client: WebSocket | undefined
  #ended = false
  #paused = false
  #exited = false
  #hearsUs: () => void = () => undefined
  #idleTimer: NodeJS.Timeout | undefined

  constructor({ account, devboxId, name }: Key, devbox: RunningDevbox, size: Size, forget: () => void) {
    this.name = name
    this.account = account
    this.devboxId = devboxId
    this.#devbox = devbox
    this.#size = size
    this.#forget = forget
    this.#pty = startShell(devbox, size)
    this.#keyboard = new Keyboard(this.#pty)
    this.#pty.onData((data) => this.#output(data as unknown as Buffer))
    this.#pty.onExit(({ exitCode, signal: signalNumber }) => {
      this.#exited = true
      if (signalNumber) this.end(shellKilledCode, `The shell was killed by signal ${signalNumber}`)
      else this.end(shellEndedCode, `The shell ended with ${exitCode}`)
    })
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

  /** Takes over the socket: what the terminal has shown, then what it shows, until either side ends. */
  attach(client: WebSocket, size: Size | undefined): void {
    if (this.#ended || this.attached) {
      client.close(
        this.#ended ? lostCode : alreadyAttachedCode,
        this.#ended ? 'The session has ended' : 'Another client is attached',
      )
      return
    }
    this.#client = client
    clearTimeout(this.#idleTimer)
    const release = this.#devbox.busy()
    let silentPings = 0
    const hearsUs = () => {
      silentPings = 0
    }
    this.#hearsUs = hearsUs
    const pings = setInterval(() => {
      // Behind a flood a pong comes late, but then bytes still leave: only a client that takes nothing is gone. One
      // that has to wait for the terminal is not read from at all.
      if (client.isPaused) hearsUs()
      if (silentPings++ >= maxSilentPings) client.terminate()
      else client.ping()
    }, pingMs)
    client.on('pong', hearsUs)
    client.on('message', (data) => {
      hearsUs()
      this.#input(client, data)
    })
    client.on('error', () => client.terminate())
    client.once('close', () => {
      clearInterval(pings)
      release()
      this.#client = undefined
      this.#resumeShell()
      this.#startIdle()
    })
    if (size) this.resize(size)
    const history = this.#history.read()
    if (history.length > 0) this.#send(client, history)
  }

  resize({ cols, rows }: Size): void {
    this.#size = { cols, rows }
    this.#pty.resize(cols, rows)
  }

  /** Signals the process group in the foreground of the terminal; false when there is none. */
  signal(name: (typeof terminalSignals)[number]): boolean {
    const group = processStat(this.#pty.pid)?.foregroundGroup ?? -1
    return group > 0 && signal(-group, name)
  }

  /** Hangs up: what runs in the terminal gets SIGHUP, and SIGKILL if it is still there a moment later. */
  close(): void {
    this.signal('SIGHUP')
    const shell = this.#devbox.box.leader(this.#pty.pid)
    if (shell !== undefined) signal(shell, 'SIGHUP')
    this.end(closedByControlCode, 'The session was closed')
  }

  /** Forgets the session, closes its client with `code` and leaves no shell behind. */
  end(code: number, reason: string): void {
    if (this.#ended) return
    this.#ended = true
    clearTimeout(this.#idleTimer)
    this.#forget()
    this.#keyboard.stop()
    this.#client?.close(code, reason)
    setTimeout(() => {
      const shell = this.#exited ? undefined : this.#devbox.box.leader(this.#pty.pid)
      if (shell !== undefined) signal(shell, 'SIGKILL')
    }, hangUpGraceMs).unref()
  }

  #output(data: Buffer) {
    this.#history.add(data)
    if (this.#client) this.#send(this.#client, data)
  }

  #send(client: WebSocket, data: Buffer) {
    client.send(data, { binary: true }, () => {
      this.#hearsUs()
      if (client.bufferedAmount < resumeBelowBytes) this.#resumeShell()
    })
    if (client.bufferedAmount <= pauseAboveBytes || this.#paused) return
    this.#paused = true
    this.#pty.pause()
  }

  #resumeShell() {
    if (!this.#paused) return
    this.#paused = false
    this.#pty.resume()
  }

  #input(client: WebSocket, data: RawData) {
    if (this.#ended) return
    this.#keyboard.type(Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data as Buffer))
    if (this.#keyboard.waitingBytes <= pauseAboveBytes || client.isPaused) return
    client.pause()
    this.#keyboard.onceBelow(resumeBelowBytes, () => client.resume())
  }

  #startIdle() {
    clearTimeout(this.#idleTimer)
    if (this.#ended) return
    this.#idleTimer = setTimeout(() => this.close(), idleTtlSeconds * 1000)
    this.#idleTimer.unref()
  }
}

const startShell = ({ box, env }: RunningDevbox, size: Size): IPty => {
  const terminal = { TERM: 'xterm-256color', COLORTERM: 'truecolor' }
  const launch = wrapped(box.launch({ argv: ['/bin/bash', '-i'], env: { ...env, ...terminal }, tty: true }), 3)
  try {
    return pty.spawn(launch.file, launch.args, {
      name: terminal.TERM,
      cwd: launch.cwd,
      env: launch.env,
      cols: size.cols,
      rows: size.rows,
      encoding: null,
    })
  } catch (cause) {
    throw new ServiceError('unavailable', 'The terminal could not be started', { cause, retryAfterSeconds: 1 })
  }
}

/**
 * Types into a terminal and never waits for it. node-pty's own `write` does: while a program does not read what was
 * typed, it holds up the whole process.
 */
class Keyboard {
  readonly #fd: number
  readonly #socket: Pick<Socket, 'destroyed'>
  #waiting: Buffer[] = []
  #timer: NodeJS.Timeout | undefined
  #notify: { bytes: number; run: () => void } | undefined
  #stopped = false
  waitingBytes = 0

  constructor(terminal: IPty) {
    // Not in its types. The number is the terminal's only while the socket is open: another file gets it afterwards.
    const { fd, _socket } = terminal as unknown as { fd: number; _socket: Socket }
    this.#fd = fd
    this.#socket = _socket
  }

  type(bytes: Buffer) {
    if (this.#stopped) return
    this.#waiting.push(bytes)
    this.waitingBytes += bytes.length
    if (!this.#timer) this.#write()
  }

  /** Calls `run` once, when no more than `bytes` wait to be typed. */
  onceBelow(bytes: number, run: () => void) {
    this.#notify = { bytes, run }
  }

  /** Forgets what waits and takes nothing more. */
  stop() {
    this.#stopped = true
    clearTimeout(this.#timer)
    this.#waiting = []
    this.#took(this.waitingBytes)
  }

  #write() {
    this.#timer = undefined
    for (let [first] = this.#waiting; first; [first] = this.#waiting) {
      const written = this.#writeOnce(first)
      if (written === undefined) return this.stop()
      this.#took(written)
      if (written === first.length) this.#waiting.shift()
      else {
        this.#waiting[0] = first.subarray(written)
        this.#timer = setTimeout(() => this.#write(), typeAgainMs)
        return
      }
    }
  }

  /** How many bytes the terminal took, which may be none; undefined when it takes no more, ever. */
  #writeOnce(bytes: Buffer): number | undefined {
    if (this.#socket.destroyed) return undefined
    try {
      return writeSync(this.#fd, bytes)
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === 'EAGAIN' ? 0 : undefined
    }
  }

  #took(bytes: number) {
    this.waitingBytes -= bytes
    if (!this.#notify || this.waitingBytes > this.#notify.bytes) return
    const { run } = this.#notify
    this.#notify = undefined
    run()
  }
}

/** The last bytes a terminal has shown. */
class History {
  #chunks: Buffer[] = []
  #size = 0
  #overflowed = false

  add(chunk: Buffer) {
    this.#chunks.push(chunk)
    this.#size += chunk.length
    while (this.#size - (this.#chunks[0]?.length ?? 0) >= maxHistoryBytes) {
      this.#size -= this.#chunks.shift()?.length ?? 0
      this.#overflowed = true
    }
  }

  /** At most the limit, from the start of a line when older bytes are missing. */
  read(): Buffer {
    const all = Buffer.concat(this.#chunks)
    const last = all.subarray(Math.max(0, all.length - maxHistoryBytes))
    if (!this.#overflowed && last.length === all.length) return all
    return last.subarray(last.indexOf('\n') + 1)
  }
}
