import { readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { clientId } from './wrong-key-limit.ts'

/** File descriptors reserved for everything but connections, where the limit allows. */
const usualSpare = 64
/** Unspecified: maximum number of unauthenticated connections per client. */
const defaultUnauthenticated = 4_096
const quietMs = 60_000

type Warn = (message: string) => void

export const openFilesLimit = (pid: number | 'self' = 'self'): number => {
  try {
    return Number(/^Max open files +(\d+)/m.exec(readFileSync(`/proc/${pid}/limits`, 'utf8'))?.[1] ?? Infinity)
  } catch {
    // Without /proc the limit is unknown, and only the system's own applies.
    return Infinity
  }
}

export const spareFiles = (limit: number): number => Math.min(usualSpare, Math.floor(limit / 4))

const limit = openFilesLimit()
const maxFiles = limit - spareFiles(limit)
const maxUnauthenticated = Math.min(defaultUnauthenticated, Math.floor(maxFiles / 4))

// Refuses a connection that leaves too few descriptors and returns whether it did. The kernel assigns the lowest free
// number, so a connection's descriptor number shows how many files are open.
export const createDescriptorReserve = (process: 'console' | 'service', warn: Warn) => {
  const warnOfRefusal = oncePerBurst(warn, `New connections are refused: ${maxFiles} of ${limit} files are open`)
  const body = JSON.stringify({ code: 'unavailable', message: `The ${process} has too many open connections` })
  const refusal = [
    'HTTP/1.1 503 Service Unavailable',
    'retry-after: 1',
    'connection: close',
    'content-type: application/json',
    `content-length: ${body.length}`,
    '',
    body,
  ].join('\r\n')
  return (socket: Socket): boolean => {
    const { fd = -1 } = (socket as unknown as { _handle?: { fd?: number } | null })._handle ?? {}
    if (fd < maxFiles) return false
    socket.on('error', () => socket.destroy()).end(refusal)
    socket.destroySoon()
    warnOfRefusal()
    return true
  }
}

/** Over the limit, closes the client's oldest connection that isn't authenticated yet. */
export const createUnauthenticatedLimit = (warn: Warn) => {
  const warnOfLimit = oncePerBurst(
    warn,
    `Closing the oldest connections of a client: it has ${maxUnauthenticated} unauthenticated ones open`,
  )
  const unauthenticated = new Map<string, Set<Socket>>()
  return (socket: Socket, address: string): void => {
    const client = clientId(address)
    if (!stopCounting.has(socket)) socket.once('close', () => markAuthenticated(socket))
    markAuthenticated(socket)
    const all = unauthenticated.get(client) ?? new Set()
    unauthenticated.set(client, all.add(socket))
    stopCounting.set(socket, () => {
      if (all.delete(socket) && all.size === 0) unauthenticated.delete(client)
    })
    const [oldest] = all
    if (all.size <= maxUnauthenticated || oldest === undefined) return
    warnOfLimit()
    markAuthenticated(oldest)
    oldest.destroy()
  }
}

const stopCounting = new WeakMap<object, () => void>()

/** Marks the connection as authenticated until it is counted again. */
export const markAuthenticated = (connection: object): void => stopCounting.get(connection)?.()

/** An HTTP/2 session does not expose its socket. */
export const carries = (socket: Socket, session: object): void => {
  stopCounting.set(session, () => markAuthenticated(socket))
}

const oncePerBurst = (warn: Warn, message: string) => {
  let warnedAtMs = -Infinity
  return () => {
    if (performance.now() - warnedAtMs > quietMs) warn(message)
    warnedAtMs = performance.now()
  }
}
