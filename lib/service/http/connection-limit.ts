import type { IncomingMessage } from 'node:http'
import type { Http2ServerRequest } from 'node:http2'
import { createDescriptorReserve, createUnauthenticatedLimit, markAuthenticated } from '#lib/limits/connection-limit.ts'
import { logError } from '#lib/service/kit/log.ts'

const warn = (message: string) => logError({ level: 'warn', message })

/** Keeps connections from taking the files of databases, devboxes and commands. */
export const createConnectionLimit = () => ({
  refuses: createDescriptorReserve('service', warn),
  count: createUnauthenticatedLimit(warn),
})

/** The connection of this request counts as somebody's from now on. */
export const markKnown = (request: IncomingMessage): void => {
  const { stream } = request as unknown as Http2ServerRequest
  markAuthenticated((request.httpVersionMajor === 2 ? stream.session : request.socket) ?? {})
}
