import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import { createDescriptorReserve, createUnauthenticatedLimit, markAuthenticated } from '#lib/limits/connection-limit.ts'
import { sessionOf } from '../accounts/session-cookie.ts'
import { clientAddress } from '../http/client-address.ts'

/** Refuses new connections that would leave too few files for calls to the service, databases and pages. */
export const reserveFileDescriptors = (server: Server): void => {
  // Before the listener of the server itself, which finds the connection on its way out.
  server.prependListener('connection', createDescriptorReserve('console', console.error))
}

/**
 * Closes the oldest connection of a client that has too many over which nobody is signed in. Its last request tells whose
 * one is: a proxy sends those of many people over the same.
 */
export const limitUnauthenticatedConnections = (server: Server): void => {
  const count = createUnauthenticatedLimit(console.error)
  server.on('connection', (socket: Socket) => count(socket, clientAddress({ socket, headers: {} })))
  const judge = async (request: IncomingMessage) => {
    count(request.socket, clientAddress(request))
    if (await sessionOf((name) => String(request.headers[name] ?? ''))) markAuthenticated(request.socket)
  }
  // What cannot be told to be somebody's stays nobody's.
  const judgeLater = (request: IncomingMessage) => void judge(request).catch(() => undefined)
  server.on('request', judgeLater).on('upgrade', judgeLater)
}
