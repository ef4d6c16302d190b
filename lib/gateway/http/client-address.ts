import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { registry } from '../registry/registry.ts'

/** The client's address, from X-Forwarded-For where the sender is a proxy that TRUST_PROXY names. */
export const clientAddress = ({ socket, headers }: Pick<IncomingMessage, 'socket' | 'headers'>): string => {
  const { isTrustedProxy } = registry().config
  const forwarded = String(headers['x-forwarded-for'] ?? '').split(',')
  let address = plain(socket.remoteAddress ?? 'unknown')
  for (let hop = 0; forwarded.length > 0 && isTrustedProxy(address, hop); hop++) {
    const next = plain(forwarded.pop()?.trim() ?? '')
    if (isIP(next) === 0) break
    address = next
  }
  return address
}

/** Strips the IPv6 prefix of IPv4 clients. */
const plain = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '')
