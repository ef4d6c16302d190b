import { once } from 'node:events'
import { accessSync, constants, existsSync } from 'node:fs'
import type { Readable, Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { type Network, spawnIn } from '../engine.ts'
import { startEgress } from './egress.ts'
import type { Ground, Outbound } from './ground.ts'
import { keptUp } from './kept-up.ts'
import { type Rules, refusedIpv4 } from './rules.ts'

const slirp4netns = '/usr/bin/slirp4netns'
const ipCommand = ['/usr/sbin/ip', '/sbin/ip', '/usr/bin/ip', '/bin/ip'].find(existsSync)
const tunDevice = '/dev/net/tun'
const interfaceName = 'tap0'

/** The resolver that a devbox has: that of the stack of slirp4netns, which asks the machine's. */
export const resolverFile = fileURLToPath(new URL('./resolv.conf', import.meta.url))

/** Why devboxes have no network of their own but a proxy on this machine; undefined when they have. */
export const slirpProblem = (): string | undefined => {
  if (!existsSync(slirp4netns)) return 'slirp4netns is missing'
  if (ipCommand === undefined) return 'ip (iproute2) is missing'
  try {
    accessSync(tunDevice, constants.R_OK | constants.W_OK)
  } catch {
    return `${tunDevice} cannot be used`
  }
  return undefined
}

/** Gives a devbox, none of whose commands may run yet, the way out that its network is to have. */
export const openOutbound = async (
  ground: Ground,
  network: Network,
  privateNetwork: boolean,
  tell: (sentence: string) => void,
): Promise<Outbound> => {
  if (network === 'none') return { environment: {}, end: () => undefined }
  if (network !== 'public') return startEgress(ground, { hostnames: network.hostnames, privateNetwork }, tell)
  let problem = slirpProblem()
  if (problem === undefined) {
    try {
      return await startSlirp(ground, { privateNetwork }, tell)
    } catch (error) {
      problem = `slirp4netns does not work here: ${(error as Error).message}`
    }
  }
  return {
    ...(await startEgress(ground, { privateNetwork }, tell)),
    notEnforced: `Network: outbound goes through an HTTP proxy only (${problem})`,
  }
}

const options = [
  ...['--configure', '--mtu=65520', '--disable-host-loopback', '--enable-sandbox', '--enable-seccomp'],
  ...['--exit-fd=3', '--ready-fd=4', '--netns-type=path'],
]

/**
 * A TCP/IP stack in a process of this user. It would connect to whatever the machine reaches; what must not be reached
 * has no route in the devbox's network, where nobody in the devbox may change one. A socket that is bound to the
 * interface goes past the routes: there nobody answers for such an address, and for groups there is a policy.
 */
const startSlirp = async (ground: Ground, rules: Rules, tell: (sentence: string) => void): Promise<Outbound> => {
  const start = async () => {
    const child = spawnIn(ground.beside([slirp4netns, ...options, ground.path, interfaceName]), {
      stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'],
      detached: true,
    })
    child.once('error', () => undefined)
    const complaint = text(child.stderr as Readable).catch(() => '')
    const [, , , exit, ready] = child.stdio as (Readable | Writable | null)[]
    for (const pipe of [exit, ready]) pipe?.on('error', () => undefined)
    const isReady = await Promise.race([
      once(ready as Readable, 'data').then(() => true),
      once(child, 'exit').then(() => false),
    ])
    if (!isReady) throw new Error((await complaint).trim().split('\n').at(-1) || 'it ended')
    ground.spare(child.pid ?? 0)
    return child
  }
  const lost = () => tell('Its network is lost: slirp4netns could not be started again')
  const [process, barred] = await Promise.allSettled([keptUp(start, lost), bar(ground, refusedIpv4(rules))])
  if (process.status === 'rejected') throw process.reason
  const { end } = process.value
  if (barred.status === 'rejected') {
    end()
    throw barred.reason
  }
  return {
    environment: {},
    ...(!barred.value && { notEnforced: 'Network: groups of neighbours can be sent to, by multicast' }),
    end,
  }
}

/** Resolves to whether groups are refused to sockets that are bound to the interface as well. */
const bar = async (ground: Ground, networks: readonly string[]): Promise<boolean> => {
  const routes = networks.map((network) => `route replace unreachable ${network}\n`).join('')
  const policy = 'xfrm policy add dst 224.0.0.0/3 dir out action block\n'
  const run = async (batch: string) => {
    const child = spawnIn(ground.onNetwork([ipCommand ?? 'ip', '-batch', '-']), {
      stdio: ['pipe', 'ignore', 'pipe'],
      detached: true,
    })
    child.stdin?.on('error', () => undefined).end(batch)
    const [complaint, [code]] = await Promise.all([text(child.stderr as Readable), once(child, 'exit')])
    if (code !== 0) throw new Error(`ip: ${complaint.trim() || code}`)
  }
  try {
    await run(routes + policy)
    return true
  } catch {
    // A kernel without such policies has done the routes, which are repeated to be sure.
    await run(routes)
    return false
  }
}
