import { registry } from '../registry/registry.ts'
import { HttpError } from './handle-request.ts'

/** Reads a header of a web request and of a Node request alike. */
export type ReadHeader = (name: string) => string | null | undefined

/** The origin a request was sent to, by its Host header; undefined when that is none of ours. */
export const originOfHost = (host: string | null | undefined): string | undefined =>
  host ? registry().origins.get(host.toLowerCase()) : undefined

/** Whether the request came to us over https, as far as its Host tells. */
export const isSecure = (header: ReadHeader): boolean => originOfHost(header('host'))?.startsWith('https:') === true

/** The path and query of an address within this console, fit for a header; of any other address the front page. */
export const sameOriginPath = (address: string | null): string => {
  const base = 'http://console'
  const url = URL.parse(address ?? '/', base)
  const path = url?.origin === base ? url.href.slice(base.length) : '/'
  // `/.//host` would leave this origin.
  return path.startsWith('//') ? '/' : path
}

const isOwnOrigin = (origin: string): boolean => [...registry().origins.values()].includes(origin)

type RequestKind = 'read' | 'stream' | 'write' | 'socket'

/** Refuses what another site's page may have sent with our cookie. */
export const requireSameOrigin = (header: ReadHeader, kind: RequestKind): void => {
  if (isCrossOrigin(header, kind)) throw new HttpError('forbidden', 'Only a page of this console may ask for this')
}

/**
 * Whether another site's page may have sent it. Ports share a site, so `SameSite` does not keep a page on another local
 * port out; the browser's own account of where a request came from does.
 */
export const isCrossOrigin = (header: ReadHeader, kind: RequestKind): boolean => {
  const origin = header('origin') ?? undefined
  const site = header('sec-fetch-site') ?? undefined
  // `null` is what sandboxed and opaque documents send: foreign, like any other origin that is not ours.
  if (origin !== undefined && !isOwnOrigin(origin)) return true
  switch (kind) {
    case 'write':
      return site !== undefined ? site !== 'same-origin' || origin === undefined : origin === undefined
    case 'socket':
      return origin === undefined || (site !== undefined && site !== 'same-origin')
    case 'stream':
      // A page of another site always sends one of these headers; a tool that sends neither is no such page.
      return site !== undefined && site !== 'same-origin'
    case 'read':
      // `none` is a typed address, `same-site` another port of this host.
      return site !== undefined && site !== 'same-origin' && site !== 'none'
  }
}
