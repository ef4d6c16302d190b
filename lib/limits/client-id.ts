import { isIPv6 } from 'node:net'

/** Identifies a client for limits: its IPv4 address or its IPv6 /64 network (RFC 4291, section 2.5.4). */
export const clientId = (address: string): string => {
  if (!isIPv6(address) || address.includes('.')) return address
  const [before, after] = address.replace(/%.*$/, '').split('::').map(groupsOf)
  const first = before ?? []
  const gap = after ? Array<number>(8 - first.length - after.length).fill(0) : []
  const network = [...first, ...gap, ...(after ?? [])].slice(0, 4)
  return `${network.map((group) => group.toString(16)).join(':')}::/64`
}

const groupsOf = (part: string): number[] =>
  part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16))
