import { readFileSync } from 'node:fs'
import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import { sessionOf } from '../accounts/session-cookie.ts'
import { clientAddress } from './client-address.ts'

/** Files kept free for calls to the service, databases and pages, where the limit allows. */
const usualSpare = 64
const quietMs = 60_000
/** Unspecified: how many connections of one client may be open whose last request was of nobody who is signed in. */
const usualStrangers = 4_096

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
  const { limit, most } = openFiles()
  const warn = seldom(`New connections are refused: ${most} of ${limit} files are open`)
  // Before the listener of the server itself, which finds the connection on its way out.
  server.prependListener('connection', (socket: Socket) => {
    const { fd = -1 } = (socket as unknown as { _handle?: { fd?: number } | null })._handle ?? {}
    if (fd < most) return
    socket.end(refusal)
    socket.destroySoon()
    warn()
  })
}

/**
 * Closes the oldest connection of a client that has too many over which nobody is signed in. Its last request tells whose
 * one is: a proxy sends those of many people over the same.
 */
export const limitStrangers = (server: Server): void => {
  const most = Math.min(usualStrangers, Math.floor(openFiles().most / 4))
  const warn = seldom(`Connections of a client are closed: ${most} of it are open over which nobody is signed in`)
  const strangers = new Map<string, Set<Socket>>()
  const forgets = new WeakMap<Socket, () => void>()
  const count = (socket: Socket, address: string) => {
    forgets.get(socket)?.()
    const all = strangers.get(address) ?? new Set()
    strangers.set(address, all.add(socket))
    forgets.set(socket, () => {
      if (all.delete(socket) && all.size === 0) strangers.delete(address)
    })
    const [oldest] = all
    if (all.size <= most || oldest === undefined) return
    warn()
    forgets.get(oldest)?.()
    oldest.destroy()
  }
  server.on('connection', (socket: Socket) => {
    count(socket, clientAddress({ socket, headers: {} }))
    socket.once('close', () => forgets.get(socket)?.())
  })
  const judge = async (request: IncomingMessage) => {
    count(request.socket, clientAddress(request))
    if (await sessionOf((name) => String(request.headers[name] ?? ''))) forgets.get(request.socket)?.()
  }
  // What cannot be told to be somebody's stays nobody's.
  const judgeLater = (request: IncomingMessage) => void judge(request).catch(() => undefined)
  server.on('request', judgeLater).on('upgrade', judgeLater)
}

const seldom = (message: string) => {
  let toldAtMs = Number.NEGATIVE_INFINITY
  return () => {
    if (performance.now() - toldAtMs > quietMs) console.error(message)
    toldAtMs = performance.now()
  }
}

/** How many files may be open, and how many connections may make them. */
const openFiles = (): { limit: number; most: number } => {
  const limit = openFilesLimit()
  return { limit, most: limit - Math.min(usualSpare, Math.floor(limit / 4)) }
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
