import { Resolver } from 'node:dns/promises'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { createInterface } from 'node:readline'
import { createHttpProxy, maxConnections, ProxyError } from '../../network/http-proxy.ts'
import { readGrant } from './token.ts'

/** A line of its output. */
export type ProxyLine = { listening: true } | { devboxId: string; blocked: string }

/** The egress proxy of a node. Reads lists of blocked addresses from stdin, and writes blocked targets to stdout. */
const { PROXY_KEY: key = '', PROXY_BLOCKED = '[]', PROXY_PORT: port } = process.env
if (key === '') throw new Error('PROXY_KEY is missing')
let blocked: string[] = JSON.parse(PROXY_BLOCKED)
createInterface({ input: process.stdin }).on('line', (line) => {
  blocked = JSON.parse(line)
})

const write = (line: ProxyLine) => console.log(JSON.stringify(line))

const maxDevboxes = 256
const maxReported = 1000
const reported = new Map<string, Set<string>>()

/** Writes each target of a devbox once. */
const report = (devboxId: string, target: string) => {
  const targets = reported.get(devboxId) ?? new Set()
  if (targets.has(target) || targets.size >= maxReported) return
  const [oldest = ''] = reported.keys()
  if (reported.size > maxDevboxes) reported.delete(oldest)
  reported.set(devboxId, targets.add(target))
  write({ devboxId, blocked: target })
}

const tokenOf = ({ headers }: IncomingMessage): string => {
  const [, credentials = ''] = /^basic (\S+)$/i.exec(headers['proxy-authorization'] ?? '') ?? []
  return Buffer.from(credentials, 'base64')
    .toString('latin1')
    .replace(/^[^:]*:/, '')
}

/** Other devboxes, other proxies and the node's gateway are on networks of this container. */
const ownNetworks = () =>
  Object.values(networkInterfaces()).flatMap((all = []) => all.flatMap(({ cidr }) => cidr ?? []))

const resolver = new Resolver({ timeout: 3000, tries: 2 })

const proxy = createHttpProxy(
  (incoming) => {
    const grant = readGrant(key, tokenOf(incoming))
    if (!grant || grant.address !== incoming.socket.remoteAddress)
      throw new ProxyError(407, "The proxy doesn't know this devbox")
    return {
      rules: { ...grant.rules, blocked: [...blocked, ...ownNetworks()] },
      report: (target) => report(grant.devboxId, target),
    }
  },
  // The networks of proxies have no IPv6.
  { resolve: (name) => resolver.resolve4(name), maxHeaderSize: 64 * 1024 },
)

const connections = new Map<string, number>()
proxy.on('connection', (socket: Socket) => {
  const address = socket.remoteAddress ?? ''
  const count = (connections.get(address) ?? 0) + 1
  if (count > maxConnections) return socket.destroy()
  connections.set(address, count)
  socket.once('close', () => {
    const left = (connections.get(address) ?? 0) - 1
    if (left > 0) connections.set(address, left)
    else connections.delete(address)
  })
})

process.once('SIGTERM', () => process.exit())
proxy.listen(Number(port), '0.0.0.0', () => write({ listening: true }))
