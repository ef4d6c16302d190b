import { spawn } from 'node:child_process'
import { lookup } from 'node:dns/promises'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { connect, isIP, type Server, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { allowsName, isReachable, type Rules } from './rules.ts'

/**
 * An HTTP proxy for one devbox, started by `egress.ts`: a process on the machine's network that listens on the devbox's.
 * A name is resolved here, and what is connected to is the very address that was judged.
 */
export interface Order {
  /** Starts `listen-inside.ts` on the devbox's network. */
  listen: { file: string; args: string[] }
  rules: Rules
}

export type Word = { listening: true } | { refused: string }

const maxConnections = 512
const connectMs = 30_000
const maxAddresses = 4
const ownToAHop = ['connection', 'keep-alive', 'proxy-connection', 'proxy-authorization', 'te', 'trailer', 'upgrade']

const say = (word: Word) => process.send?.(word)

/** Why a client does not get what it asked for. */
class Refusal extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

process.once('disconnect', () => process.exit())
process.once('message', ({ listen, rules }: Order) => {
  const proxy = createProxy(rules)
  const child = spawn(listen.file, listen.args, { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] })
  child.once('error', () => process.exit(1))
  child.once('exit', (code) => code !== 0 && process.exit(1))
  child.once('message', (_, listening) => {
    // A client may end its half of a connection and wait for the other.
    const server = Object.assign(listening as Server, { allowHalfOpen: true, maxConnections })
    server.on('connection', (socket) => proxy.emit('connection', socket))
    say({ listening: true })
  })
})

const createProxy = (rules: Rules) => {
  const open = async (name: string, port: number): Promise<Socket> => {
    if (!allowsName(name, rules)) {
      say({ refused: `${authority(name, port)} is not among the names its network policy allows` })
      throw new Refusal(403, `${name} is not among the names that the network policy of this devbox allows`)
    }
    for (const address of await addressesOf(name, port)) {
      const socket = await dial(address, port)
      if (socket) return socket
    }
    throw new Refusal(502, `${name}:${port} does not answer`)
  }

  const addressesOf = async (name: string, port: number): Promise<string[]> => {
    const found = isIP(name) ? [name] : (await lookup(name, { all: true }).catch(() => [])).map((each) => each.address)
    if (found.length === 0) throw new Refusal(502, `${name} has no address`)
    const reachable = found.filter((address) => isReachable(address, rules))
    if (reachable.length > 0) return reachable.slice(0, maxAddresses)
    say({
      refused: `${authority(name, port)} leads to ${found.join(', ')}, which is of this machine or of a private network`,
    })
    throw new Refusal(403, `${name} leads to this machine or into a private network`)
  }

  const forward = async (asked: IncomingMessage, answer: ServerResponse) => {
    const url = URL.canParse(asked.url ?? '') ? new URL(asked.url ?? '') : undefined
    if (url?.protocol !== 'http:') throw new Refusal(400, 'This is a proxy: it takes CONNECT, and http:// in full')
    const socket = await open(nameOf(url), Number(url.port || 80))
    const headers = Object.fromEntries(Object.entries(asked.headers).filter(([name]) => !ownToAHop.includes(name)))
    const upstream = request({
      method: asked.method,
      path: url.pathname + url.search,
      // Not what the client says: behind one address there may be names that are not allowed.
      headers: { ...headers, host: url.host, connection: 'close' },
      createConnection: () => socket,
    })
    answer.once('close', () => socket.destroy())
    const answered = new Promise<IncomingMessage>((resolve, reject) => {
      upstream.once('response', resolve).once('error', reject)
    })
    pipeline(asked, upstream).catch(() => socket.destroy())
    const response = await answered
    const kept = Object.entries(response.headers).filter(([name]) => !ownToAHop.includes(name))
    answer.writeHead(response.statusCode ?? 502, Object.fromEntries(kept))
    await pipeline(response, answer)
  }

  const proxy = createServer({ requestTimeout: 0 }, (asked, answer) => {
    forward(asked, answer).catch((error: Error) => {
      if (answer.headersSent) return answer.destroy()
      const { status, message } = asRefusal(error)
      answer.writeHead(status, { 'content-type': 'text/plain', connection: 'close' }).end(`${message}\n`)
    })
  })
  proxy.on('connect', (asked: IncomingMessage, client: Duplex, head: Buffer) => {
    client.on('error', () => undefined)
    tunnel(asked.url ?? '', client, head).catch((error: Error) => {
      const { status, message } = asRefusal(error)
      client.end(
        `HTTP/1.1 ${status} Refused\r\ncontent-type: text/plain\r\ncontent-length: ${Buffer.byteLength(message) + 1}\r\nconnection: close\r\n\r\n${message}\n`,
      )
    })
  })
  proxy.on('clientError', (_, socket) => socket.destroy())

  const tunnel = async (target: string, client: Duplex, head: Buffer) => {
    const url = URL.canParse(`http://${target}`) ? new URL(`http://${target}`) : undefined
    const port = Number(/:(\d{1,5})$/.exec(target)?.[1])
    if (!url || !(port > 0)) throw new Refusal(400, 'CONNECT needs NAME:PORT')
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

const nameOf = ({ hostname }: URL) => hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')

const authority = (name: string, port: number) => `${isIP(name) === 6 ? `[${name}]` : name}:${port}`

const asRefusal = (error: Error) =>
  error instanceof Refusal ? error : new Refusal(502, `The connection broke: ${error.message}`)

/** Undefined when nothing answers there. */
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
