import {
  type ClientRequest,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type RequestOptions,
  request as requestPlain,
  type ServerResponse,
} from 'node:http'
import { request as requestTls } from 'node:https'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { errorBody, HttpError, requestIdOf } from '../http/handle-request.ts'
import { clientAddress } from '../http/request-guards.ts'
import { endSocket } from '../http/sockets.ts'
import { isFromPeer, peerClientHeader, peerHeader, peerToken } from './peer.ts'
import type { SharedStore } from './shared-store.ts'

/** Time another console gets to take over. */
const leaderWaitMs = 10_000
const retryMs = 100
/** Response of a console that is no longer the leader. */
const notLeading = 'x-devdeck-not-leading'

const leadersPaths = /^\/api\/(alerts|live|terminals|follow|recordings|demo)(\/|\?|$)/

/** The leader holds alerts, terminals and recordings, and is the only one to change anything. */
const isForLeader = ({ method = '', url = '' }: IncomingMessage): boolean =>
  leadersPaths.test(url) || (url.startsWith('/api/') && !['GET', 'HEAD', 'OPTIONS'].includes(method))

const notResponding = () =>
  new HttpError('unavailable', 'The leading console, which holds alerts and terminals, is not responding; try again', {
    retryAfterSeconds: 2,
  })

const unconfirmed = () =>
  new HttpError(
    'unavailable',
    'The leading console stopped before it confirmed the change. Check whether it was made before you try again',
  )

/** Serves the request here or on the console that leads. */
export const serveOrForward = async (
  store: SharedStore,
  request: IncomingMessage,
  response: ServerResponse,
  serve: () => void,
): Promise<void> => {
  if (!isForLeader(request) || store.leads) return serve()
  if (isFromPeer(request.headers))
    return refuse(
      response,
      new HttpError('unavailable', 'Not leading', { retryAfterSeconds: 1, headers: { [notLeading]: '1' } }),
    )
  const untilMs = performance.now() + leaderWaitMs
  while (!response.destroyed) {
    if (store.leads) return serve()
    const outcome = await forward(store, request, response)
    if (outcome === 'sent') return
    if (outcome === 'unknown') return refuse(response, unconfirmed())
    if (performance.now() > untilMs) return refuse(response, notResponding())
    await delay(retryMs)
  }
}

const isRead = ({ method }: IncomingMessage) => method === 'GET' || method === 'HEAD'

/** `retry`: it did not reach the leader, or can be repeated. `unknown`: a change may have been made. */
const forward = (
  store: SharedStore,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<'sent' | 'retry' | 'unknown'> => {
  const { promise, resolve } = Promise.withResolvers<'sent' | 'retry' | 'unknown'>()
  const url = store.leaderUrl
  if (url === undefined) return Promise.resolve('retry')
  let isConnected = false
  const outgoing = send(url + request.url, { method: request.method, headers: headersOf(request) })
  const cancel = () => outgoing.destroy()
  response.once('close', cancel)
  unlessLeaderChanges(store, url, outgoing)
  outgoing.once('socket', (socket) =>
    socket.once('connect', () => {
      isConnected = true
      if (isRead(request)) outgoing.end()
      else request.pipe(outgoing)
    }),
  )
  outgoing.once('response', (answer) => {
    if (answer.headers[notLeading] && isRead(request)) {
      answer.resume()
      response.off('close', cancel)
      return resolve('retry')
    }
    const pass = () => {
      response.writeHead(answer.statusCode ?? 502, endToEnd(answer.headers))
      answer.pipe(response)
      answer.once('error', () => response.destroy())
      resolve('sent')
    }
    if (!isRead(request)) {
      // The next read may come to this console.
      store.catchUp().then(pass, pass)
      return
    }
    // A read can be repeated until part of its response has been forwarded.
    const retry = () => {
      response.off('close', cancel)
      resolve('retry')
    }
    answer.once('error', retry)
    answer.once('readable', () => {
      answer.off('error', retry)
      pass()
    })
  })
  outgoing.once('error', () => {
    response.off('close', cancel)
    if (response.headersSent) return void response.destroy()
    resolve(isConnected && !isRead(request) ? 'unknown' : 'retry')
  })
  return promise
}

/** Opens the WebSocket here or on the console that leads. */
export const upgradeOrForward = async (
  store: SharedStore,
  request: IncomingMessage,
  socket: Socket | Duplex,
  head: Buffer,
  upgrade: () => void,
): Promise<void> => {
  if (!leadersPaths.test(request.url ?? '') || store.leads || isFromPeer(request.headers)) return upgrade()
  const drop = () => socket.destroy()
  socket.on('error', drop)
  const untilMs = performance.now() + leaderWaitMs
  while (!socket.destroyed) {
    if (store.leads) {
      socket.off('error', drop)
      return upgrade()
    }
    if (await bridge(store, request, socket, head)) return
    if (performance.now() > untilMs)
      return endSocket(socket, 'HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\n\r\n')
    await delay(retryMs)
  }
}

const bridge = (store: SharedStore, request: IncomingMessage, socket: Duplex, head: Buffer): Promise<boolean> => {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const url = store.leaderUrl
  if (url === undefined) return Promise.resolve(false)
  const headers = { ...headersOf(request), connection: 'Upgrade', upgrade: 'websocket' }
  const outgoing = send(url + request.url, { headers })
  outgoing.once('upgrade', (answer, peer, first) => {
    socket.write(headOf(answer))
    socket.write(first)
    peer.write(head)
    for (const [from, to] of [
      [socket, peer],
      [peer, socket],
    ] as const) {
      from.pipe(to)
      from.on('error', () => to.destroy())
      from.once('close', () => to.destroy())
    }
    resolve(true)
  })
  outgoing.once('response', (answer) => {
    socket.write(headOf(answer))
    answer.pipe(socket)
    resolve(true)
  })
  outgoing.once('error', () => resolve(false))
  unlessLeaderChanges(store, url, outgoing)
  outgoing.end()
  return promise
}

/** Gives up a request that nobody has responded to once another console leads: the one before may hang or be lost. */
const unlessLeaderChanges = (store: SharedStore, url: string, outgoing: ClientRequest): void => {
  const checking = setInterval(() => {
    if (store.leaderUrl !== url) outgoing.destroy(new Error('Another console leads'))
  }, retryMs)
  for (const event of ['response', 'upgrade', 'close']) outgoing.once(event, () => clearInterval(checking))
}

const send = (url: string, options: RequestOptions) =>
  (url.startsWith('https:') ? requestTls : requestPlain)(url, { ...options, agent: false })

const headOf = ({ statusCode, statusMessage, rawHeaders }: IncomingMessage): string => {
  const lines = rawHeaders.flatMap((name, i) => (i % 2 === 0 ? [`${name}: ${rawHeaders[i + 1]}`] : []))
  return `HTTP/1.1 ${statusCode} ${statusMessage}\r\n${lines.join('\r\n')}\r\n\r\n`
}

const hopByHop = new Set(['connection', 'keep-alive', 'transfer-encoding', 'upgrade', 'proxy-connection'])
const endToEnd = (headers: OutgoingHttpHeaders): OutgoingHttpHeaders =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !hopByHop.has(name)))

const headersOf = (request: IncomingMessage): OutgoingHttpHeaders => {
  const { 'transfer-encoding': chunked } = request.headers
  return {
    ...endToEnd(request.headers),
    ...(chunked !== undefined && { 'transfer-encoding': chunked }),
    [peerHeader]: peerToken(),
    [peerClientHeader]: clientAddress(request),
  }
}

const refuse = (response: ServerResponse, refusal: HttpError): void => {
  response.writeHead(503, {
    'content-type': 'application/json',
    'cache-control': 'no-store',
    connection: 'close',
    ...(refusal.retryAfterSeconds !== undefined && { 'retry-after': String(refusal.retryAfterSeconds) }),
    ...refusal.headers,
  })
  response.end(JSON.stringify(errorBody(refusal, requestIdOf(new Headers()))))
}
