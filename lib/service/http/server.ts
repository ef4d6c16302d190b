import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createHttp2Server, type Http2Session } from 'node:http2'
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { carries } from '#lib/limits/connection-limit.ts'
import { createConnectionLimit } from './connection-limit.ts'
import type { Upgrades } from './upgrade.ts'

const headersTimeoutMs = 10_000
/** Longer than a client's pool keeps a connection, so that the client closes it and not the service. */
const keepAliveTimeoutMs = 65_000
const closeGraceMs = 1_500
const sessionGraceMs = 200
/** For answers that say that the service is stopping, on connections that were made meanwhile. */
const lastGraceMs = 100
/** How every HTTP/2 connection begins. No HTTP/1.1 request can. */
const http2Preface = Buffer.from('PRI * HTTP/2.0')

interface ServerOptions {
  host: string
  port: number
  listener: (request: IncomingMessage, response: ServerResponse) => void
  upgrades: Upgrades
  /** After this long without a byte a connection with nothing left to answer is closed. */
  idleTimeoutMs?: number
}

interface HttpServer {
  port: number
  /**
   * Lets the answers that are open finish for a moment, and cuts them then. The port stays this server's, and what comes
   * later is the listener's to refuse.
   */
  drain: () => Promise<void>
  /** Gives the port back. Done within two seconds, those of `drain` included. */
  close: () => Promise<void>
}

/** HTTP/1.1, cleartext HTTP/2 with prior knowledge and WebSockets on one port. Rejects when the port cannot be had. */
export const listen = async ({
  host,
  port,
  listener,
  upgrades,
  idleTimeoutMs = keepAliveTimeoutMs,
}: ServerOptions): Promise<HttpServer> => {
  const open = new Set<ServerResponse>()
  const counted: typeof listener = (request, response) => {
    open.add(response)
    response.once('close', () => open.delete(response))
    listener(request, response)
  }
  const http1 = createServer(
    {
      headersTimeout: headersTimeoutMs,
      // A body has its time limit where it is read: an upload may take minutes.
      requestTimeout: 0,
      connectionsCheckingInterval: 1_000,
      keepAliveTimeout: idleTimeoutMs,
      shouldUpgradeCallback: upgrades.wants,
    },
    counted,
  )
  http1.on('upgrade', upgrades.upgrade)
  // The compatibility classes of http2 are those of http in all that is used here.
  const http2 = createHttp2Server(
    // A client that opens streams only to reset them is told to go away.
    { settings: { maxConcurrentStreams: 100 }, streamResetBurst: 200, streamResetRate: 20 },
    counted as unknown as Parameters<typeof createHttp2Server>[1],
  )
  const sessions = new Set<Http2Session>()
  http2.on('session', (session) => {
    sessions.add(session)
    session.once('close', () => sessions.delete(session))
    let streams = 0
    session.on('stream', (stream) => {
      streams++
      stream.once('close', () => streams--)
    })
    // As long as the headers of HTTP/1.1 may take.
    const late = setTimeout(() => session.destroy(), headersTimeoutMs)
    for (const event of ['stream', 'close'] as const) session.once(event, () => clearTimeout(late))
    // Node has no such limit for HTTP/2: a client that sends nothing after the preface would stay for ever.
    session.setTimeout(idleTimeoutMs, () => {
      if (streams === 0) session.close()
    })
  })
  http2.on('sessionError', () => undefined)

  const takeHttp1 = http1.listeners('connection') as ((socket: Socket) => void)[]
  http1.removeAllListeners('connection')
  const sockets = new Set<Socket>()
  const limit = createConnectionLimit()
  http1.on('connection', (socket: Socket) => {
    if (limit.refuses(socket)) return
    limit.count(socket, socket.remoteAddress ?? '')
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    whenProtocolIsKnown(socket, (isHttp2) => {
      if (isHttp2) {
        const carry = (session: Http2Session) => carries(socket, session)
        http2.once('session', carry).emit('connection', socket)
        http2.off('session', carry)
      } else for (const take of takeHttp1) take.call(http1, socket)
    })
  })

  const other = createTcpServer((socket) => http1.emit('connection', socket))
  const ownPort = await listenOnBoth(http1, other, host, port)

  const cutAfter = (ms: number) =>
    setTimeout(() => {
      upgrades.terminate()
      for (const socket of sockets) socket.destroy()
    }, ms)
  let cutAtMs = 0
  const drain = async () => {
    cutAtMs = performance.now() + closeGraceMs
    const before = [...open].map((response) => once(response, 'close').then(() => undefined))
    http1.closeIdleConnections()
    upgrades.close()
    // Not at once: clients whose stream ends call again on the same session, and the public ones lose a call that
    // crosses the end of the session.
    const closeSessions = setTimeout(() => {
      for (const session of sessions) session.close()
    }, sessionGraceMs)
    const cut = cutAfter(closeGraceMs)
    await Promise.allSettled(before)
    clearTimeout(closeSessions)
    clearTimeout(cut)
  }

  let drained: Promise<void> | undefined
  const drainOnce = () => {
    drained ??= drain()
    return drained
  }

  const close = async () => {
    await drainOnce()
    const closed = [http1, other].map((server) => new Promise<void>((resolve) => server.close(() => resolve())))
    for (const session of sessions) session.close()
    const cut = cutAfter(Math.max(lastGraceMs, cutAtMs - performance.now()))
    await Promise.all(closed)
    clearTimeout(cut)
  }
  return { port: ownPort, drain: drainOnce, close }
}

const loopbacks = ['127.0.0.1', '::1']

/**
 * Listens on the other loopback address as well where the host is one: `localhost` leads to either, and another process
 * that had the same port there would be sent keys that are this server's. `other` may stay closed.
 */
const listenOnBoth = async (server: Server, other: Server, host: string, port: number): Promise<number> => {
  const [first = host, second] =
    host === 'localhost'
      ? loopbacks
      : loopbacks.includes(host)
        ? [host, ...loopbacks.filter((one) => one !== host)]
        : []
  for (let attempts = 10; ; attempts--) {
    await listening(server, first, port)
    const { port: found } = server.address() as AddressInfo
    if (second === undefined || !hasAddress(second)) return found
    try {
      await listening(other, second, found)
      return found
    } catch (error) {
      await new Promise((resolve) => server.close(resolve))
      // A port that is free on one of them need not be on the other.
      if (port !== 0 || attempts === 0) throw error
    }
  }
}

const listening = (server: Server, host: string, port: number) =>
  new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => resolve(server.off('error', reject) && undefined))
  })

const hasAddress = (address: string) =>
  Object.values(networkInterfaces()).some((all) => all?.some((each) => each.address === address))

/** Reads the first bytes of a new connection, decides on the protocol and puts the bytes back. */
const whenProtocolIsKnown = (socket: Socket, decide: (isHttp2: boolean) => void) => {
  let seen: Buffer = Buffer.alloc(0)
  const giveUp = () => socket.destroy()
  const timer = setTimeout(giveUp, headersTimeoutMs)
  const forget = () => clearTimeout(timer)
  const onData = (chunk: Buffer) => {
    seen = seen.length === 0 ? chunk : Buffer.concat([seen, chunk])
    const length = Math.min(seen.length, http2Preface.length)
    const couldBeHttp2 = seen.subarray(0, length).equals(http2Preface.subarray(0, length))
    if (couldBeHttp2 && length < http2Preface.length) return
    forget()
    socket.off('data', onData).off('error', giveUp).off('end', giveUp).off('close', forget)
    socket.pause()
    socket.unshift(seen)
    decide(couldBeHttp2)
    // An HTTP/2 session takes what was put back by itself.
    if (!couldBeHttp2) socket.resume()
  }
  // A client may leave before its protocol is known.
  socket.on('data', onData).on('error', giveUp).on('end', giveUp).once('close', forget)
}
