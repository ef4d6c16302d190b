import { type IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import { subjectOf } from '#lib/service/audit/audit-log.ts'
import { ServiceError } from '#lib/service/kit/errors.ts'
import { admit } from './admit.ts'
import { requestIdOf, sendError, toServiceError } from './error-response.ts'
import type { ListenerContext } from './listener.ts'

const maxMessageBytes = 1024 * 1024
const goingAway = 1001
const policyViolation = 1008

export type Upgrades = ReturnType<typeof createUpgrades>

export const createUpgrades = (context: ListenerContext) => {
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: maxMessageBytes,
    // Compression costs latency and memory, and most traffic is local.
    perMessageDeflate: false,
    handleProtocols: (_, request) => protocols.get(request) ?? false,
  })
  const protocols = new WeakMap<IncomingMessage, string>()
  const responseHeaders = new WeakMap<IncomingMessage, string[]>()
  server.on('headers', (headers, request) => headers.push(...(responseHeaders.get(request) ?? [])))

  const upgrade = async (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const stopping = new ServiceError('unavailable', 'The service is stopping', { retryAfterSeconds: 3 })
    if (!context.stopping.aborted && context.otherHosts?.handles(request))
      return context.otherHosts.upgrade(request, socket, head)
    const requestId = requestIdOf(request)
    const disconnected = new AbortController()
    const onClose = () => disconnected.abort()
    socket.once('close', onClose).on('error', onClose)
    try {
      if (context.stopping.aborted) throw stopping
      const { endpoint, identity, input, call } = await admit(request, requestId, context)
      const headers: string[] = []
      const setHeader = (name: string, value: string) => headers.push(`${name}: ${value}`)
      const take = (await call({ signal: disconnected.signal, setHeader, ifNoneMatch: undefined })) as (
        socket: WebSocket,
      ) => void
      if (disconnected.signal.aborted) return
      if (context.stopping.aborted) throw stopping
      identity.revoked?.throwIfAborted()
      context.audit?.({
        account: identity.account,
        keyId: identity.keyId,
        operation: endpoint.id,
        subject: subjectOf(input.params),
        status: 101,
        address: request.socket.remoteAddress ?? '',
        request_id: requestId,
      })
      if (identity.protocol !== undefined) protocols.set(request, identity.protocol)
      responseHeaders.set(request, headers)
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

  const terminate = () => {
    for (const client of server.clients) client.terminate()
  }

  return { upgrade, close, terminate, wants: wantsUpgrade(context) }
}

const wantsUpgrade =
  ({ router, otherHosts }: ListenerContext) =>
  (request: IncomingMessage) =>
    request.headers.upgrade?.toLowerCase() === 'websocket' &&
    (otherHosts?.handles(request) ||
      router(request.method ?? '', request.url ?? '').match?.route.endpoint.response.kind === 'websocket')

export const plainResponse = (request: IncomingMessage, socket: Duplex): ServerResponse => {
  const response = new ServerResponse(request)
  response.shouldKeepAlive = false
  response.assignSocket(socket as Parameters<ServerResponse['assignSocket']>[0])
  return response.once('finish', () => socket.end())
}
