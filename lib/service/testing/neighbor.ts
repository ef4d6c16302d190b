import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readlinkSync } from 'node:fs'
import { createServer } from 'node:http'
import { networkInterfaces } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'

interface Neighbor {
  /** Public address; `own` is this machine's address on the same network. */
  address: string
  own: string
  privateAddress: string
  port: number
  /** Interface of this machine on that network. */
  near: string
  close(): void
}

const program = `
const http = require('node:http')
const [own] = process.argv.slice(1)
const server = http.createServer((request, response) => {
  let bytes = 0
  request.on('data', (chunk) => (bytes += chunk.length))
  request.on('end', () => response.end(request.method + ' ' + request.headers.host + request.url + ' ' + bytes + '\\n'))
})
const datagrams = require('node:dgram').createSocket('udp4')
datagrams.bind(8080, () => {
  datagrams.addMembership('239.9.9.9', own)
})
datagrams.on('message', (bytes) => console.log('datagram ' + bytes))
server.listen(8080, '0.0.0.0', () => console.log('listening'))
`

/**
 * Simulates another machine: an HTTP server in its own network namespace, with a public and a private address. Undefined if
 * the network cannot be created, as without root.
 */
export const startNeighbor = async (): Promise<(Neighbor & { heard(): string }) | undefined> => {
  const octet = process.pid % 250
  const number = `${process.pid}`
  const addresses = { own: `198.51.${octet}.1`, address: `198.51.${octet}.2` }
  const privateAddresses = { own: `10.213.${octet}.1`, address: `10.213.${octet}.2` }
  const script =
    'until ip link show dev far >/dev/null 2>&1; do sleep 0.02; done; ip link set lo up; ip link set far up;'
  const assign = [addresses, privateAddresses].map(({ address }) => `ip address add ${address}/24 dev far`).join('; ')
  const node = `"$@" ${addresses.address}`
  const child = spawn(
    'unshare',
    ['--net', '/bin/sh', '-c', `${script} ${assign}; ip route add default dev far; exec ${node}`, 'neighbour'].concat([
      process.execPath,
      '-e',
      program,
    ]),
    { stdio: ['ignore', 'pipe', 'ignore'] },
  )
  const near = `near${number}`
  const close = () => {
    child.kill('SIGKILL')
    spawnSync('ip', ['link', 'delete', near])
  }
  const ended = once(child, 'exit').catch(() => undefined)
  const ip = (line: string) => spawnSync('ip', line.split(' ')).status === 0
  const isLinked =
    child.pid !== undefined &&
    (await hasOwnNetwork(child.pid)) &&
    ip(`link add ${near} type veth peer name far netns ${child.pid}`) &&
    [addresses, privateAddresses].every(({ own }) => ip(`address add ${own}/24 dev ${near}`)) &&
    ip(`link set ${near} up`)
  let words = ''
  const isListening =
    isLinked &&
    (await Promise.race([
      ended.then(() => false),
      new Promise<boolean>((resolve) => {
        child.stdout.setEncoding('utf8').on('data', (text) => {
          words += text
          if (words.includes('listening')) resolve(true)
        })
      }),
    ]))
  if (!isListening) {
    close()
    return undefined
  }
  return {
    address: addresses.address,
    own: addresses.own,
    privateAddress: privateAddresses.address,
    port: 8080,
    near,
    heard: () => words,
    close,
  }
}

/** Waits until a starting process has its own network namespace. */
const hasOwnNetwork = async (pid: number): Promise<boolean> => {
  try {
    while (readlinkSync(`/proc/${pid}/ns/net`) === readlinkSync('/proc/self/ns/net')) await delay(5)
    return true
  } catch {
    return false
  }
}

/** Addresses of this machine, excluding other tests' neighbors. */
export const ownAddresses = (near?: string): string[] =>
  Object.entries(networkInterfaces()).flatMap(([name, all]) =>
    name.startsWith('near') && name !== near ? [] : (all ?? []).map(({ address }) => address),
  )

export const startOwnServer = async () => {
  const server = createServer((_, response) => response.end('the machine')).listen(0, '::')
  await once(server, 'listening')
  return { port: (server.address() as { port: number }).port, close: () => server.close() }
}
