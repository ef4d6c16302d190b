import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerOptions, ServerResponse } from 'node:http'
import { isIP } from 'node:net'
import type { Duplex } from 'node:stream'
import { parseAndValidateFlightRouterState } from 'next/dist/server/app-render/parse-and-validate-flight-router-state.js'
import { errorStatus } from '#lib/contract/errors.ts'
import { registry } from '../registry/registry.ts'
import { isFromPeer, peerClientHeader } from '../store/peer.ts'
import { cookieValues, sessionCookieName } from './cookies.ts'
import { errorBody, HttpError, hasControlCharacters, requestIdOf } from './handle-request.ts'
import { originOfHost, type ReadHeader, sameOriginPath } from './origin.ts'
import { endSocket } from './sockets.ts'

interface GuardOptions {
  dev: boolean
  acceptsForm: (method: string | undefined, url: string | undefined) => boolean
  /** Headers of pages that need no account, and see no cookie; undefined for others. */
  publicHeaders: (path: string) => Record<string, string> | undefined
}

// Runs before Next: rejects foreign hosts, ambiguous paths and server actions, sets security headers, and adds what
// only the socket knows. Returns false once it has responded.
export const guardRequest = (
  request: IncomingMessage,
  response: ServerResponse,
  { dev, acceptsForm, publicHeaders }: GuardOptions,
): boolean => {
  const path = request.url ?? '/'
  setSecurityHeaders(response)
  try {
    const origin = requireOwnHost(request)
    if (isPublicHttps(origin)) response.setHeader('strict-transport-security', 'max-age=31536000')
    requirePlainPath(path)
    // The console has no server actions.
    if (request.method === 'POST' && request.headers['next-action'] !== undefined)
      throw new HttpError('not_found', 'Not found')
    const ownHeaders = publicHeaders(path)
    if (ownHeaders) {
      delete request.headers.cookie
      for (const [name, value] of Object.entries(ownHeaders)) response.setHeader(name, value)
    } else setContentPolicy(request, response, { origin, path, dev })
    requireMethod(request, path, dev)
    requireRouterState(request)
    // Next would read a form as a server action, however large.
    if (/^multipart\//i.test(request.headers['content-type'] ?? '') && !acceptsForm(request.method, path))
      throw new HttpError('unsupported_media_type', 'Form bodies are not accepted here')
    const header = (name: string) => String(request.headers[name] ?? '')
    if (!ownHeaders && isCrossSiteNavigation(request)) return sendReloadPage(response, path)
    if (hasConflictingCookies(header)) return showTrouble(request, response, clearingHeaders(header, path))
    // Next fails on undecodable paths; this shows the not-found page instead.
    if (!canDecode(path)) request.url = notFoundPath
  } catch (error) {
    if (!(error instanceof HttpError)) throw error
    refuse(request, response, error)
    return false
  }
  request.headers['x-devdeck-path'] = path
  request.headers['x-devdeck-client'] = clientAddress(request)
  const { bodyStillMs: stillMs } = registry().config
  watchBody(request, response, { stillMs, refuse: (refusal) => refuse(request, response, refusal) })
  return true
}

/** Unspecified: maximum number of pipelined requests. Browsers and proxies do not pipeline. */
const maxPipelined = 8
const pendingResponses = new WeakMap<object, ServerResponse[]>()

// Handles pipelined requests one at a time. Node does not report a closed connection to a queued response, which
// would hold its files open forever.
export const serializePipelinedRequests = (
  { socket }: IncomingMessage,
  response: ServerResponse,
  serve: () => void,
): void => {
  const queue = pendingResponses.get(socket) ?? []
  pendingResponses.set(socket, queue)
  const before = queue.at(-1)
  queue.push(response)
  response.once('close', () => queue.shift())
  if (!before) serve()
  else if (queue.length > maxPipelined) socket.destroy()
  else before.once('close', () => socket.destroyed || serve())
}

/** The origin the request was sent to. Rejects DNS rebinding, which arrives with a foreign Host. */
export const requireOwnHost = (request: IncomingMessage): string => {
  const hosts = request.rawHeaders.filter((name, i) => i % 2 === 0 && name.toLowerCase() === 'host')
  if (hosts.length !== 1) throw new HttpError('invalid_argument', 'A request needs exactly one Host header')
  const origin = originOfHost(request.headers.host)
  if (origin === undefined) throw new HttpError('forbidden', 'Unknown host name; add its origin to DEVDECK_ORIGIN')
  return origin
}

/** Unspecified: maximum number of query parameters. Next takes 40 s for 20,000 of one name. */
const maxParameters = 500

/** Decoding and dot-segment folding must not change the meaning of an API path. */
const requirePlainPath = (url: string): void => {
  const [path = ''] = url.split('?', 1)
  if (!path.startsWith('/')) throw new HttpError('invalid_argument', 'The request target must be a path')
  if (url.split('&').length > maxParameters)
    throw new HttpError('invalid_argument', `The query must not have more than ${maxParameters} parameters`)
  if (path.includes('://')) throw new HttpError('not_found', 'Not found')
  if (path.includes('//')) throw new HttpError('invalid_argument', 'The path must not contain empty segments')
  if (path !== '/api' && !path.toLowerCase().startsWith('/api/')) return
  for (const segment of path.split('/')) {
    const decoded = decodeSegment(segment)
    if (decoded.split(/[/\\]/).some((part) => part === '.' || part === '..'))
      throw new HttpError('invalid_argument', 'The path must not contain dot segments')
    if (hasControlCharacters(decoded))
      throw new HttpError('invalid_argument', 'The path must not contain control characters')
  }
}

const requireRouterState = ({ headers }: IncomingMessage): void => {
  try {
    parseAndValidateFlightRouterState(headers['next-router-state-tree'])
  } catch {
    throw new HttpError('invalid_argument', 'Invalid next-router-state-tree header', {
      field: 'next-router-state-tree',
    })
  }
}

export const serverOptions: ServerOptions = {
  headersTimeout: 10_000,
  // Longer than clients keep an idle connection (nginx: 60 s): they would send a request while we close it.
  keepAliveTimeout: 75_000,
  // Covers the largest upload on a slow line; stalled bodies end sooner.
  requestTimeout: 3_600_000,
  // Half-open requests end within 12 s.
  connectionsCheckingInterval: 2_000,
  // Leaves room for cookies of other servers on this host, and for our response when there are too many.
  maxHeaderSize: 48 * 1024,
}

const pageMethods = ['GET', 'HEAD']
const apiMethods = [...pageMethods, 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

const requireMethod = ({ method = '' }: IncomingMessage, path: string, dev: boolean): void => {
  const isApi = path.startsWith('/api/')
  const allowed = isApi ? apiMethods : pageMethods
  if (allowed.includes(method) || (dev && /^\/_{1,2}next/.test(path))) return
  const what = isApi ? `${method} is not supported here` : `Pages support GET and HEAD, not ${method}`
  throw new HttpError('method_not_allowed', what, { headers: { allow: allowed.join(', ') } })
}

/** Returns false for `guardRequest`. */
const showTrouble = (
  request: IncomingMessage,
  response: ServerResponse,
  clearing: ReturnType<typeof clearingHeaders>,
): false => {
  for (const [name, value] of clearing) response.setHeader(name, value)
  if (request.url?.startsWith('/api/')) {
    refuse(request, response, new HttpError('invalid_argument', `${troubleTitle}. ${troubleText}`, { field: 'cookie' }))
    return false
  }
  const headers = { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store', connection: 'close' }
  response.writeHead(400, headers).end(troublePage())
  return false
}

// Whether another site, such as a chat, linked here. The browser then withholds the session cookie (SameSite=Strict).
// The single sign-on callback is included, since it must know who is signed in.
const isCrossSiteNavigation = ({ method, url = '', headers }: IncomingMessage): boolean =>
  method === 'GET' &&
  headers['sec-fetch-mode'] === 'navigate' &&
  headers['sec-fetch-dest'] === 'document' &&
  headers['sec-fetch-site'] === 'cross-site' &&
  !/^\/(api|_next|sign-in(?!\/sso\/callback\?))(\/|\?|$)/.test(url) &&
  cookieValues(
    (name) => String(headers[name] ?? ''),
    sessionCookieName((name) => String(headers[name] ?? '')),
  ).length === 0

/** Reloads the page from our own origin, so that the cookie is sent. Returns false for `guardRequest`. */
const sendReloadPage = (response: ServerResponse, path: string): false => {
  // Paths such as `/\host` would leave this origin.
  const refresh = `0;url=${sameOriginPath(path)}`
  const headers = { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store', refresh }
  response.writeHead(200, headers).end('<!doctype html><html lang="en"><title>Devdeck</title></html>\n')
  return false
}

const notFoundPath = '/%EF%BF%BD'
const canDecode = (url: string): boolean => {
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
    throw new HttpError('invalid_argument', 'The path is not percent-encoded correctly')
  }
}

const setSecurityHeaders = (response: ServerResponse): void => {
  response.setHeader('x-content-type-options', 'nosniff')
  response.setHeader('x-frame-options', 'DENY')
  response.setHeader('referrer-policy', 'same-origin')
  response.setHeader('cross-origin-opener-policy', 'same-origin')
  response.setHeader('cross-origin-resource-policy', 'same-origin')
  response.setHeader('permissions-policy', deniedFeatures)
}

const deniedFeatures = [
  ...['accelerometer', 'camera', 'display-capture', 'geolocation', 'gyroscope', 'hid', 'magnetometer', 'microphone'],
  ...['midi', 'payment', 'publickey-credentials-get', 'serial', 'usb', 'xr-spatial-tracking'],
]
  .map((feature) => `${feature}=()`)
  .join(', ')

/** Not for localhost, where HSTS would affect every other local server. */
const isPublicHttps = (origin: string): boolean => {
  const { protocol, hostname } = new URL(origin)
  return protocol === 'https:' && !/(^|\.)localhost$/.test(hostname)
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
    // React's development build uses eval for stack traces.
    `script-src 'self' 'nonce-${nonce}' 'strict-dynamic'${dev ? " 'unsafe-eval'" : ''}`,
    // xterm.js and Radix set style attributes.
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self'",
    // Older Safari does not apply 'self' to WebSockets.
    `connect-src 'self' ${origin.replace(/^http/, 'ws')}`,
    "manifest-src 'self'",
    // For notifications and user-typed regular expressions.
    "worker-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "object-src 'none'",
  ].join('; ')
  // Next reads the nonce for its scripts from the request.
  request.headers['content-security-policy'] = policy
  response.setHeader('content-security-policy', policy)
}

const refuse = (request: IncomingMessage, response: ServerResponse, refusal: HttpError): void => {
  const requestId = requestIdOf(
    new Headers({ 'x-request-id': String(request.headers['x-request-id'] ?? '').replace(/[^\x20-\x7e]/g, '') }),
  )
  // The body is unread, so the connection cannot be reused.
  response.writeHead(errorStatus[refusal.code], {
    'content-type': 'application/json',
    'cache-control': 'no-store',
    connection: 'close',
    ...refusal.headers,
  })
  response.end(JSON.stringify(errorBody(refusal, requestId)))
}

/** More than browsers keep per host. Next takes seconds for thousands of cookies. */
const maxCookies = 200

// Cookies are shared between ports, so another server on this host can set a second session cookie, or so many that
// no request fits.
const hasConflictingCookies = (header: ReadHeader): boolean => {
  const count = (header('cookie') ?? '').split(';').length
  return count > maxCookies || cookieValues(header, sessionCookieName(header)).length > 1
}

/** Clears this host's cookies; ours individually, for browsers without Clear-Site-Data. */
const clearingHeaders = (header: ReadHeader, path: string): [string, string | string[]][] => {
  const parts = path.split('?', 1)[0]?.split('/').slice(1, 12).filter(Boolean) ?? []
  const folders = ['/', ...parts.map((_, i) => `/${parts.slice(0, i + 1).join('/')}`)]
  const safe = folders.filter((folder) => /^[\w/%.~-]+$/.test(folder))
  const name = sessionCookieName(header)
  const both = safe.flatMap((folder) => (folder === '/' ? [folder] : [folder, `${folder}/`]))
  return [
    ['clear-site-data', '"cookies"'],
    ['set-cookie', both.map((at) => `${name}=; Path=${at}; Max-Age=0${name.startsWith('__Host-') ? '; Secure' : ''}`)],
  ]
}

const troubleTitle = 'Conflicting cookies'
const troubleText =
  "Another server on this host set cookies that conflict with this console's. They have been cleared. Reload the page and sign in."

/** A static page for light and dark themes. */
const troublePage = (): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Cookies cleared · Devdeck</title><style>:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:34rem;margin:15vh auto;padding:0 1rem}</style></head><body><main><h1>${troubleTitle}</h1><p role="alert">${troubleText}</p><p><a href="/">Go to the overview</a></p></main></body></html>`

// Handles `clientError`. Oversized headers get a response that clears cookies, but only if cookies caused it: a link
// with a long URL must not sign anyone out.
export const onClientError = (error: NodeJS.ErrnoException & { rawPacket?: Buffer }, socket: Duplex): void => {
  if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy()
  const isTooLong = error.code === 'HPE_HEADER_OVERFLOW'
  const status = isTooLong
    ? '431 Request Header Fields Too Large'
    : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
      ? '408 Request Timeout'
      : '400 Bad Request'
  const clears = isTooLong && isOfCookies(String(error.rawPacket?.toString('latin1') ?? ''))
  const body = clears ? troublePage() : ''
  endSocket(
    socket,
    `HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: ${Buffer.byteLength(body)}\r\ncache-control: no-store\r\nx-content-type-options: nosniff\r\nx-frame-options: DENY\r\n` +
      `${clears ? `content-type: text/html; charset=utf-8\r\ncontent-security-policy: default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'\r\nclear-site-data: "cookies"\r\n` : ''}\r\n${body}`,
  )
}

/** A URL contains neither spaces nor cookies. */
const isOfCookies = (packet: string): boolean => {
  const cookies =
    packet.split('\r\n').find((line) => /^cookie:/i.test(line)) ?? packet.slice(packet.lastIndexOf('\n') + 1)
  return cookies.length > 4096 && /; ?[^\s;=]+=/.test(cookies) && !/^\w+ \S{4096}/.test(packet)
}

/** Less progress than this counts as stalled. */
const leastBytes = 1024
const looks = 3

/** Responds 408 to a stalled request body. Bodies waiting for a slow service do not count. */
const watchBody = (
  request: IncomingMessage,
  response: ServerResponse,
  { stillMs, refuse }: { stillMs: number; refuse: (refusal: HttpError) => void },
): void => {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers
  if (encoding === undefined && !(Number(length) > 0)) return
  const { socket } = request
  let seen: number[] = []
  const clock = setInterval(() => {
    if (request.complete || request.destroyed) return clearInterval(clock)
    const waitsForUs = request.readableLength >= request.readableHighWaterMark
    seen = waitsForUs ? [] : [...seen, socket.bytesRead].slice(-looks - 1)
    const [first = 0] = seen
    if (seen.length <= looks || socket.bytesRead - first >= leastBytes) return
    clearInterval(clock)
    if (response.headersSent) return void request.destroy()
    response.once('finish', () => request.destroy())
    refuse(new HttpError('timeout', `No progress on the request body for ${stillMs / 1000} s`))
  }, stillMs / looks)
  response.once('close', () => clearInterval(clock))
}

/** The client's address, from X-Forwarded-For where the sender is a proxy that TRUST_PROXY names. */
export const clientAddress = ({ socket, headers }: Pick<IncomingMessage, 'socket' | 'headers'>): string => {
  // The console that forwarded the request has already checked its proxies.
  if (isFromPeer(headers)) return String(headers[peerClientHeader])
  const { isTrustedProxy } = registry().config
  const forwarded = String(headers['x-forwarded-for'] ?? '').split(',')
  let address = plain(socket.remoteAddress ?? 'unknown')
  for (let hop = 0; forwarded.length > 0 && isTrustedProxy(address, hop); hop++) {
    const next = plain(forwarded.pop()?.trim() ?? '')
    if (isIP(next) === 0) break
    address = next
  }
  return address
}

/** Strips the IPv6 prefix of IPv4 clients. */
const plain = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '')
