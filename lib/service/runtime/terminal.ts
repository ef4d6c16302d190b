import pty, { type IPty } from '@lydell/node-pty'
import type { RawData, WebSocket } from 'ws'
import { defaultSize, type PtySession, shellEndedCode, type terminalSignals } from '#lib/contract/terminals.ts'
import { ServiceError } from '#lib/service/errors.ts'
import type { RunningDevbox } from './execution.ts'
import { processStat, signal } from './processes.ts'

interface Size {
  cols: number
  rows: number
}

/** Unspecified: how many terminal sessions a devbox may have. */
const maxSessions = 32
/** Unspecified: how long a shell without a client is kept. */
const idleTtlSeconds = 300
// 256 KiB is about 3200 full 80-column lines: enough to redraw a screen, with some history, after a reconnect.
const maxHistoryBytes = 256 * 1024
// The shell waits while a client has this much still to take, so a flood costs the slow client's time, not memory.
const pauseAboveBytes = 256 * 1024
const resumeBelowBytes = 64 * 1024
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
  readonly #sessions = new Map<string, TerminalSession>()

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
    const count = [...this.#sessions.values()].filter(({ devboxId }) => devboxId === key.devboxId).length
    if (count >= maxSessions)
      throw new ServiceError(
        'rate_limited',
        `Devbox ${key.devboxId} has ${count} terminal sessions already; close one`,
        { retryAfterSeconds: 30 },
      )
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
  readonly devboxId: string
  readonly #devbox: RunningDevbox
  readonly #pty: IPty
  readonly #forget: () => void
  readonly #history = new History()
  #size: Size
  #client: WebSocket | undefined
  #ended = false
  #paused = false
  #exited = false
  #hearsUs: () => void = () => undefined
  #idleTimer: NodeJS.Timeout | undefined

  constructor({ devboxId, name }: Key, devbox: RunningDevbox, size: Size, forget: () => void) {
    this.name = name
    this.devboxId = devboxId
    this.#devbox = devbox
    this.#size = size
    this.#forget = forget
    this.#pty = startShell(devbox, size)
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
      // Behind a flood a pong comes late, but then bytes still leave: only a client that takes nothing is gone.
      if (silentPings++ >= maxSilentPings) client.terminate()
      else client.ping()
    }, pingMs)
    client.on('pong', hearsUs)
    client.on('message', (data, isBinary) => {
      hearsUs()
      this.#input(data, isBinary)
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

  #input(data: RawData, isBinary: boolean) {
    if (this.#ended) return
    const bytes = Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data as Buffer)
    // Without an encoding node-pty takes bytes as they are; its types do not say so.
    this.#pty.write((isBinary ? bytes : bytes.toString()) as string)
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
  const launch = box.launch({ argv: ['/bin/bash', '-i'], env: { ...env, ...terminal }, tty: true })
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
