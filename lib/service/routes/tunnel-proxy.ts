import { timingSafeEqual } from 'node:crypto'
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http'
import type { Http2ServerRequest } from 'node:http2'
import { pipeline } from 'node:stream'
import type { TunnelOwner, Tunnels } from '#lib/service/devboxes/tunnels.ts'
import { markConnectionAuthenticated } from '#lib/service/http/admit.ts'
import { type LogError, requestIdOf, sendError, toServiceError } from '#lib/service/http/error-response.ts'
import { authorityOf, ownNames } from '#lib/service/http/host-check.ts'
import type { OtherHosts } from '#lib/service/http/listener.ts'
import { plainResponse } from '#lib/service/http/upgrade.ts'
import { invalid, ServiceError } from '#lib/service/kit/errors.ts'
import { digestOf } from '#lib/service/store/keys.ts'

const tokenHeader = 'x-runloop-tunnel-authorization'
// RFC 9110 7.6.1. Never Content-Length: the app would read the body as another request.
const hopByHop = [
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
  'expect',
]

interface Options {
  tunnels: Tunnels
  hostOf: (request: IncomingMessage) => TunnelHost | undefined
  isOwnKey: (token: string) => boolean
  log: LogError
}

export interface TunnelHost {
  port: number
  key: string
}

/** Parses `{port}-{key}.tunnel.{service}`, without the service's port or a leading `api.`. */
export const createTunnelHosts = (host: string, allowHosts: readonly string[]) => {
  const names = new Set(
    [...ownNames(host), ...allowHosts].map((each) =>
      each
        .toLowerCase()
        .replace(/:\d+$/, '')
        .replace(/^api\./, ''),
    ),
  )
  return (request: IncomingMessage): TunnelHost | undefined => {
    const [, port, key, name] = /^(\d{1,5})-([\w-]+)\.tunnel\.(.+?)(?::\d+)?$/i.exec(authorityOf(request) ?? '') ?? []
    if (key === undefined || name === undefined || !names.has(name.toLowerCase())) return undefined
    return { port: Number(port), key: key.toLowerCase() }
  }
}

/** Forwards requests for a tunnel's host to the port of its devbox. The app decides about origins and permissions. */
export const createTunnelProxy = ({ tunnels, hostOf, isOwnKey, log }: Options): OtherHosts => {
  const open = async (request: IncomingMessage, signal: AbortSignal) => {
    const { port, key } = hostOf(request) as TunnelHost
    const owner = tunnels.find(key)
    if (!owner) throw new ServiceError('not_found', 'Tunnel not found. It may have been removed')
    requireToken(request, owner)
    markConnectionAuthenticated(request)
    if (port < 1 || port > 65_535) throw new ServiceError('not_found', `Invalid port ${port}`)
    // A devbox that shares the host's network would forward to this service.
    if (port === request.socket.localPort)
      throw new ServiceError('forbidden', 'This is the port of the service itself. Use its own address')
    return { ...(await tunnels.open(owner, port, signal)), cut: tunnels.cutOf(owner.id) }
  }

  const forward = async (
    request: IncomingMessage,
    disconnected: AbortSignal,
    upgrade?: string,
  ): Promise<ClientRequest> => {
    const { socket, release, cut } = await open(request, disconnected)
    let outgoing: ClientRequest
    try {
      outgoing = httpRequest({
        createConnection: () => socket as never,
        method: request.method,
        path: request.url,
        setHost: false,
        headers: forwardedHeaders(request, isOwnKey, upgrade),
      })
    } catch {
      socket.destroy()
      release()
      throw invalid({ field: 'path', message: 'is not valid' })
    }
    const end = () => {
      outgoing.destroy()
      socket.destroy()
    }
    for (const signal of [disconnected, cut]) {
      if (signal.aborted) end()
      signal.addEventListener('abort', end)
    }
    socket.once('close', () => {
      for (const signal of [disconnected, cut]) signal.removeEventListener('abort', end)
      release()
    })
    return outgoing
  }

  const respond: OtherHosts['respond'] = async (request, response) => {
    const disconnected = new AbortController()
    response.once('close', () => disconnected.abort()).on('error', () => disconnected.abort())
    const fail = (error: unknown) => {
      if (response.headersSent || response.destroyed) return void response.destroy()
      if (!request.complete) request.unpipe().resume()
      sendError(response, toServiceError(error, requestIdOf(request), 'tunnel', log), requestIdOf(request))
    }
    try {
      const outgoing = await forward(request, disconnected.signal)
      outgoing.on('error', (cause) => fail(broken(cause)))
      outgoing.once('response', (incoming) => {
        try {
          response.writeHead(incoming.statusCode ?? 502, headersOf(incoming.rawHeaders))
          response.flushHeaders()
        } catch (cause) {
          outgoing.destroy()
          return fail(broken(cause))
        }
        pipeline(incoming, response, (error) => {
          if (error) response.destroy()
        })
      })
      pipeline(request, outgoing, () => undefined)
    } catch (error) {
      fail(error)
    }
  }

  const upgrade: OtherHosts['upgrade'] = async (request, socket, head) => {
    const disconnected = new AbortController()
    socket.once('close', () => disconnected.abort()).on('error', () => disconnected.abort())
    const fail = (error: unknown) => {
      if (!socket.destroyed)
        sendError(
          plainResponse(request, socket),
          toServiceError(error, requestIdOf(request), 'tunnel', log),
          requestIdOf(request),
        )
    }
    try {
      const outgoing = await forward(request, disconnected.signal, request.headers.upgrade)
      let isAnswered = false
      outgoing.on('error', (cause) => (isAnswered ? socket.destroy() : fail(broken(cause))))
      outgoing.once('response', (incoming) => {
        isAnswered = true
        const response = plainResponse(request, socket).writeHead(
          incoming.statusCode ?? 502,
          headersOf(incoming.rawHeaders),
        )
        pipeline(incoming, response, () => undefined)
      })
      outgoing.once('upgrade', (incoming, inner, innerHead) => {
        isAnswered = true
        socket.write(headOf(incoming))
        socket.write(innerHead)
        inner.write(head)
        socket.pipe(inner).pipe(socket)
        const end = () => {
          socket.destroy()
          inner.destroy()
        }
        for (const side of [socket, inner]) side.once('finish', end).once('close', end).on('error', end)
      })
      outgoing.end()
    } catch (error) {
      fail(error)
    }
  }

  return { handles: (request) => hostOf(request) !== undefined, respond, upgrade }
}

const broken = (cause: unknown) =>
  new ServiceError('bad_upstream', 'The app in the devbox closed the connection without a response', { cause })

const requireToken = ({ headers }: IncomingMessage, { tunnel }: TunnelOwner) => {
  if (tunnel.auth_mode === 'open') return
  const header = headers[tokenHeader]
  const token = typeof header === 'string' ? (/^bearer +(\S+) *$/i.exec(header)?.[1] ?? '') : ''
  if (!timingSafeEqual(digestOf(token), digestOf(tunnel.auth_token ?? '')) || !token)
    throw new ServiceError('unauthenticated', 'This tunnel requires X-Runloop-Tunnel-Authorization: Bearer <token>')
}

/** Unspecified: keeps Host, which apps compare with Origin and use in links. */
const forwardedHeaders = (
  request: IncomingMessage,
  isOwnKey: (token: string) => boolean,
  upgrade: string | undefined,
) => {
  const headers = headersOf(request.rawHeaders)
  const { host = request.headers[':authority'] as string | undefined } = request.headers
  delete headers[tokenHeader]
  // Checks all lines and words; Node itself reads only the first.
  const others = headers.authorization?.filter((line) => !line.split(/[\s,]+/).some(isOwnKey)) ?? []
  if (others.length > 0) headers.authorization = others
  else delete headers.authorization
  if (headers.cookie) headers.cookie = [headers.cookie.join('; ')]
  const peer = request.socket.remoteAddress
  Object.assign(headers, {
    host: [host],
    'x-forwarded-host': [host],
    'x-forwarded-proto': [headers['x-forwarded-proto']?.[0] === 'https' ? 'https' : 'http'],
    'x-forwarded-for': [[...(headers['x-forwarded-for'] ?? []), ...(peer ? [peer] : [])].join(', ')],
  })
  if (upgrade !== undefined) return { ...headers, connection: ['Upgrade'], upgrade: [upgrade] }
  if (headers['content-length']) return headers
  return hasBody(request) ? { ...headers, 'transfer-encoding': ['chunked'] } : headers
}

const hasBody = (request: IncomingMessage) =>
  request.httpVersionMajor === 2
    ? !(request as unknown as Http2ServerRequest).stream.endAfterHeaders
    : request.headers['transfer-encoding'] !== undefined

const headersOf = (rawHeaders: readonly string[]): Record<string, string[]> => {
  const headers: Record<string, string[]> = Object.create(null)
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]?.toLowerCase() ?? ''
    if (name.startsWith(':')) continue
    headers[name] ??= []
    headers[name].push(rawHeaders[i + 1] ?? '')
  }
  const named = (headers.connection ?? []).flatMap((each) =>
    each
      .toLowerCase()
      .split(',')
      .map((name) => name.trim()),
  )
  for (const name of [...hopByHop, ...named]) if (name !== 'content-length') delete headers[name]
  return headers
}

const headOf = ({ statusCode, statusMessage, rawHeaders }: IncomingMessage): string => {
  const lines = [`HTTP/1.1 ${statusCode} ${statusMessage}`]
  for (let i = 0; i < rawHeaders.length; i += 2) lines.push(`${rawHeaders[i]}: ${rawHeaders[i + 1]}`)
  return `${lines.join('\r\n')}\r\n\r\n`
}
