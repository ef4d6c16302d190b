import { type IncomingMessage, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import { errorStatus } from '#lib/contract/errors.ts'
import { accountHeader } from '#lib/protocol/session.ts'
import { logError } from '../observability/log.ts'
import { errorBody, HttpError, requestIdOf } from './handle-request.ts'
import { type ReadHeader, requireSameOrigin } from './origin.ts'
import { clientAddress, requireOwnHost } from './request-guards.ts'
import { endSocket } from './sockets.ts'

type Upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => void

/** An upgrade request from one of our own pages. */
export interface SocketRequest {
  /** Match of the route's path. */
  match: RegExpExecArray
  search: string
  header: ReadHeader
  address: string
}

export interface SocketRoute {
  path: RegExp
  /** Returns what to do with the open socket, or throws an HttpError to reject it. */
  admit(asked: SocketRequest): Promise<(page: WebSocket) => void>
}

const maxFrameBytes = 1024 * 1024

// Handles WebSocket upgrades; rejections are plain HTTP responses. `forNext` receives hot-reload upgrades in
// development.
export const socketUpgrades = (routes: readonly SocketRoute[], forNext?: Upgrade): Upgrade => {
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: maxFrameBytes,
    perMessageDeflate: false,
    clientTracking: false,
  })
  return (request, socket, head) => {
    // Nothing else handles socket errors until ws takes over.
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
  // An absolute target could name another host than the Host header.
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
  throw new HttpError('not_found', 'No WebSocket at this path')
}

/** Browsers cannot set WebSocket headers, so the account is in the query. */
const socketHeader = (request: IncomingMessage, search = ''): ReadHeader => {
  const account = new URLSearchParams(search).get('account')
  const own: Record<string, string | null> = { [accountHeader]: account, 'x-devdeck-client': clientAddress(request) }
  return (name) => (name in own ? own[name] : request.headers[name]?.toString())
}

const isOwnPage = (request: IncomingMessage): boolean => {
  try {
    requireOwnHost(request)
    requireSameOrigin(socketHeader(request), 'socket')
    return true
  } catch {
    // Rejected later like any upgrade without a route.
    return false
  }
}

const refuse = (socket: Duplex, error: unknown): void => {
  const refusal =
    error instanceof HttpError
      ? error
      : new HttpError('internal', 'The console failed to handle the request; see its log')
  const requestId = requestIdOf(new Headers())
  // Omits the URL, which may contain a secret link.
  if (refusal !== error) logError(`Upgrade ${requestId} failed`, error, { request_id: requestId })
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
