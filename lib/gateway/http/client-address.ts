import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { registry } from '../registry/registry.ts'

/**
 * The address of the client: of the one that connected, or, where that is a proxy that TRUST_PROXY names, of the one it
 * says it speaks for. What a proxy was told by somebody who is not trusted counts for nothing.
 */
export const clientAddress = ({ socket, headers }: Pick<IncomingMessage, 'socket' | 'headers'>): string => {
  const { isTrustedProxy } = registry().config
  const told = String(headers['x-forwarded-for'] ?? '').split(',')
  let address = plain(socket.remoteAddress ?? 'unknown')
  for (let hop = 0; told.length > 0 && isTrustedProxy(address, hop); hop++) {
    const next = plain(told.pop()?.trim() ?? '')
    if (isIP(next) === 0) break
    address = next
  }
  return address
}

/** An IPv4 client of a socket that takes both. */
const plain = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '')
