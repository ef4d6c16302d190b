import { type IncomingMessage, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import { errorStatus } from '#lib/contract/errors.ts'
import { accountHeader } from '#lib/protocol/session.ts'
import { clientAddress } from './client-address.ts'
import { errorBody, HttpError, requestIdOf } from './handle-request.ts'
import { type ReadHeader, requireSameOrigin } from './origin.ts'
import { requireOwnHost } from './request-guards.ts'
import { endSocket } from './sockets.ts'

type Upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => void

/** An upgrade that came to this console's name, from one of its own pages. */
export interface SocketRequest {
  /** Of the route's path. */
  match: RegExpExecArray
  search: string
  header: ReadHeader
  /** The client's address. */
  address: string
}

export interface SocketRoute {
  path: RegExp
  /** What to do with the socket once it is open. Throws an HttpError for it not to be opened. */
  admit(asked: SocketRequest): Promise<(page: WebSocket) => void>
}

const maxFrameBytes = 1024 * 1024

/**
 * The WebSockets of the console. What is refused is refused as a plain HTTP answer. `forNext` gets the upgrades below
 * `/_next/`, which is hot reloading in development.
 */
export const socketUpgrades = (routes: readonly SocketRoute[], forNext?: Upgrade): Upgrade => {
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: maxFrameBytes,
    perMessageDeflate: false,
    clientTracking: false,
  })
  return (request, socket, head) => {
    // Until ws takes the socket over, nothing else handles its errors.
    const ignore = () => socket.destroy()
    socket.on('error', ignore)
    if (forNext && request.url?.startsWith('/_next/') && isOwnPage(request)) return forNext(request, socket, head)
    admit(request, routes).then(
      (enter) => {
        if (socket.destroyed) return
        socket.off('error', ignore)
        server.handleUpgrade(request, socket, head, enter)
      },
      (error: unknown) => refuse(socket, error),
    )
  }
}

const admit = async (request: IncomingMessage, routes: readonly SocketRoute[]) => {
  const url = request.url ?? ''
  // An absolute target would name another host than the one in the Host header.
  if (!url.startsWith('/')) throw new HttpError('invalid_argument', 'The request target must be a path')
  requireOwnHost(request)
  const [path = '', search = ''] = url.split('?', 2)
  for (const route of routes) {
    const match = route.path.exec(path)
    if (!match) continue
    const header = socketHeader(request, search)
    requireSameOrigin(header, 'socket')
    return route.admit({ match, search, header, address: clientAddress(request) })
  }
  throw new HttpError('not_found', 'No WebSocket is served here')
}

const headerOf = (request: IncomingMessage) => (name: string) => {
  const value = request.headers[name]
  return Array.isArray(value) ? value.join(', ') : value
}

/** A WebSocket of a page cannot have a header of its own: its account stands in the query. */
const socketHeader = (request: IncomingMessage, search: string): ReadHeader => {
  const read = headerOf(request)
  const account = new URLSearchParams(search).get('account') ?? undefined
  return (name) => (name === accountHeader ? account : read(name))
}

const isOwnPage = (request: IncomingMessage): boolean => {
  try {
    requireOwnHost(request)
    requireSameOrigin(headerOf(request), 'socket')
    return true
  } catch {
    // Then it is refused like any other upgrade without a route.
    return false
  }
}

const refuse = (socket: Duplex, error: unknown): void => {
  const refusal =
    error instanceof HttpError ? error : new HttpError('internal', 'The console failed to answer; its log has more')
  const requestId = requestIdOf(new Headers())
  // Not the whole address: a link to follow by is a secret.
  if (refusal !== error) console.error(`Upgrade ${requestId} failed:`, error)
  const status = errorStatus[refusal.code]
  const body = JSON.stringify(errorBody(refusal, requestId))
  const headers = Object.entries(refusal.headers).map(([name, value]) => `${name}: ${value}`)
  if (refusal.retryAfterSeconds !== undefined) headers.push(`retry-after: ${refusal.retryAfterSeconds}`)
  endSocket(
    socket,
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n` +
      `cache-control: no-store\r\nconnection: close\r\n${headers.map((each) => `${each}\r\n`).join('')}\r\n${body}`,
  )
}
