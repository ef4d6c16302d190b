import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import { createDescriptorReserve, createUnauthenticatedLimit, markAuthenticated } from '#lib/limits/connection-limit.ts'
import { isSignedIn } from '../accounts/session-cookie.ts'
import { clientAddress } from '../http/request-guards.ts'
import { logWarning } from '../observability/log.ts'

/** Refuses connections that would leave too few file descriptors for service calls, databases and pages. */
export const reserveFileDescriptors = (server: Server): void => {
  // Prepended, so that the HTTP server's own listener sees a connection that is already closing.
  server.prependListener('connection', createDescriptorReserve('console', logWarning))
}

/** Closes a client's oldest unauthenticated connection. Checks each request, because proxies share connections. */
export const limitUnauthenticatedConnections = (server: Server): void => {
  const count = createUnauthenticatedLimit(logWarning)
  server.on('connection', (socket: Socket) => count(socket, clientAddress({ socket, headers: {} })))
  const classify = async (request: IncomingMessage) => {
    count(request.socket, clientAddress(request))
    if (await isSignedIn((name) => String(request.headers[name] ?? ''))) markAuthenticated(request.socket)
  }
  // An unreadable session leaves the connection unauthenticated.
  const onRequest = (request: IncomingMessage) => void classify(request).catch(() => undefined)
  server.on('request', onRequest).on('upgrade', onRequest)
}
