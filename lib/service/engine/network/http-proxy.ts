import { lookup } from 'node:dns/promises'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { connect, isIP, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { allowsName, isReachable, type Rules } from './rules.ts'

interface Access {
  rules: Rules
  report(blocked: string): void
}

interface Options {
  /** Default: the system's resolver, which uses a thread for each name. */
  resolve?(name: string): Promise<string[]>
  maxHeaderSize?: number
}

/** Maximum number of connections of one devbox. */
export const maxConnections = 512
const connectMs = 30_000
const maxAddresses = 4
const hopByHopHeaders = [
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authorization',
  'te',
  'trailer',
  'upgrade',
]

export class ProxyError extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/**
 * HTTP proxy for devboxes. Connects to exactly the addresses it checked, so DNS can't change in between. `authorize` may
 * throw a ProxyError.
 */
export const createHttpProxy = (
  authorize: (incoming: IncomingMessage) => Access,
  { resolve = lookupAll, ...options }: Options = {},
) => {
  const open = async (name: string, port: number, { rules, report }: Access): Promise<Socket> => {
    if (!allowsName(name, rules)) {
      report(`${authority(name, port)} is not allowed by the devbox's network policy`)
      throw new ProxyError(403, `${name} is not allowed by this devbox's network policy`)
    }
    const found = isIP(name) ? [name] : await resolve(name).catch(() => [])
    if (found.length === 0) throw new ProxyError(502, `Could not resolve ${name}`)
    const reachable = found.filter((address) => isReachable(address, rules))
    if (reachable.length === 0) {
      report(`${authority(name, port)} resolves to a host or private address (${found.join(', ')})`)
      throw new ProxyError(403, `${name} resolves to a host or private address`)
    }
    for (const address of reachable.slice(0, maxAddresses)) {
      const socket = await dial(address, port)
      if (socket) return socket
    }
    throw new ProxyError(502, `Could not connect to ${name}:${port}`)
  }

  const forward = async (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const url = URL.canParse(incoming.url ?? '') ? new URL(incoming.url ?? '') : undefined
    if (url?.protocol !== 'http:') throw new ProxyError(400, 'This is a proxy: send CONNECT or an absolute http:// URL')
    const socket = await open(nameOf(url), Number(url.port || 80), authorize(incoming))
    const upstream = request({
      method: incoming.method,
      path: url.pathname + url.search,
      // Not the client's own Host header: one address may serve other, disallowed names.
      headers: { ...endToEnd(incoming.headers), host: url.host, connection: 'close' },
      createConnection: () => socket,
    })
    outgoing.once('close', () => socket.destroy())
    const responded = new Promise<IncomingMessage>((resolve, reject) => {
      upstream.once('response', resolve).once('error', reject)
    })
    pipeline(incoming, upstream).catch(() => socket.destroy())
    const response = await responded
    outgoing.writeHead(response.statusCode ?? 502, endToEnd(response.headers))
    await pipeline(response, outgoing)
  }

  const proxy = createServer({ ...options, requestTimeout: 0 }, (incoming, outgoing) => {
    forward(incoming, outgoing).catch((error: Error) => {
      if (outgoing.headersSent) return outgoing.destroy()
      const { status, message } = asProxyError(error)
      outgoing.writeHead(status, refusalHeaders(status, message)).end(`${message}\n`)
    })
  })
  proxy.on('connect', (incoming: IncomingMessage, client: Duplex, head: Buffer) => {
    client.on('error', () => undefined)
    tunnel(incoming, client, head).catch((error: Error) => {
      const { status, message } = asProxyError(error)
      const headers = Object.entries(refusalHeaders(status, message)).map(([name, value]) => `${name}: ${value}\r\n`)
      client.end(`HTTP/1.1 ${status} Refused\r\n${headers.join('')}\r\n${message}\n`)
    })
  })
  proxy.on('clientError', (_, socket) => socket.destroy())

  const tunnel = async (incoming: IncomingMessage, client: Duplex, head: Buffer) => {
    const target = incoming.url ?? ''
    const url = URL.canParse(`http://${target}`) ? new URL(`http://${target}`) : undefined
    const port = Number(/:(\d{1,5})$/.exec(target)?.[1])
    if (!url || !(port > 0)) throw new ProxyError(400, 'CONNECT requires host:port')
    const upstream = await open(nameOf(url), port, authorize(incoming))
    client.write('HTTP/1.1 200 Connection established\r\n\r\n')
    upstream.write(head)
    const both = [pipeline(client, upstream), pipeline(upstream, client)]
    for (const each of both)
      each.catch(() => {
        client.destroy()
        upstream.destroy()
      })
  }
  return proxy
}

const lookupAll = async (name: string) => (await lookup(name, { all: true })).map(({ address }) => address)

const refusalHeaders = (status: number, message: string) => ({
  'content-type': 'text/plain',
  'content-length': Buffer.byteLength(message) + 1,
  ...(status === 407 && { 'proxy-authenticate': 'Basic realm="devdeck"' }),
  connection: 'close',
})

const endToEnd = (headers: IncomingMessage['headers']) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !hopByHopHeaders.includes(name)))

const nameOf = ({ hostname }: URL) => hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')

const authority = (name: string, port: number) => `${isIP(name) === 6 ? `[${name}]` : name}:${port}`

const asProxyError = (error: Error) =>
  error instanceof ProxyError ? error : new ProxyError(502, `Connection failed: ${error.message}`)

const dial = (host: string, port: number): Promise<Socket | undefined> =>
  new Promise((resolve) => {
    const socket = connect({ host, port, allowHalfOpen: true, timeout: connectMs })
    const giveUp = () => {
      socket.destroy()
      resolve(undefined)
    }
    socket.once('error', giveUp).once('timeout', giveUp)
    socket.once('connect', () => {
      socket.off('error', giveUp).off('timeout', giveUp).setTimeout(0)
      socket.on('error', () => socket.destroy())
      resolve(socket)
    })
  })
