import { spawn } from 'node:child_process'
import { lookup } from 'node:dns/promises'
import { createServer, type Server as HttpServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { connect, isIP, type Server, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { allowsName, isReachable, type Rules } from './rules.ts'

/** HTTP proxy for one devbox. Connects to exactly the addresses it checked, so DNS can't change in between. */
export interface ProxyConfig {
  /** A command that passes a listening server. Without it, the proxy serves the connections it is sent. */
  listen?: { file: string; args: string[] }
  rules: Rules
}

export type ProxyMessage = { listening: true } | { blocked: string }

const maxConnections = 512
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

const send = (message: ProxyMessage) => process.send?.(message)

class ProxyError extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

process.once('disconnect', () => process.exit())
process.once('message', ({ listen, rules }: ProxyConfig) => {
  const proxy = createProxy(rules)
  if (!listen) {
    serveSent(proxy)
    return send({ listening: true })
  }
  const child = spawn(listen.file, listen.args, { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] })
  child.once('error', () => process.exit(1))
  child.once('exit', (code) => code !== 0 && process.exit(1))
  child.once('message', (_, listening) => {
    // Clients may half-close a connection and wait for the response.
    const server = Object.assign(listening as Server, { allowHalfOpen: true, maxConnections })
    server.on('connection', (socket) => proxy.emit('connection', socket))
    send({ listening: true })
  })
})

const serveSent = (proxy: HttpServer) => {
  let connections = 0
  process.on('message', (_, socket?: Socket) => {
    if (!socket) return
    if (connections >= maxConnections) return socket.destroy()
    connections++
    socket.once('close', () => connections--)
    proxy.emit('connection', Object.assign(socket, { allowHalfOpen: true }).resume())
  })
}

const createProxy = (rules: Rules) => {
  const open = async (name: string, port: number): Promise<Socket> => {
    if (!allowsName(name, rules)) {
      send({ blocked: `${authority(name, port)} is not allowed by the devbox's network policy` })
      throw new ProxyError(403, `${name} is not allowed by this devbox's network policy`)
    }
    for (const address of await addressesOf(name, port)) {
      const socket = await dial(address, port)
      if (socket) return socket
    }
    throw new ProxyError(502, `Could not connect to ${name}:${port}`)
  }

  const addressesOf = async (name: string, port: number): Promise<string[]> => {
    const found = isIP(name) ? [name] : (await lookup(name, { all: true }).catch(() => [])).map((each) => each.address)
    if (found.length === 0) throw new ProxyError(502, `Could not resolve ${name}`)
    const reachable = found.filter((address) => isReachable(address, rules))
    if (reachable.length > 0) return reachable.slice(0, maxAddresses)
    send({
      blocked: `${authority(name, port)} resolves to a host or private address (${found.join(', ')})`,
    })
    throw new ProxyError(403, `${name} resolves to a host or private address`)
  }

  const forward = async (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const url = URL.canParse(incoming.url ?? '') ? new URL(incoming.url ?? '') : undefined
    if (url?.protocol !== 'http:') throw new ProxyError(400, 'This is a proxy: send CONNECT or an absolute http:// URL')
    const socket = await open(nameOf(url), Number(url.port || 80))
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

  const proxy = createServer({ requestTimeout: 0 }, (incoming, outgoing) => {
    forward(incoming, outgoing).catch((error: Error) => {
      if (outgoing.headersSent) return outgoing.destroy()
      const { status, message } = asProxyError(error)
      outgoing.writeHead(status, { 'content-type': 'text/plain', connection: 'close' }).end(`${message}\n`)
    })
  })
  proxy.on('connect', (incoming: IncomingMessage, client: Duplex, head: Buffer) => {
    client.on('error', () => undefined)
    tunnel(incoming.url ?? '', client, head).catch((error: Error) => {
      const { status, message } = asProxyError(error)
      client.end(
        `HTTP/1.1 ${status} Refused\r\ncontent-type: text/plain\r\ncontent-length: ${Buffer.byteLength(message) + 1}\r\nconnection: close\r\n\r\n${message}\n`,
      )
    })
  })
  proxy.on('clientError', (_, socket) => socket.destroy())

  const tunnel = async (target: string, client: Duplex, head: Buffer) => {
    const url = URL.canParse(`http://${target}`) ? new URL(`http://${target}`) : undefined
    const port = Number(/:(\d{1,5})$/.exec(target)?.[1])
    if (!url || !(port > 0)) throw new ProxyError(400, 'CONNECT requires host:port')
    const upstream = await open(nameOf(url), port)
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
