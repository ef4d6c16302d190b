import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'

export type Json = Record<string, unknown>

export interface Call {
  request: IncomingMessage
  response: ServerResponse
  /** Values of the path's `*` segments. */
  at: string[]
  query: URLSearchParams
  body: Json
  raw: Buffer
}

/** Returns the JSON to send, or undefined if it has written the response itself. */
type Handler = (call: Call) => unknown
export type Routes = Record<string, Handler>

export class Failure extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

export interface Faults {
  latencyMs: number
  /** Share of calls that fail, from 0 to 1. */
  errorRate: number
  /** Every n-th call returns 429; 0 for none. */
  limitEvery: number
  seed: number
}

const random = (seed: number) => {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

const readAll = async (request: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks)
}

const parse = (raw: Buffer, type = ''): Json => (type.includes('json') && raw.length > 0 ? JSON.parse(String(raw)) : {})

const sendJson = (response: ServerResponse, status: number, body: unknown, headers: Json = {}) =>
  void response
    .writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...(headers as Record<string, string>) })
    .end(JSON.stringify(body))

const sendFailure = (response: ServerResponse, status: number, message: string) =>
  status === 404
    ? sendJson(response, 404, { message, type: 'NotFoundError', trace: 'a1b2' })
    : sendJson(response, status, { error: { message, type: 'invalid_request' } })

const sendLimited = (response: ServerResponse) =>
  sendJson(response, 429, { error: { message: 'Too many requests' } }, { 'retry-after': '1' })

/** Errors arrive in several shapes: from the service, its framework and the proxy before it. */
const faultKinds: ((response: ServerResponse) => void)[] = [
  (response) => sendJson(response, 500, { error: { message: 'Something went wrong', code: 13 } }),
  (response) => response.writeHead(502, { 'content-type': 'text/html' }).end('<html><h1>502 Bad Gateway</h1></html>'),
  (response) => response.writeHead(503, { 'content-type': 'text/plain' }).end('upstream connect error or disconnect'),
  sendLimited,
]

/** An HTTP/1.1 server for the routes, such as `'GET /v1/axons/*'`. Unknown paths return 401. */
export const serve = async (routes: Routes, keys: ReadonlyMap<string, Json>, faults: Faults) => {
  const table = Object.entries(routes).map(([name, handler]) => {
    const [method = '', path = ''] = name.split(' ')
    return { method, segments: path.split('/'), handler }
  })
  const find = (method: string, segments: string[]) =>
    table
      .filter((each) => each.method === method && each.segments.length === segments.length)
      .filter((each) => each.segments.every((part, i) => part === '*' || part === segments[i]))
      .sort(
        (a, b) => a.segments.filter((part) => part === '*').length - b.segments.filter((part) => part === '*').length,
      )[0]
  const requests: { method: string; path: string; status: number }[] = []
  let next = random(faults.seed)
  let count = 0

  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const { pathname, searchParams: query } = new URL(request.url ?? '', 'http://hosted')
    const { method = '' } = request
    const entry = { method, path: pathname, status: 0 }
    response.once('close', () => {
      entry.status = response.statusCode
    })
    requests.push(entry)
    const nth = ++count
    const segments = pathname.split('/').map(decodeURIComponent)
    const found = find(method, segments)
    const raw = await readAll(request)
    if (faults.latencyMs > 0) await wait(faults.latencyMs)
    const key = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? ''
    // Terminals check their own token; the address of an upload or download is its permission.
    const isPresigned = pathname.startsWith('/pty/') || pathname.startsWith('/blob/')
    if ((!keys.has(key) && !isPresigned) || !found) return sendJson(response, 401, { message: 'Unauthorized' })
    // The account decides whether a person can sign in at all.
    const isSpared = pathname === '/v1/accounts/me' || isPresigned
    if (!isSpared && faults.limitEvery > 0 && nth % faults.limitEvery === 0) return sendLimited(response)
    if (!isSpared && next() < faults.errorRate) return faultKinds[Math.floor(next() * faultKinds.length)]?.(response)
    const at = segments.filter((_, i) => found.segments[i] === '*')
    try {
      const body = parse(raw, request.headers['content-type'])
      const result = await found.handler({ request, response, at, query, body, raw })
      if (result !== undefined) sendJson(response, 200, result)
    } catch (error) {
      if (!(error instanceof Failure)) console.error('hosted:', error)
      if (response.headersSent) return void response.destroy()
      sendFailure(response, error instanceof Failure ? error.status : 500, (error as Error).message)
    }
  }

  const server = createServer((request, response) => void answer(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    server,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    change: (changed: Partial<Faults>) => {
      Object.assign(faults, changed)
      next = random(faults.seed)
    },
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

const serverPageSize = 8

/** A page without a total. The server's own limit is lower than most clients ask for. */
export const page = (
  name: string,
  rows: readonly Json[],
  query: URLSearchParams,
  idOf = (row: Json) => row.id,
): Json => {
  const limit = Math.min(Number(query.get('limit') ?? 20), serverPageSize)
  const from = rows.findIndex((row) => String(idOf(row)) === query.get('starting_after')) + 1
  return { [name]: rows.slice(from, from + limit), has_more: from + limit < rows.length, page_token_hint: 'opaque' }
}

/** Server-sent events. After `idleMs` without any, the stream ends with an error event of code 408. */
export const eventStream = (call: Call, idleMs: number) => {
  const { response } = call
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
  response.write(': connected\n\n')
  const end = () => {
    response.end(`event: error\ndata: ${JSON.stringify({ code: '408', message: 'Idle timeout' })}\n\n`)
  }
  let timer = setTimeout(end, idleMs)
  response.once('close', () => clearTimeout(timer))
  return {
    send: (data: Json) => {
      clearTimeout(timer)
      timer = setTimeout(end, idleMs)
      if (!response.writableEnded) response.write(`id: 1\ndata: ${JSON.stringify(data)}\n\n`)
    },
    finish: () => {
      clearTimeout(timer)
      response.end()
    },
    closed: new Promise<void>((resolve) => response.once('close', () => resolve())),
  }
}

let made = 0

/** Opaque, with characters that are legal in a path segment. */
export const newId = (): string => `${(++made + 46655).toString(36)}.${'x7Q~b@2:K'.slice(made % 4)}!${made}`

/** Hosted records leave unset fields out. */
export const compact = (record: Json): Json =>
  Object.fromEntries(Object.entries(record).filter(([, value]) => value !== null && value !== undefined))
