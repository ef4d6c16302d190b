import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createHttp2Server, type Http2Session } from 'node:http2'
import type { AddressInfo, Socket } from 'node:net'
import { createConnectionLimit, refuseConnection } from './connection-limit.ts'
import type { Upgrades } from './upgrade.ts'

const headersTimeoutMs = 10_000
/** Longer than a client's pool keeps a connection, so that the client closes it and not the service. */
const keepAliveTimeoutMs = 65_000
const closeGraceMs = 1_500
const sessionGraceMs = 200
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
  /** Stops accepting at once, then lets open answers finish for a moment; done within two seconds. */
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
  const http1 = createServer(
    {
      headersTimeout: headersTimeoutMs,
      // A body has its time limit where it is read: an upload may take minutes.
      requestTimeout: 0,
      connectionsCheckingInterval: 1_000,
      keepAliveTimeout: idleTimeoutMs,
      shouldUpgradeCallback: upgrades.wants,
    },
    listener,
  )
  http1.on('upgrade', upgrades.upgrade)
  // The compatibility classes of http2 are those of http in all that is used here.
  const http2 = createHttp2Server(
    { settings: { maxConcurrentStreams: 100 } },
    listener as unknown as Parameters<typeof createHttp2Server>[1],
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
    // Node has no such limit for HTTP/2: a client that sends nothing after the preface would stay for ever.
    session.setTimeout(idleTimeoutMs, () => {
      if (streams === 0) session.close()
    })
  })
  http2.on('sessionError', () => undefined)

  const takeHttp1 = http1.listeners('connection') as ((socket: Socket) => void)[]
  http1.removeAllListeners('connection')
  const sockets = new Set<Socket>()
  const isOverLimit = createConnectionLimit()
  http1.on('connection', (socket: Socket) => {
    if (isOverLimit(socket)) return refuseConnection(socket)
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    whenProtocolIsKnown(socket, (isHttp2) => {
      if (isHttp2) http2.emit('connection', socket)
      else for (const take of takeHttp1) take.call(http1, socket)
    })
  })

  await new Promise<void>((resolve, reject) => {
    http1.once('error', reject)
    http1.listen(port, host, () => resolve(http1.off('error', reject) && undefined))
  })

  const close = async () => {
    const closed = new Promise<void>((resolve) => http1.close(() => resolve()))
    upgrades.close()
    // Not at once: clients whose stream ends call again on the same session, and the public ones lose a call that
    // crosses the end of the session.
    const closeSessions = setTimeout(() => {
      for (const session of sessions) session.close()
    }, sessionGraceMs)
    const cut = setTimeout(() => {
      upgrades.terminate()
      for (const socket of sockets) socket.destroy()
    }, closeGraceMs)
    await closed
    clearTimeout(closeSessions)
    clearTimeout(cut)
  }
  return { port: (http1.address() as AddressInfo).port, close }
}

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
