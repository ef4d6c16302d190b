import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { registry } from '../registry/registry.ts'
import { currentStore } from './current-store.ts'

export const peerHeader = 'x-devdeck-peer'
export const peerClientHeader = 'x-devdeck-peer-client'

/** Shows that a request comes from another console: only they know the session secret. */
export const peerToken = (): string =>
  createHmac('sha256', registry().config.sessionSecrets[0]).update('devdeck peer').digest('base64url')

export const isFromPeer = (headers: IncomingHttpHeaders): boolean => {
  if (!currentStore()) return false
  const given = Buffer.from(String(headers[peerHeader] ?? ''))
  const expected = Buffer.from(peerToken())
  return given.length === expected.length && timingSafeEqual(given, expected)
}
