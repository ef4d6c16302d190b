import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { errorStatus } from '#lib/contract/errors.ts'
import { errorBody, hasControlCharacters, Refusal, requestIdOf } from './answer.ts'
import { originOfHost } from './origin.ts'

/**
 * What happens to every request before Next sees it: refuse names that are not ours, paths that read differently
 * before and after normalising, and server actions; set the security headers; pass on what only the socket knows.
 * Answers and returns false when the request ends here.
 */
export const admit = (request: IncomingMessage, response: ServerResponse, { dev }: { dev: boolean }): boolean => {
  const path = request.url ?? '/'
  setSecurityHeaders(response)
  try {
    const origin = requireOwnHost(request)
    requirePlainPath(path)
    // The console has no server actions, so a request for one is an attack.
    if (request.method === 'POST' && request.headers['next-action'] !== undefined)
      throw new Refusal('not_found', 'There is nothing here')
    setContentPolicy(request, response, { origin, path, dev })
    // Next fails on an address that cannot be decoded; the not-found page is shown instead.
    if (!isDecodable(path)) request.url = nowhere
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    refuse(request, response, error)
    return false
  }
  request.headers['x-devdeck-path'] = path
  request.headers['x-devdeck-client'] = request.socket.remoteAddress ?? 'unknown'
  return true
}

/** The origin the request was sent to. A page that made our address its own by DNS has another name in Host. */
export const requireOwnHost = (request: IncomingMessage): string => {
  const hosts = request.rawHeaders.filter((name, i) => i % 2 === 0 && name.toLowerCase() === 'host')
  if (hosts.length !== 1) throw new Refusal('invalid_argument', 'A request needs exactly one Host header')
  const origin = originOfHost(request.headers.host)
  if (origin === undefined)
    throw new Refusal('forbidden', 'This console does not answer under that name; DEVDECK_ORIGIN lists more of them')
  return origin
}

/** Path segments are decoded after routing and dot segments are folded before it: neither may change what is meant. */
const requirePlainPath = (url: string): void => {
  const [path = ''] = url.split('?', 1)
  if (!path.startsWith('/')) throw new Refusal('invalid_argument', 'The request target must be a path')
  if (path !== '/api' && !path.toLowerCase().startsWith('/api/')) return
  for (const segment of path.split('/')) {
    const decoded = decodeSegment(segment)
    if (decoded.split(/[/\\]/).some((part) => part === '.' || part === '..'))
      throw new Refusal('invalid_argument', 'The path must not hold dot segments')
    if (hasControlCharacters(decoded))
      throw new Refusal('invalid_argument', 'The path must not hold control characters')
  }
}

const nowhere = '/%EF%BF%BD'
const isDecodable = (url: string): boolean => {
  try {
    decodeURIComponent(url.split('?', 1)[0] ?? '')
    return true
  } catch {
    return false
  }
}

export const decodeSegment = (segment: string): string => {
  try {
    return decodeURIComponent(segment)
  } catch {
    throw new Refusal('invalid_argument', 'The path is not valid percent-encoding')
  }
}

const setSecurityHeaders = (response: ServerResponse): void => {
  response.setHeader('x-content-type-options', 'nosniff')
  response.setHeader('x-frame-options', 'DENY')
  response.setHeader('referrer-policy', 'same-origin')
  response.setHeader('cross-origin-opener-policy', 'same-origin')
  response.setHeader('cross-origin-resource-policy', 'same-origin')
}

const setContentPolicy = (
  request: IncomingMessage,
  response: ServerResponse,
  { origin, path, dev }: { origin: string; path: string; dev: boolean },
) => {
  if (path.startsWith('/api/')) {
    response.setHeader('content-security-policy', "default-src 'none'; frame-ancestors 'none'; sandbox")
    return
  }
  const nonce = randomBytes(16).toString('base64')
  const policy = [
    "default-src 'none'",
    // React's development build rebuilds stack traces by eval.
    `script-src 'self' 'nonce-${nonce}' 'strict-dynamic'${dev ? " 'unsafe-eval'" : ''}`,
    // xterm.js and Radix set style attributes.
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self'",
    // Safari has long read 'self' as not covering WebSockets, so their origin is spelled out.
    `connect-src 'self' ${origin.replace(/^http/, 'ws')}`,
    "manifest-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "object-src 'none'",
  ].join('; ')
  // Next takes the nonce for its own scripts from the request.
  request.headers['content-security-policy'] = policy
  response.setHeader('content-security-policy', policy)
}

const refuse = (request: IncomingMessage, response: ServerResponse, refusal: Refusal): void => {
  const requestId = requestIdOf(
    new Headers({ 'x-request-id': String(request.headers['x-request-id'] ?? '').replace(/[^\x20-\x7e]/g, '') }),
  )
  // The body is not read, so the connection cannot be used again.
  response.writeHead(errorStatus[refusal.code], {
    'content-type': 'application/json',
    'cache-control': 'no-store',
    connection: 'close',
  })
  response.end(JSON.stringify(errorBody(refusal, requestId)))
}
