import { BlockList, isIP } from 'node:net'
import { networkInterfaces } from 'node:os'

/** What lies beyond the loopback of a devbox's own network. */
export interface Rules {
  /** The only names it may call; a `*.` at the beginning of one stands for every name below it. Absent: all. */
  hostnames?: readonly string[]
  /** Whether the addresses of private networks may be called, and so the neighbours of this machine. */
  privateNetwork: boolean
}

/** Never reached: this machine under its loopback addresses, groups of machines, and what is no address. */
const neverIpv4 = ['0.0.0.0/8', '127.0.0.0/8', '224.0.0.0/4', '240.0.0.0/4']
// All but the second hold IPv4 addresses within, which would have to be judged once more.
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
/** The metadata service of most clouds is among the link-local ones. */
const privateIpv4 = [
  ...['10.0.0.0/8', '100.64.0.0/10', '169.254.0.0/16', '172.16.0.0/12', '192.168.0.0/16'],
  // Of other clouds: Oracle's among the addresses of protocols, and Azure's, which gives a machine its certificates.
  ...['192.0.0.0/24', '168.63.129.16/32'],
]
const privateIpv6 = ['fc00::/7', 'fe80::/10', 'fec0::/10']

/** IPv4 networks and addresses that a devbox does not reach. */
export const refusedIpv4 = ({ privateNetwork }: Rules): string[] => [
  ...new Set([
    ...neverIpv4,
    ...(privateNetwork ? [] : privateIpv4),
    ...ownAddresses()
      .filter((address) => isIP(address) === 4)
      .map((address) => `${address}/32`),
  ]),
]

/** Whether a devbox may be connected to an address. The machine's own may be new ones by now. */
export const isReachable = (address: string, { privateNetwork }: Rules): boolean => {
  const version = isIP(address)
  if (version === 0) return false
  const family = version === 4 ? 'ipv4' : 'ipv6'
  const [never, hidden] = version === 4 ? [neverIpv4, privateIpv4] : [neverIpv6, privateIpv6]
  const refused = new BlockList()
  for (const network of privateNetwork ? never : [...never, ...hidden]) {
    const [first = '', bits] = network.split('/')
    refused.addSubnet(first, Number(bits), family)
  }
  for (const own of ownAddresses()) if (isIP(own) === version) refused.addAddress(own, family)
  return !refused.check(address, family)
}

/** Names are the same with and without a dot at their end, and in small and capital letters. */
export const allowsName = (name: string, { hostnames }: Rules): boolean => {
  const called = plain(name)
  return (
    hostnames === undefined ||
    hostnames
      .map(plain)
      .some((allowed) => (allowed.startsWith('*.') ? isBelow(called, allowed.slice(1)) : called === allowed))
  )
}

const isBelow = (name: string, suffix: string) => name.endsWith(suffix) && name.length > suffix.length
const plain = (name: string) => name.toLowerCase().replace(/\.$/, '')

const ownAddresses = (): string[] =>
  Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address.replace(/%.*$/, '')))
