import { lookup } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'
import { Agent } from 'undici'

const networks4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '224.0.0.0/3',
]
/** Includes 6to4 and Teredo, which embed IPv4 addresses and are no longer in use. */
const networks6 = [
  '::/127',
  '2001::/32',
  '2002::/16',
  '64:ff9b:1::/48',
  'fc00::/7',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
]

const privateNetworks = new BlockList()
for (const network of networks6) {
  const [address = '', bits] = network.split('/')
  privateNetworks.addSubnet(address, Number(bits), 'ipv6')
}
for (const network of networks4) {
  const [address = '', bits] = network.split('/')
  privateNetworks.addSubnet(address, Number(bits), 'ipv4')
  // The same as NAT64 addresses.
  privateNetworks.addSubnet(`64:ff9b::${address}`, 96 + Number(bits), 'ipv6')
}

/** Loopback, link-local, private and other addresses that aren't on the internet. */
export const isPrivateAddress = (address: string): boolean =>
  privateNetworks.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')

/** True for the host of a URL that is a private address. Names are checked once they are resolved. */
export const isPrivateHost = (url: string): boolean => {
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '')
  return isIP(host) !== 0 && isPrivateAddress(host)
}

export const privateAddressCode = 'EPRIVATE'

/** Resolves to the addresses that are then connected to, so a name can't change between check and connection. */
const publicLookup: LookupFunction = (hostname, options, callback) =>
  lookup(hostname, { ...options, all: true }, (error, found) => {
    if (error) return callback(error, [])
    const addresses = found.filter(({ address }) => !isPrivateAddress(address))
    const [first] = addresses
    if (!first) return callback(Object.assign(new Error('private address'), { code: privateAddressCode }), [])
    if (options.all) callback(null, addresses)
    else callback(null, first.address, first.family)
  })

/** Opens a connection per request, to public addresses only. Doesn't cover addresses in URLs, see `isPrivateHost`. */
export const publicAgent = new Agent({ pipelining: 0, connect: { lookup: publicLookup } })
export const anyAgent = new Agent({ pipelining: 0 })
