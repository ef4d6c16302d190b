import { BlockList, isIP } from 'node:net'
import { networkInterfaces } from 'node:os'

export interface Rules {
  /** Allowed host names; a leading `*.` matches any subdomain. Default: all. */
  hostnames?: readonly string[]
  privateNetwork: boolean
  /** Addresses and networks that are blocked in any case. */
  blocked?: readonly string[]
}

/** Always blocked: loopback, multicast and reserved addresses. */
const neverIpv4 = ['0.0.0.0/8', '127.0.0.0/8', '224.0.0.0/4', '240.0.0.0/4']
// Apart from ff00::/8, these ranges embed IPv4 addresses, which would need a second check.
const neverIpv6 = [
  '::/96',
  'ff00::/8',
  '::ffff:0:0/96',
  '64:ff9b::/96',
  '64:ff9b:1::/48',
  '2001::/32',
  '2002::/16',
  '::ffff:0:0:0/96',
]
/** Link-local includes the metadata service of most clouds. */
const privateIpv4 = [
  ...['10.0.0.0/8', '100.64.0.0/10', '169.254.0.0/16', '172.16.0.0/12', '192.168.0.0/16'],
  // Metadata services of Oracle Cloud and Azure.
  ...['192.0.0.0/24', '168.63.129.16/32'],
]
const privateIpv6 = ['fc00::/7', 'fe80::/10', 'fec0::/10']

export const blockedIpv4 = ({ privateNetwork }: Rules): string[] => [
  ...new Set([
    ...neverIpv4,
    ...(privateNetwork ? [] : privateIpv4),
    ...ownAddresses()
      .filter((address) => isIP(address) === 4)
      .map((address) => `${address}/32`),
  ]),
]

/** Reads the host's own addresses on each call, since they may change. */
export const isReachable = (address: string, { privateNetwork, blocked: more = [] }: Rules): boolean => {
  const version = isIP(address)
  if (version === 0) return false
  const family = version === 4 ? 'ipv4' : 'ipv6'
  const [never, privateNetworks] = version === 4 ? [neverIpv4, privateIpv4] : [neverIpv6, privateIpv6]
  const blocked = new BlockList()
  for (const network of [...never, ...(privateNetwork ? [] : privateNetworks), ...more, ...ownAddresses()]) {
    const [first = '', bits = version === 4 ? 32 : 128] = network.split('/')
    if (isIP(first) === version) blocked.addSubnet(first, Number(bits), family)
  }
  return !blocked.check(address, family)
}

export const allowsName = (name: string, { hostnames }: Rules): boolean => {
  const requested = normalize(name)
  return (
    hostnames === undefined ||
    hostnames
      .map(normalize)
      .some((allowed) => (allowed.startsWith('*.') ? isBelow(requested, allowed.slice(1)) : requested === allowed))
  )
}

const isBelow = (name: string, suffix: string) => name.endsWith(suffix) && name.length > suffix.length
const normalize = (name: string) => name.toLowerCase().replace(/\.$/, '')

/** Addresses of this host's interfaces. */
export const ownAddresses = (): string[] =>
  Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address.replace(/%.*$/, '')))
