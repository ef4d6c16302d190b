import { type IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import { ServiceError } from '#lib/service/kit/errors.ts'
import { admit } from './admit.ts'
import { sendError, toServiceError } from './error-response.ts'
import type { ListenerContext } from './listener.ts'
import { requestIdOf } from './request-id.ts'

/** Largest message a client may send; keystrokes and pastes stay far below. */
const maxMessageBytes = 1024 * 1024
const goingAway = 1001
const policyViolation = 1008

export type Upgrades = ReturnType<typeof createUpgrades>

/** Upgrades for the contract's WebSocket endpoints; any other request for one is answered like a plain request. */
export const createUpgrades = (context: ListenerContext) => {
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: maxMessageBytes,
    // Compression costs time per keystroke and memory per socket, and most traffic stays on this machine.
    perMessageDeflate: false,
    handleProtocols: (_, request) => protocols.get(request) ?? false,
  })
  const protocols = new WeakMap<IncomingMessage, string>()
  const answerHeaders = new WeakMap<IncomingMessage, string[]>()
  server.on('headers', (headers, request) => headers.push(...(answerHeaders.get(request) ?? [])))

  const upgrade = async (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const stopping = new ServiceError('unavailable', 'The service is stopping', { retryAfterSeconds: 3 })
    if (!context.stopping.aborted && context.otherHosts?.takes(request))
      return context.otherHosts.upgrade(request, socket, head)
    const requestId = requestIdOf(request)
    const gone = new AbortController()
    const onClose = () => gone.abort()
    socket.once('close', onClose).on('error', onClose)
    try {
      if (context.stopping.aborted) throw stopping
      const { identity, call } = await admit(request, requestId, context)
      const headers: string[] = []
      const setHeader = (name: string, value: string) => headers.push(`${name}: ${value}`)
      const take = (await call({ signal: gone.signal, setHeader })) as (socket: WebSocket) => void
      if (gone.signal.aborted) return
      if (context.stopping.aborted) throw stopping
      if (identity.protocol !== undefined) protocols.set(request, identity.protocol)
      answerHeaders.set(request, headers)
      server.handleUpgrade(request, socket, head, (client) => {
        const end = () => client.close(policyViolation, 'The key was revoked')
        identity.revoked?.addEventListener('abort', end, { once: true })
        client.once('close', () => identity.revoked?.removeEventListener('abort', end))
        take(client)
      })
    } catch (error) {
      const failure = toServiceError(error, requestId, `upgrade ${request.method}`, context.log)
      if (!socket.destroyed) sendError(plainResponse(request, socket), failure, requestId)
    }
  }

  const close = () => {
    for (const client of server.clients) client.close(goingAway, 'The service is stopping')
  }

  /** Cuts the sockets that did not close by themselves. */
  const terminate = () => {
    for (const client of server.clients) client.terminate()
  }

  return { upgrade, close, terminate, wants: wantsUpgrade(context) }
}

const wantsUpgrade =
  ({ router, otherHosts }: ListenerContext) =>
  (request: IncomingMessage) =>
    request.headers.upgrade?.toLowerCase() === 'websocket' &&
    (otherHosts?.takes(request) ||
      router(request.method ?? '', request.url ?? '').match?.route.endpoint.response.kind === 'websocket')

/** For the plain answer to a request for an upgrade: the connection ends with it. */
export const plainResponse = (request: IncomingMessage, socket: Duplex): ServerResponse => {
  const response = new ServerResponse(request)
  response.shouldKeepAlive = false
  response.assignSocket(socket as Parameters<ServerResponse['assignSocket']>[0])
  return response.once('finish', () => socket.end())
}
