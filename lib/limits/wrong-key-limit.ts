import { isIPv6 } from 'node:net'
import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible'

// Unspecified: wrong keys per client and minute. A correct key always passes, because many clients can share one
// address. Keys are too long to guess (see minKeyLength).
export const wrongKeysPerMinute = 20

/** Unspecified: minimum length of an API key; 16 random characters have about 80 bits. */
export const minKeyLength = 16

export type WrongKeyLimit = ReturnType<typeof createWrongKeyLimit>

/** Shared by the service and the console. */
export const createWrongKeyLimit = () => {
  const limiter = new RateLimiterMemory({ points: wrongKeysPerMinute, duration: 60 })
  return {
    /** Resolves to the seconds to wait, or undefined below the limit. */
    count: (address: string): Promise<number | undefined> =>
      limiter.consume(clientId(address)).then(
        () => undefined,
        ({ msBeforeNext }: RateLimiterRes) => Math.ceil(msBeforeNext / 1000),
      ),
  }
}

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
