import { readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { logError } from '#lib/service/kit/log.ts'

/** Files kept free for the database, devboxes and commands, where the limit allows. */
const usualSpare = 64
const quietMs = 60_000

/**
 * Whether a new connection would leave too few files for the rest of the service. The kernel gives each the lowest free
 * number, so the number of the connection tells how many files are open.
 */
export const createConnectionLimit = () => {
  const limit = openFilesLimit()
  const highest = limit - Math.min(usualSpare, Math.floor(limit / 4))
  let loggedAtMs = Number.NEGATIVE_INFINITY
  return (socket: Socket): boolean => {
    if (fileNumberOf(socket) < highest) return false
    if (performance.now() - loggedAtMs > quietMs)
      logError({ level: 'warn', message: `New connections are refused: ${highest} of ${limit} files are open` })
    loggedAtMs = performance.now()
    return true
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
