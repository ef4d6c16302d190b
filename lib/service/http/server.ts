import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createHttp2Server, type Http2Session } from 'node:http2'
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { carries, createDescriptorReserve, createUnauthenticatedLimit } from '#lib/limits/connection-limit.ts'
import { logError } from '#lib/service/kit/log.ts'
import type { Upgrades } from './upgrade.ts'

const headersTimeoutMs = 10_000
/** Longer than client pools keep connections, so clients close them first. */
const keepAliveTimeoutMs = 65_000
const closeGraceMs = 1_500
const sessionGraceMs = 200
const finalGraceMs = 100
/** Start of every HTTP/2 connection; never a valid HTTP/1.1 request. */
const http2Preface = Buffer.from('PRI * HTTP/2.0')

interface ServerOptions {
  host: string
  port: number
  listener: (request: IncomingMessage, response: ServerResponse) => void
  upgrades: Upgrades
  idleTimeoutMs?: number
}

interface HttpServer {
  port: number
  /** Waits briefly for open responses, then cuts them. Keeps the port; the listener rejects new requests. */
  drain: () => Promise<void>
  /** Releases the port. Takes at most 2 s, including `drain`. */
  close: () => Promise<void>
}

/** Serves HTTP/1.1, cleartext HTTP/2 (prior knowledge) and WebSockets on one port. */
export const listen = async (options: ServerOptions): Promise<HttpServer> => {
  const { host, port, listener, upgrades, idleTimeoutMs = keepAliveTimeoutMs } = options
  const open = new Set<ServerResponse>()
  const tracked: typeof listener = (request, response) => {
    open.add(response)
    response.once('close', () => open.delete(response))
    listener(request, response)
  }
  const http1 = createServer(
    {
      headersTimeout: headersTimeoutMs,
      requestTimeout: 0,
      connectionsCheckingInterval: 1_000,
      keepAliveTimeout: idleTimeoutMs,
      shouldUpgradeCallback: upgrades.wants,
    },
    tracked,
  )
  http1.on('upgrade', upgrades.upgrade)
  const http2 = createHttp2Server(
    { settings: { maxConcurrentStreams: 100 }, streamResetBurst: 200, streamResetRate: 20 },
    tracked as unknown as Parameters<typeof createHttp2Server>[1],
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
    const late = setTimeout(() => session.destroy(), headersTimeoutMs)
    for (const event of ['stream', 'close'] as const) session.once(event, () => clearTimeout(late))
    // Node has no idle timeout for HTTP/2.
    session.setTimeout(idleTimeoutMs, () => {
      if (streams === 0) session.close()
    })
  })
  http2.on('sessionError', () => undefined)

  const http1Listeners = http1.listeners('connection') as ((socket: Socket) => void)[]
  http1.removeAllListeners('connection')
  const sockets = new Set<Socket>()
  const warn = (message: string) => logError({ level: 'warn', message })
  const isOutOfDescriptors = createDescriptorReserve('service', warn)
  const limitUnauthenticated = createUnauthenticatedLimit(warn)
  http1.on('connection', (socket: Socket) => {
    if (isOutOfDescriptors(socket)) return
    limitUnauthenticated(socket, socket.remoteAddress ?? '')
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    detectProtocol(socket, (isHttp2) => {
      if (isHttp2) {
        const carry = (session: Http2Session) => carries(socket, session)
        http2.once('session', carry).emit('connection', socket)
        http2.off('session', carry)
      } else for (const take of http1Listeners) take.call(http1, socket)
    })
  })

  const other = createTcpServer((socket) => http1.emit('connection', socket))
  const ownPort = await listenOnLoopbacks(http1, other, host, port)

  const closeAfter = (ms: number) =>
    setTimeout(() => {
      upgrades.terminate()
      for (const socket of sockets) socket.destroy()
    }, ms)
  let closeAtMs = 0
  const drain = async () => {
    closeAtMs = performance.now() + closeGraceMs
    const before = [...open].map((response) => once(response, 'close').then(() => undefined))
    http1.closeIdleConnections()
    upgrades.close()
    const cut = closeAfter(closeGraceMs)
    // Public clients send follow-up requests on the same session and lose those that cross its end.
    if (sessions.size > 0) await delay(sessionGraceMs)
    for (const session of sessions) session.close()
    await Promise.allSettled(before)
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
    const cut = closeAfter(Math.max(finalGraceMs, closeAtMs - performance.now()))
    await Promise.all(closed)
    clearTimeout(cut)
  }
  return { port: ownPort, drain: drainOnce, close }
}

const loopbacks = ['127.0.0.1', '::1']

// On both loopback addresses: another process on the same port of the other one could receive API keys.
const listenOnLoopbacks = async (server: Server, other: Server, host: string, port: number): Promise<number> => {
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

const detectProtocol = (socket: Socket, decide: (isHttp2: boolean) => void) => {
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
    if (!couldBeHttp2) socket.resume()
  }
  socket.on('data', onData).on('error', giveUp).on('end', giveUp).once('close', forget)
}
