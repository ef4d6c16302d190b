import { readFileSync } from 'node:fs'
import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/** Files kept free for calls to the service, databases and pages, where the limit allows. */
const usualSpare = 64
const quietMs = 60_000

const body = JSON.stringify({ code: 'unavailable', message: 'The console has too many open connections' })
const refusal = [
  'HTTP/1.1 503 Service Unavailable',
  'retry-after: 1',
  'connection: close',
  'content-type: application/json',
  `content-length: ${body.length}`,
  '',
  body,
].join('\r\n')

/**
 * Refuses new connections that would leave too few files for those that are open. The kernel gives each the lowest free
 * number, so the number of a connection tells how many files are open.
 */
export const keepFilesFree = (server: Server): void => {
  const limit = openFilesLimit()
  const most = limit - Math.min(usualSpare, Math.floor(limit / 4))
  let toldAtMs = Number.NEGATIVE_INFINITY
  // Before the listener of the server itself, which finds the connection on its way out.
  server.prependListener('connection', (socket: Socket) => {
    const { fd = -1 } = (socket as unknown as { _handle?: { fd?: number } | null })._handle ?? {}
    if (fd < most) return
    socket.end(refusal)
    socket.destroySoon()
    const nowMs = performance.now()
    if (nowMs - toldAtMs > quietMs) console.error(`New connections are refused: ${most} of ${limit} files are open`)
    toldAtMs = nowMs
  })
}

const openFilesLimit = (): number => {
  try {
    const [, soft] = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    return Number(soft ?? Number.POSITIVE_INFINITY)
  } catch {
    // Without /proc the limit is unknown, and only the system's own applies.
    return Number.POSITIVE_INFINITY
  }
}
