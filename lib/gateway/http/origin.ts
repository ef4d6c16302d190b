import { registry } from '../registry/registry.ts'
import { HttpError } from './handle-request.ts'

/** Reads headers of web and Node requests alike. */
export type ReadHeader = (name: string) => string | null | undefined

/** The origin named by a Host header; undefined if it is not ours. */
export const originOfHost = (host: string | null | undefined): string | undefined =>
  host ? registry().origins.get(host.toLowerCase()) : undefined

export const isSecure = (header: ReadHeader): boolean => originOfHost(header('host'))?.startsWith('https:') === true

/** Path and query of a URL within this console; `/` for other URLs. */
export const sameOriginPath = (address: string | null): string => {
  const base = 'http://console'
  const url = URL.parse(address ?? '/', base)
  const path = url?.origin === base ? url.href.slice(base.length) : '/'
  // `/.//host` would leave this origin.
  return path.startsWith('//') ? '/' : path
}

const isOwnOrigin = (origin: string): boolean => [...registry().origins.values()].includes(origin)

type RequestKind = 'read' | 'stream' | 'write' | 'socket'

/** Other bearer tokens may come from a proxy in front of the console, and don't count. */
export const personalKeyIn = (header: ReadHeader): string | undefined =>
  /^Bearer +(dvd_.*)$/is.exec(header('authorization') ?? '')?.[1]

/** Rejects requests that another site may have sent with our cookie. With a personal key, no cookie counts. */
export const requireSameOrigin = (header: ReadHeader, kind: RequestKind): void => {
  if (personalKeyIn(header) === undefined && isCrossOrigin(header, kind))
    throw new HttpError('forbidden', 'Requests from other sites are not allowed')
}

/** Ports share a site, so SameSite does not exclude pages on other local ports. Origin and Sec-Fetch-Site do. */
export const isCrossOrigin = (header: ReadHeader, kind: RequestKind): boolean => {
  const origin = header('origin') ?? undefined
  const site = header('sec-fetch-site') ?? undefined
  // `null` comes from sandboxed documents and counts as foreign.
  if (origin !== undefined && !isOwnOrigin(origin)) return true
  switch (kind) {
    case 'write':
      return site !== undefined ? site !== 'same-origin' || origin === undefined : origin === undefined
    case 'socket':
      return origin === undefined || (site !== undefined && site !== 'same-origin')
    case 'stream':
      // Pages of other sites always send one of these headers; scripts may send neither.
      return site !== undefined && site !== 'same-origin'
    case 'read':
      // `none`: typed by the user; `same-site`: another port.
      return site !== undefined && site !== 'same-origin' && site !== 'none'
  }
}
