import { readFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import type { Http2ServerRequest, Http2Session } from 'node:http2'
import type { Socket } from 'node:net'
import { logError } from '#lib/service/kit/log.ts'

/** Files kept free for the database, devboxes and commands, where the limit allows. */
const usualSpare = 64
const quietMs = 60_000
/** Unspecified: how many connections of one address may be open over which no credential has come yet. */
const usualUnknown = 4_096

/** What keeps connections from taking the files of everything else. */
export const createConnectionLimit = () => {
  const limit = openFilesLimit()
  const highest = limit - Math.min(usualSpare, Math.floor(limit / 4))
  const mostUnknown = Math.min(usualUnknown, Math.floor(highest / 4))
  const unknown = new Map<string, Set<Socket>>()
  const warnOfFiles = seldom(`New connections are refused: ${highest} of ${limit} files are open`)
  const warnOfUnknown = seldom(
    `Connections of an address are closed: ${mostUnknown} of it are open that have shown no credential`,
  )
  return {
    /**
     * Whether a new connection would leave too few files for the rest of the service. The kernel gives each the lowest
     * free number, so the number of the connection tells how many files are open.
     */
    isOver(socket: Socket): boolean {
      if (fileNumberOf(socket) < highest) return false
      warnOfFiles()
      return true
    },
    /**
     * Counts a new connection with its address until `markKnown`. The oldest makes room for one too many: whoever has a
     * key shows it at once, and is not kept out by what others of the same machine or proxy hold open.
     */
    count(socket: Socket): void {
      const address = socket.remoteAddress ?? ''
      const all = unknown.get(address) ?? new Set()
      unknown.set(address, all.add(socket))
      const forget = () => {
        if (all.delete(socket) && all.size === 0) unknown.delete(address)
      }
      forgets.set(socket, forget)
      socket.once('close', forget)
      const [oldest] = all
      if (all.size <= mostUnknown || oldest === undefined) return
      warnOfUnknown()
      forgets.get(oldest)?.()
      oldest.destroy()
    },
    /** An HTTP/2 session does not tell its connection. */
    carries(socket: Socket, session: Http2Session): void {
      forgets.set(session, forgets.get(socket) ?? (() => undefined))
    },
  }
}

const forgets = new WeakMap<object, () => void>()

/** The connection of this request counts as somebody's from now on. */
export const markKnown = (request: IncomingMessage): void => {
  const { stream } = request as unknown as Http2ServerRequest
  const connection = request.httpVersionMajor === 2 ? stream.session : request.socket
  if (connection) forgets.get(connection)?.()
}

const seldom = (message: string) => {
  let loggedAtMs = Number.NEGATIVE_INFINITY
  return () => {
    if (performance.now() - loggedAtMs > quietMs) logError({ level: 'warn', message })
    loggedAtMs = performance.now()
  }
}

/** Refuses before the request is read. */
export const refuseConnection = (socket: Socket) => {
  const body = JSON.stringify({ code: 'unavailable', message: 'The service has too many open connections' })
  socket.on('error', () => socket.destroy())
  socket.end(
    `HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  )
  socket.destroySoon()
}

const openFilesLimit = (): number => {
  try {
    const [, soft] = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft)
  } catch {
    // Without /proc the limit is unknown, and only the system's own applies.
    return Number.POSITIVE_INFINITY
  }
}

const fileNumberOf = (socket: Socket): number =>
  (socket as unknown as { _handle?: { fd?: number } | null })._handle?.fd ?? -1
