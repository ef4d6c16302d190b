import { WebSocket } from 'ws'
import { ApiError } from '#lib/client/api-error.ts'
import { createClient } from '#lib/client/client.ts'
import type { PtyTunnel } from '#lib/contract/devboxes.ts'
import { inputOffsetHeader, outputOffsetHeader, type PtyControl, shellIdHeader } from '#lib/contract/terminals.ts'
import { terminalClose } from '#lib/protocol/terminals.ts'
import { digestOf } from '../accounts/digest.ts'
import { registry } from '../registry/registry.ts'
import { bearer, clientFor, ptyBaseUrl } from '../upstream/client.ts'
import { ptyTunnels } from './registry.ts'
import type { Size } from './size-keeper.ts'

/** A replayed screen arrives in one frame. */
const maxOutputBytes = 16 * 1024 * 1024
const attachTimeoutMs = 15_000
/** How long a devbox's terminals share a token: less than any service's token lifetime. */
const tunnelKeptMs = 5 * 60_000
/** Default for services that don't report how long they keep an unattached shell. */
const usualIdleTtlSeconds = 300

export interface Attached {
  /** Paused, so that no output is lost before a listener is added. */
  socket: WebSocket
  created: boolean
  size: Size
  /** Offset of the first byte to arrive; undefined if the service doesn't count. */
  offset: number | undefined
  shellId: string | undefined
  /** Input bytes the shell has received; undefined if the service doesn't count. */
  inputOffset: number | undefined
  idleTtlMs: number
  control(request: PtyControl): Promise<void>
}

interface Target {
  apiKey: string
  devboxId: string
  sessionName: string
  size: Size
  /** Replay only output from this offset on. */
  after: number | undefined
  signal: AbortSignal
}

/** Attaches to a terminal session, starting its shell if needed. */
export const attach = async (target: Target): Promise<Attached> => {
  const inTime = AbortSignal.any([target.signal, AbortSignal.timeout(attachTimeoutMs)])
  const { apiKey, devboxId } = target
  const key = digestOf(`${apiKey} ${devboxId}`)
  for (const [each, { untilMs }] of ptyTunnels()) if (untilMs <= Date.now()) ptyTunnels().delete(each)
  const known = ptyTunnels().get(key)
  if (known) {
    try {
      return await attachThrough(known.tunnel, target, inTime)
    } catch (error) {
      ptyTunnels().delete(key)
      if (!isRevoked(error)) throw error
    }
  }
  const tunnel = await clientFor(apiKey).devboxes.createPtyTunnel({ params: { id: devboxId }, signal: inTime })
  const attached = await attachThrough(tunnel, target, inTime)
  ptyTunnels().set(key, { tunnel, untilMs: Date.now() + tunnelKeptMs })
  return attached
}

const attachThrough = async (
  { tunnel_key, auth_token }: PtyTunnel,
  { sessionName, size, after, signal }: Target,
  inTime: AbortSignal,
): Promise<Attached> => {
  const baseUrl = ptyBaseUrl(registry().service.url(), tunnel_key)
  const { connect, control } = createClient({ baseUrl, headers: bearer(auth_token) }).terminals
  const params = { session_name: sessionName }
  const found = await connect({ params, query: size, signal: inTime })
  const target = socketUrl(baseUrl, found.connect_url ?? `/pty/${sessionName}/attach`)
  if (after !== undefined) target.searchParams.set('after', String(after))
  const { socket, headers } = await openSocket(target, auth_token, inTime)
  return {
    socket,
    created: found.created,
    size: { cols: found.cols ?? size.cols, rows: found.rows ?? size.rows },
    offset: offsetOf(headers[outputOffsetHeader]),
    shellId: wordOf(headers[shellIdHeader]),
    inputOffset: offsetOf(headers[inputOffsetHeader]),
    idleTtlMs: (found.idle_ttl_seconds ?? usualIdleTtlSeconds) * 1000,
    control: async (body) => {
      await control({ params, body, signal: AbortSignal.any([signal, AbortSignal.timeout(attachTimeoutMs)]) })
    },
  }
}

/** The reason a terminal can't continue, with the close code for its pages. */
export class Ending extends Error {
  readonly closeCode: number
  readonly code: string

  constructor(closeCode: number, code: string, message: string) {
    super(message)
    this.closeCode = closeCode
    this.code = code
  }
}

/** The token is no longer valid, for example after a suspend. */
const isRevoked = (error: unknown): boolean =>
  (error instanceof ApiError || error instanceof RefusedUpgrade) && [401, 403, 404].includes(error.status)

/** The call may succeed if retried. */
export const isUnavailable = (error: unknown): boolean => {
  if (error instanceof ApiError) return error.code === 'unreachable' || error.status === 502 || error.status === 503
  if (error instanceof RefusedUpgrade) return error.status >= 500 || [401, 404, 409].includes(error.status)
  return !(error instanceof Ending)
}

/** Maps a failed call or attach to the ending pages are shown. */
export const endingOf = (error: unknown): Ending => {
  if (error instanceof Ending) return error
  if (error instanceof RefusedUpgrade)
    return error.status === 409
      ? new Ending(terminalClose.takenOver, 'conflict', 'Another client is attached to this terminal')
      : new Ending(terminalClose.upstreamLost, 'unavailable', error.message)
  const { message } = error as Error
  const where = `The service at ${registry().service.url()}`
  const { upstreamLost: lost, signedOut, devboxNotFound, devboxNotRunning } = terminalClose
  if (!(error instanceof ApiError))
    return new Ending(lost, 'unavailable', `${where} did not open the terminal: ${message}`)
  switch (error.status) {
    case 0:
      return new Ending(lost, 'unavailable', `${where} can't be reached`)
    case 401:
      return new Ending(signedOut, 'unauthenticated', "The service rejected this session's API key")
    case 404:
      return new Ending(devboxNotFound, 'not_found', message)
    case 400:
    case 409:
      return new Ending(devboxNotRunning, 'conflict', message)
    default:
      return new Ending(lost, error.code, message)
  }
}

class RefusedUpgrade extends Error {
  readonly status: number

  constructor(status: number) {
    super(`The service responded to the WebSocket upgrade with ${status}`)
    this.status = status
  }
}

type Headers = Record<string, string | string[] | undefined>

const openSocket = (target: URL, token: string, signal: AbortSignal) => {
  const { promise, resolve, reject } = Promise.withResolvers<{ socket: WebSocket; headers: Headers }>()
  const socket = new WebSocket(target, [token], {
    perMessageDeflate: false,
    maxPayload: maxOutputBytes,
    handshakeTimeout: attachTimeoutMs,
  })
  const giveUp = () => socket.terminate()
  signal.addEventListener('abort', giveUp, { once: true })
  let headers: Headers = {}
  socket.once('upgrade', (answer) => {
    headers = answer.headers
  })
  socket.once('open', () => {
    socket.pause()
    resolve({ socket, headers })
  })
  socket.once('unexpected-response', (request, { statusCode = 0 }) => {
    reject(new RefusedUpgrade(statusCode))
    request.destroy()
  })
  socket.on('error', reject)
  return promise.finally(() => signal.removeEventListener('abort', giveUp))
}

/** The service chooses the path, but must stay on its own host. */
const socketUrl = (baseUrl: string, connectUrl: string): URL => {
  const base = new URL(baseUrl)
  const url = /^\/(?![/\\])/.test(connectUrl) ? URL.parse(connectUrl, base) : null
  if (url?.origin !== base.origin)
    throw new Ending(
      terminalClose.upstreamLost,
      'bad_upstream',
      'The service returned a terminal address on another host',
    )
  url.protocol = base.protocol === 'https:' ? 'wss:' : 'ws:'
  return url
}

const offsetOf = (header: string | string[] | undefined) =>
  typeof header === 'string' && /^\d{1,15}$/.test(header) ? Number(header) : undefined
/** Restricted to plain words because pages display it. */
const wordOf = (header: string | string[] | undefined) =>
  typeof header === 'string' && /^[\w-]{1,64}$/.test(header) ? header : undefined
