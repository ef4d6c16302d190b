import { type IncomingMessage, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { type RawData, WebSocket, WebSocketServer } from 'ws'
import * as z from 'zod/mini'
import { ApiError, type Client, createClient } from '#lib/client/client.ts'
import { errorStatus } from '#lib/contract/errors.ts'
import { parseQuery } from '#lib/contract/query-string.ts'
import { type TerminalNotice, terminalClose } from '#lib/contract/relay.ts'
import { defaultSize, maxCells, SizeQuery, shellEndedCode } from '#lib/contract/terminals.ts'
import { errorBody, Refusal, requestIdOf } from './answer.ts'
import { requireOwnHost } from './front.ts'
import { requireSameOrigin } from './origin.ts'
import { registry, trackStream } from './registry.ts'
import { requireSignedIn, type Session } from './session-cookie.ts'
import { bearer, clientFor, ptyBaseUrl } from './upstream.ts'

type Upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => void

interface Size {
  cols: number
  rows: number
}

const maxInputBytes = 1024 * 1024
/** A replayed screen comes in one frame; the service bounds it. */
const maxOutputBytes = 16 * 1024 * 1024
const maxTerminalsPerAccount = 64
const pingMs = 15_000
/** Without any traffic: behind a flood the pong alone may come late, and a busy terminal must not be taken for dead. */
const deadMs = 45_000
const highWaterBytes = 512 * 1024
const lowWaterBytes = 128 * 1024
const maxEarlyBytes = 64 * 1024
const attachTimeoutMs = 15_000
const unavailableRetriesMs = [400, 800, 1600]
/** After a reload the service may still hold the last page's connection for a moment. */
const heldRetriesMs = [50, 100, 200, 400, 800, 1600]
const maxDrops = 3
const stableMs = 10_000
const hangUpMs = 1_000
/** What a session closed by the `close` control ends with. */
const closedOnRequestCode = 1000

/**
 * The only WebSocket of the console, `/api/terminals/{devbox_id}/{name}?cols&rows`. What is refused is refused as a
 * plain HTTP answer. `forNext` gets the upgrades below `/_next/`, which is hot reloading in development.
 */
export const terminalUpgrades = (forNext?: Upgrade): Upgrade => {
  const server = new WebSocketServer({ noServer: true, maxPayload: maxInputBytes, perMessageDeflate: false })
  // Only server.ts runs this, so there is one of it. By account, devbox and name.
  const bridges = new Map<string, TerminalBridge>()

  const admit = async (request: IncomingMessage) => {
    const url = request.url ?? ''
    // An absolute target would name another host than the one in the Host header.
    if (!url.startsWith('/')) throw new Refusal('invalid_argument', 'The request target must be a path')
    requireOwnHost(request)
    const header = headerOf(request)
    const [path = '', search = ''] = url.split('?', 2)
    const terminal = /^\/api\/terminals\/([^/]*)\/([^/]*)$/.exec(path)
    if (!terminal) throw new Refusal('not_found', 'No WebSocket is served here')
    requireSameOrigin(header, 'socket')
    const session = await requireSignedIn(header)
    const [, devboxId = '', name = ''] = terminal
    const sessionName = `${devboxId}-${name}`
    if (!/^[A-Za-z0-9_-]+$/.test(devboxId) || !/^[A-Za-z0-9_-]+$/.test(name) || sessionName.length > 256)
      throw new Refusal(
        'invalid_argument',
        'A devbox id and a terminal name hold ASCII letters, digits, - and _, together at most 255',
      )
    const query = parseQuery(SizeQuery, search)
    if (!query.ok) {
      const [problem] = query.problems
      throw new Refusal('invalid_argument', `${problem?.field} ${problem?.message}`, {
        field: problem?.field ?? 'cols',
      })
    }
    const ofAccount = `${session.account.id} `
    const key = `${ofAccount}${sessionName}`
    if (
      !bridges.has(key) &&
      [...bridges.keys()].filter((each) => each.startsWith(ofAccount)).length >= maxTerminalsPerAccount
    )
      throw new Refusal('rate_limited', `More than ${maxTerminalsPerAccount} terminals are open; close some`)
    return { session, devboxId, sessionName, key, size: query.value.size ?? defaultSize }
  }

  return (request, socket, head) => {
    // Until ws takes the socket over, nobody else hears of its errors.
    const ignore = () => socket.destroy()
    socket.on('error', ignore)
    if (forNext && request.url?.startsWith('/_next/') && isOwnPage(request)) return forNext(request, socket, head)
    admit(request).then(
      ({ key, ...opening }) => {
        if (socket.destroyed) return
        socket.off('error', ignore)
        server.handleUpgrade(request, socket, head, (page) => {
          const before = bridges.get(key)
          const bridge = new TerminalBridge(page, opening)
          bridges.set(key, bridge)
          page.once('close', () => {
            if (bridges.get(key) === bridge) bridges.delete(key)
          })
          void bridge.run(before?.end(terminalClose.takenOver, 'Opened in another window'))
        })
      },
      (error: unknown) => refuse(request, socket, error),
    )
  }
}

const headerOf = (request: IncomingMessage) => (name: string) => {
  const value = request.headers[name]
  return Array.isArray(value) ? value.join(', ') : value
}

const isOwnPage = (request: IncomingMessage): boolean => {
  try {
    requireOwnHost(request)
    requireSameOrigin(headerOf(request), 'socket')
    return true
  } catch {
    // Then it is refused like any other upgrade that is not a terminal.
    return false
  }
}

const refuse = (request: IncomingMessage, socket: Duplex, error: unknown): void => {
  const refusal =
    error instanceof Refusal ? error : new Refusal('internal', 'The console failed to answer; its log has more')
  const requestId = requestIdOf(new Headers())
  if (refusal !== error) console.error(`Upgrade ${requestId} of ${JSON.stringify(request.url)} failed:`, error)
  const status = errorStatus[refusal.code]
  const body = JSON.stringify(errorBody(refusal, requestId))
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n` +
      `cache-control: no-store\r\nconnection: close\r\n\r\n${body}`,
  )
}

const cells = z.int().check(z.minimum(1), z.maximum(maxCells))
const PageRequest = z.discriminatedUnion('type', [
  z.object({ type: z.literal('resize'), cols: cells, rows: cells }),
  z.object({ type: z.literal('close') }),
])

/** Why a terminal ends: the close code the page gets, and what it is told before. */
class Ending extends Error {
  readonly closeCode: number
  readonly code: string

  constructor(closeCode: number, code: string, message: string) {
    super(message)
    this.closeCode = closeCode
    this.code = code
  }
}

interface Attached {
  socket: WebSocket
  control: Client['terminals']['control']
  created: boolean
  size: Size
}

/** One page's terminal: its WebSocket on one side, the service's on the other. The shell lives on when the page leaves. */
class TerminalBridge {
  readonly #page: WebSocket
  readonly #session: Session
  readonly #devboxId: string
  readonly #sessionName: string
  readonly #gone = new AbortController()
  readonly #hungUp = Promise.withResolvers<void>()
  #size: Size
  #isResizing = false
  #shellSize: Size | undefined
  #upstream: Attached | undefined
  /** Typed before the shell was there. */
  #early: RawData[] = []
  #earlyBytes = 0

  constructor(
    page: WebSocket,
    { session, devboxId, sessionName, size }: { session: Session; devboxId: string; sessionName: string; size: Size },
  ) {
    this.#page = page
    this.#session = session
    this.#devboxId = devboxId
    this.#sessionName = sessionName
    this.#size = size
    const forget = trackStream(session.sid, (reason) =>
      reason === 'signed out'
        ? this.end(terminalClose.signedOut, 'Signed out')
        : this.end(terminalClose.consoleRestarting, 'The console is restarting'),
    )
    const stopWatching = watchForDeath(page)
    page.on('message', (data: RawData, isBinary: boolean) =>
      isBinary ? this.#input(data) : this.#request(String(data)),
    )
    page.on('error', () => page.terminate())
    page.once('close', () => {
      forget()
      stopWatching()
      this.#gone.abort()
    })
  }

  /** Attaches, moves bytes, and attaches again when the service's side is lost; until the page or the shell is gone. */
  async run(before: Promise<void> = Promise.resolve()): Promise<void> {
    await before
    try {
      for (let drops = 0; ; ) {
        const attachedAt = Date.now()
        const upstream = await this.#attach()
        const { code, reason } = await this.#open(upstream)
        this.#upstream = undefined
        if (this.#gone.signal.aborted) return
        if (code === shellEndedCode || code === closedOnRequestCode) {
          this.#notify({ type: 'exit', reason: reason || 'The shell has ended' })
          return void this.end(terminalClose.shellEnded, reason)
        }
        drops = Date.now() - attachedAt > stableMs ? 1 : drops + 1
        if (drops > maxDrops)
          throw new Ending(terminalClose.upstreamLost, 'unavailable', 'The service keeps dropping this terminal')
        await delay(unavailableRetriesMs[drops - 1], undefined, { signal: this.#gone.signal })
      }
    } catch (error) {
      if (this.#gone.signal.aborted) return
      const ending = error instanceof Ending ? error : undefined
      if (!ending) console.error('A terminal failed:', error)
      const { closeCode, code, message } =
        ending ?? new Ending(terminalClose.upstreamLost, 'internal', 'The console failed to keep this terminal open')
      this.#notify({ type: 'problem', code, message })
      void this.end(closeCode, message)
    } finally {
      this.#hungUp.resolve()
    }
  }

  /** Closes the page's side; resolves once the service's side is closed too. */
  async end(code: number, reason: string): Promise<void> {
    const page = this.#page
    // A paused socket would not hear the answer to its close.
    page.resume()
    // A close reason has room for 123 bytes.
    page.close(
      code,
      Buffer.from(reason)
        .subarray(0, 120)
        .toString()
        .replace(/\uFFFD$/, ''),
    )
    this.#gone.abort()
    setTimeout(() => page.terminate(), hangUpMs).unref()
    await this.#hungUp.promise
  }

  async #attach(): Promise<Attached> {
    return await retrying(unavailableRetriesMs, isUnavailable, this.#gone.signal, () => this.#attachOnce()).catch(
      (error: unknown) => {
        throw this.#gone.signal.aborted ? error : endingOf(error)
      },
    )
  }

  async #attachOnce(): Promise<Attached> {
    const signal = AbortSignal.any([this.#gone.signal, AbortSignal.timeout(attachTimeoutMs)])
    const { tunnel_key, auth_token } = await clientFor(this.#session.api_key).devboxes.createPtyTunnel({
      params: { id: this.#devboxId },
      signal,
    })
    const baseUrl = ptyBaseUrl(registry().service.url(), tunnel_key)
    const { connect, control } = createClient({ baseUrl, headers: bearer(auth_token) }).terminals
    const params = { session_name: this.#sessionName }
    const asked = this.#size
    const found = await connect({ params, query: asked, signal })
    const target = socketUrl(baseUrl, found.connect_url ?? `/pty/${this.#sessionName}/attach`)
    const socket = await retrying(heldRetriesMs, isHeld, signal, () => openSocket(target, auth_token, signal))
    return {
      socket,
      control,
      created: found.created,
      size: { cols: found.cols ?? asked.cols, rows: found.rows ?? asked.rows },
    }
  }

  /** Resolves when the service's side is closed. */
  #open(upstream: Attached): Promise<{ code: number; reason: string }> {
    const { socket, created, size } = upstream
    // What was typed for a shell that is gone must not run in the one that took its place.
    if (created && this.#shellSize) this.#early = []
    this.#upstream = upstream
    this.#shellSize = size
    // Before any output, which the socket holds back until it is resumed.
    this.#notify({ type: 'ready', created, ...size })
    const stopWatching = watchForDeath(socket)
    const hangUp = () => closeSoon(socket)
    this.#gone.signal.addEventListener('abort', hangUp, { once: true })
    if (this.#gone.signal.aborted) hangUp()
    const { promise, resolve } = Promise.withResolvers<{ code: number; reason: string }>()
    socket.on('message', (data: RawData) => this.#output(socket, data))
    socket.on('error', () => socket.terminate())
    socket.once('close', (code, reason) => {
      stopWatching()
      this.#gone.signal.removeEventListener('abort', hangUp)
      resolve({ code, reason: String(reason) })
    })
    for (const data of this.#early) socket.send(data as Buffer, { binary: true })
    this.#early = []
    this.#earlyBytes = 0
    this.#page.resume()
    socket.resume()
    void this.#resize()
    return promise
  }

  #output(socket: WebSocket, data: RawData): void {
    const page = this.#page
    page.send(data as Buffer, { binary: true }, () => {
      if (socket.isPaused && page.bufferedAmount < lowWaterBytes) socket.resume()
    })
    if (page.bufferedAmount > highWaterBytes) socket.pause()
  }

  #input(data: RawData): void {
    const page = this.#page
    const socket = this.#upstream?.socket
    if (!socket) {
      this.#early.push(data)
      this.#earlyBytes += (data as Buffer).byteLength
      if (this.#earlyBytes > maxEarlyBytes) page.pause()
      return
    }
    socket.send(data as Buffer, { binary: true }, () => {
      if (page.isPaused && socket.bufferedAmount < lowWaterBytes) page.resume()
    })
    if (socket.bufferedAmount > highWaterBytes) page.pause()
  }

  #request(text: string): void {
    const request = PageRequest.safeParse(parseJson(text)).data
    if (request?.type === 'close') void this.#closeShell()
    else if (request) {
      this.#size = { cols: request.cols, rows: request.rows }
      void this.#resize()
    } else
      this.#notify({
        type: 'problem',
        code: 'invalid_argument',
        message: `A resize takes cols and rows from 1 to ${maxCells}`,
      })
  }

  /** One call at a time; sizes that come meanwhile are skipped but for the last. */
  async #resize(): Promise<void> {
    if (this.#isResizing) return
    this.#isResizing = true
    try {
      for (let upstream = this.#upstream; upstream && !isSame(this.#size, this.#shellSize); upstream = this.#upstream) {
        const size = this.#size
        this.#shellSize = size
        await upstream.control({
          params: { session_name: this.#sessionName },
          body: { action: 'resize', ...size },
          signal: this.#gone.signal,
        })
      }
    } catch (error) {
      this.#controlFailed('resized', error)
    } finally {
      this.#isResizing = false
    }
  }

  async #closeShell(): Promise<void> {
    try {
      await this.#upstream?.control({
        params: { session_name: this.#sessionName },
        body: { action: 'close' },
        signal: this.#gone.signal,
      })
    } catch (error) {
      this.#controlFailed('closed', error)
    }
  }

  #controlFailed(done: string, error: unknown): void {
    // A session that is gone already tells so by closing its socket.
    if (this.#gone.signal.aborted || (error instanceof ApiError && error.status === 404)) return
    const { code, message } = endingOf(error)
    this.#notify({ type: 'problem', code, message: `The terminal could not be ${done}: ${message}` })
  }

  #notify(notice: TerminalNotice): void {
    if (this.#page.readyState === WebSocket.OPEN) this.#page.send(JSON.stringify(notice))
  }
}

class RefusedUpgrade extends Error {
  readonly status: number

  constructor(status: number) {
    super(`The service answered the WebSocket request with ${status}`)
    this.status = status
  }
}

/** Paused when it opens: its first output must not be lost before anyone listens. */
const openSocket = (target: URL, token: string, signal: AbortSignal): Promise<WebSocket> => {
  const { promise, resolve, reject } = Promise.withResolvers<WebSocket>()
  const socket = new WebSocket(target, [token], {
    perMessageDeflate: false,
    maxPayload: maxOutputBytes,
    handshakeTimeout: attachTimeoutMs,
  })
  const giveUp = () => socket.terminate()
  signal.addEventListener('abort', giveUp, { once: true })
  socket.once('open', () => {
    socket.pause()
    resolve(socket)
  })
  socket.once('unexpected-response', (request, { statusCode = 0 }) => {
    reject(new RefusedUpgrade(statusCode))
    request.destroy()
  })
  socket.on('error', reject)
  return promise.finally(() => signal.removeEventListener('abort', giveUp))
}

/** The address comes from the service; it may name a path of its own host and nothing else. */
const socketUrl = (baseUrl: string, connectUrl: string): URL => {
  const base = new URL(baseUrl)
  const url = /^\/(?![/\\])/.test(connectUrl) ? URL.parse(connectUrl, base) : null
  if (url?.origin !== base.origin)
    throw new Ending(
      terminalClose.upstreamLost,
      'bad_upstream',
      'The service names another host for its terminals, which is not followed',
    )
  url.protocol = base.protocol === 'https:' ? 'wss:' : 'ws:'
  return url
}

const isUnavailable = (error: unknown) => {
  if (error instanceof ApiError) return error.code === 'unreachable' || error.status === 502 || error.status === 503
  if (error instanceof RefusedUpgrade) return error.status >= 500 || error.status === 401 || error.status === 404
  return !(error instanceof Ending)
}

const isHeld = (error: unknown) => error instanceof RefusedUpgrade && error.status === 409

const endingOf = (error: unknown): Ending => {
  if (error instanceof Ending) return error
  if (error instanceof RefusedUpgrade)
    return isHeld(error)
      ? new Ending(terminalClose.takenOver, 'conflict', 'Another program holds this terminal')
      : new Ending(terminalClose.upstreamLost, 'unavailable', error.message)
  const where = registry().service.url()
  if (!(error instanceof ApiError))
    return new Ending(
      terminalClose.upstreamLost,
      'unavailable',
      `The service at ${where} does not open the terminal: ${(error as Error).message}`,
    )
  switch (error.status) {
    case 0:
      return new Ending(terminalClose.upstreamLost, 'unavailable', `The service at ${where} cannot be reached`)
    case 401:
      return new Ending(
        terminalClose.signedOut,
        'unauthenticated',
        'The service no longer accepts the key of this session',
      )
    case 404:
      return new Ending(terminalClose.devboxNotFound, 'not_found', error.message)
    case 400:
    case 409:
      return new Ending(terminalClose.devboxNotRunning, 'conflict', error.message)
    default:
      return new Ending(terminalClose.upstreamLost, error.code, error.message)
  }
}

/** Runs again after each of `waitsMs` for as long as it fails in the way `isTransient` tells. */
const retrying = async <T>(
  waitsMs: readonly number[],
  isTransient: (error: unknown) => boolean,
  signal: AbortSignal,
  run: () => Promise<T>,
): Promise<T> => {
  for (const waitMs of waitsMs) {
    try {
      return await run()
    } catch (error) {
      if (signal.aborted || !isTransient(error)) throw error
      await delay(waitMs, undefined, { signal })
    }
  }
  return run()
}

/** Pings, and cuts the connection after a time without any sign of life. Returns the call that stops it. */
const watchForDeath = (socket: WebSocket): (() => void) => {
  let heardAt = Date.now()
  const heard = () => {
    heardAt = Date.now()
  }
  for (const sign of ['message', 'ping', 'pong'] as const) socket.on(sign, heard)
  const timer = setInterval(() => {
    // What we do not read cannot tell that it lives.
    if (socket.isPaused) heard()
    if (Date.now() - heardAt > deadMs) socket.terminate()
    else if (socket.readyState === WebSocket.OPEN) socket.ping()
  }, pingMs)
  return () => clearInterval(timer)
}

const closeSoon = (socket: WebSocket): void => {
  socket.resume()
  socket.close()
  const timer = setTimeout(() => socket.terminate(), hangUpMs)
  socket.once('close', () => clearTimeout(timer))
}

const isSame = (a: Size, b: Size | undefined) => a.cols === b?.cols && a.rows === b.rows

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    // The schema refuses it.
    return undefined
  }
}
