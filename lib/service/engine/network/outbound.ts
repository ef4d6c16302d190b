import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, constants, existsSync } from 'node:fs'
import type { Socket } from 'node:net'
import type { Readable, Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Network } from '../box.ts'
import { type Launch, spawnIn } from '../local/launch.ts'
import type { ProxyConfig, ProxyMessage } from './egress-proxy.ts'
import { blockedIpv4, type Rules } from './rules.ts'

export interface NetworkLaunches {
  inNetwork(argv: readonly string[]): Launch
  onHostNetwork(argv: readonly string[]): Launch
  unprivileged(argv: readonly string[]): Launch
  path: string
}

export interface Outbound {
  environment: Readonly<Record<string, string>>
  notEnforced?: string
  end(): Promise<void>
}

const slirp4netns = '/usr/bin/slirp4netns'
// With --enable-sandbox, slirp4netns as root detaches its mounts without making them private: shared mounts of the
// host, such as those of a container engine, would be unmounted for all.
const slirpCommand = [...(process.getuid?.() === 0 ? ['/usr/bin/unshare', '--mount', '--'] : []), slirp4netns]
const ipCommand = ['/usr/sbin/ip', '/sbin/ip', '/usr/bin/ip', '/bin/ip'].find(existsSync)
const tunDevice = '/dev/net/tun'
const interfaceName = 'tap0'

export const resolverFile = fileURLToPath(new URL('./resolv.conf', import.meta.url))

export const slirpProblem = (): string | undefined => {
  if (!existsSync(slirp4netns)) return 'slirp4netns is missing'
  if (ipCommand === undefined) return 'ip (iproute2) is missing'
  try {
    accessSync(tunDevice, constants.R_OK | constants.W_OK)
  } catch {
    return `${tunDevice} isn't accessible`
  }
  return undefined
}

/** Sets up outbound access. Call before any command runs in the devbox. */
export const openOutbound = async (
  launches: NetworkLaunches,
  network: Network,
  privateNetwork: boolean,
  report: (sentence: string) => void,
): Promise<Outbound> => {
  if (network === 'none') return { environment: {}, end: async () => undefined }
  if (network !== 'public') return startEgress(launches, { hostnames: network.hostnames, privateNetwork }, report)
  let problem = slirpProblem()
  if (problem === undefined) {
    try {
      return await startSlirp(launches, { privateNetwork }, report)
    } catch (error) {
      problem = `slirp4netns doesn't work on this host: ${(error as Error).message}`
    }
  }
  return {
    ...(await startEgress(launches, { privateNetwork }, report)),
    notEnforced: `Network: outbound goes through an HTTP proxy only (${problem})`,
  }
}

const options = [
  ...['--configure', '--mtu=65520', '--disable-host-loopback', '--enable-sandbox', '--enable-seccomp'],
  ...['--exit-fd=3', '--ready-fd=4', '--netns-type=path'],
]

// slirp4netns is a user-space TCP/IP stack. Blocked addresses get no route; the devbox can't change routes.
const startSlirp = async (
  launches: NetworkLaunches,
  rules: Rules,
  report: (sentence: string) => void,
): Promise<Outbound> => {
  const start = async () => {
    const child = spawnIn(launches.onHostNetwork([...slirpCommand, ...options, launches.path, interfaceName]), {
      stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'],
      detached: true,
    })
    child.once('error', () => undefined)
    const errorOutput = text(child.stderr as Readable).catch(() => '')
    const [, , , exit, ready] = child.stdio as (Readable | Writable | null)[]
    for (const pipe of [exit, ready]) pipe?.on('error', () => undefined)
    const isReady = await Promise.race([
      once(ready as Readable, 'data').then(() => true),
      once(child, 'exit').then(() => false),
    ])
    if (!isReady) throw new Error((await errorOutput).trim().split('\n').at(-1) || 'it exited')
    return child
  }
  const lost = () => report('Network lost: slirp4netns could not be restarted')
  const blocksMulticast = await blockAddresses(launches, blockedIpv4(rules))
  const { end } = await keepRunning(start, lost)
  if (blocksMulticast) return { environment: {}, end }
  return { environment: {}, notEnforced: 'Network: multicast to the local network is not blocked', end }
}

const blockAddresses = async (launches: NetworkLaunches, networks: readonly string[]): Promise<boolean> => {
  const routes = networks.map((network) => `route replace unreachable ${network}\n`).join('')
  const policy = 'xfrm policy add dst 224.0.0.0/3 dir out action block\n'
  try {
    await runIp(launches.inNetwork, routes + policy)
    return true
  } catch {
    // The kernel lacks xfrm policies; add the routes alone.
    await runIp(launches.inNetwork, routes)
    return false
  }
}

/** Runs lines of `ip` commands. */
export const runIp = async (inNetwork: NetworkLaunches['inNetwork'], batch: string): Promise<void> => {
  const child = spawnIn(inNetwork([ipCommand ?? 'ip', '-batch', '-']), {
    stdio: ['pipe', 'ignore', 'pipe'],
    detached: true,
  })
  child.stdin?.on('error', () => undefined).end(batch)
  const [errorOutput, [code]] = await Promise.all([text(child.stderr as Readable), once(child, 'exit')])
  if (code !== 0) throw new Error(`ip: ${errorOutput.trim() || code}`)
}

/** Fixed, because restored shells keep the address in their environment. */
export const proxyPort = 31_280
const maxReported = 1000
const listenInside = fileURLToPath(new URL('./listen-inside.ts', import.meta.url))
const egressProxy = fileURLToPath(new URL('./egress-proxy.ts', import.meta.url))

const startEgress = async (
  launches: NetworkLaunches,
  rules: Rules,
  report: (sentence: string) => void,
): Promise<Outbound> => {
  const { file, args } = launches.inNetwork([process.execPath, listenInside, String(proxyPort)])
  const { end } = await startProxy(launches.unprivileged, { listen: { file, args }, rules }, report)
  return { environment: proxyVariables(`http://127.0.0.1:${proxyPort}`), end }
}

export interface HttpProxy extends Pick<Outbound, 'end'> {
  /** Passes a connection to a proxy that doesn't listen. */
  serve(socket: Socket): void
}

/** Reports each blocked target once. */
export const startProxy = async (
  launch: NetworkLaunches['unprivileged'],
  config: ProxyConfig,
  report: (sentence: string) => void,
): Promise<HttpProxy> => {
  const reported = new Set<string>()
  let current: ChildProcess | undefined
  const start = async () => {
    const child = spawnIn(launch([process.execPath, egressProxy]), {
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      detached: true,
    })
    child.once('error', () => undefined)
    const listening = new Promise<void>((resolve, reject) => {
      child.on('message', (message: ProxyMessage) => {
        if ('listening' in message) return resolve()
        if (reported.has(message.blocked) || reported.size >= maxReported) return
        reported.add(message.blocked)
        report(`Blocked: ${message.blocked}`)
      })
      child.once('exit', () => reject(new Error('The network proxy exited')))
    })
    child.send(config, () => undefined)
    await listening
    current = child
    return child
  }
  const { end } = await keepRunning(start, () => report('Network lost: the proxy could not be restarted'))
  const serve = (socket: Socket) => {
    if (!current?.connected) return void socket.destroy()
    current.send('connection', socket, (error) => error && socket.destroy())
  }
  return { end, serve }
}

/** Variables that npm, pip, git, curl and Node read. Loopback is excluded. */
export const proxyVariables = (url: string): Record<string, string> => ({
  ...Object.fromEntries(['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'].flatMap((name) => both(name, url))),
  ...Object.fromEntries(both('NO_PROXY', 'localhost,127.0.0.1,::1')),
  npm_config_proxy: url,
  npm_config_https_proxy: url,
  NODE_USE_ENV_PROXY: '1',
})

const both = (name: string, value: string) => [
  [name, value],
  [name.toLowerCase(), value],
]

const restartDelayMs = 500

/** Restarts a process until `end` is called. Rejects if the first start fails; calls `onLost` if a later one does. */
const keepRunning = async (start: () => Promise<ChildProcess>, onLost: () => void): Promise<Pick<Outbound, 'end'>> => {
  let isEnded = false
  let child = await start()
  const superviseChild = async () => {
    while (!isEnded) {
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
      if (!isEnded) await delay(restartDelayMs, undefined, { ref: false })
      if (isEnded) return
      child = await start()
      if (isEnded) child.kill('SIGKILL')
    }
  }
  superviseChild().catch(() => isEnded || onLost())
  return {
    async end() {
      isEnded = true
      if (child.kill('SIGKILL')) await once(child, 'exit')
    },
  }
}
