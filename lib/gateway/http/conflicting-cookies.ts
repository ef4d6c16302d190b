import type { Duplex } from 'node:stream'
import { cookieValues, sessionCookieName } from './cookies.ts'
import type { ReadHeader } from './origin.ts'
import { endSocket } from './sockets.ts'

/** More than browsers keep per host. Next takes seconds for thousands of cookies. */
const maxCookies = 200

// Cookies are shared between ports, so another server on this host can set a second session cookie, or so many that
// no request fits.
export const hasConflictingCookies = (header: ReadHeader): boolean => {
  const count = (header('cookie') ?? '').split(';').length
  return count > maxCookies || cookieValues(header, sessionCookieName(header)).length > 1
}

/** Clears this host's cookies; ours individually, for browsers without Clear-Site-Data. */
export const clearingHeaders = (header: ReadHeader, path: string): [string, string | string[]][] => {
  const parts = path.split('?', 1)[0]?.split('/').slice(1, 12).filter(Boolean) ?? []
  const folders = ['/', ...parts.map((_, i) => `/${parts.slice(0, i + 1).join('/')}`)]
  const safe = folders.filter((folder) => /^[\w/%.~-]+$/.test(folder))
  const name = sessionCookieName(header)
  const both = safe.flatMap((folder) => (folder === '/' ? [folder] : [folder, `${folder}/`]))
  return [
    ['clear-site-data', '"cookies"'],
    ['set-cookie', both.map((at) => `${name}=; Path=${at}; Max-Age=0${name.startsWith('__Host-') ? '; Secure' : ''}`)],
  ]
}

export const troubleTitle = 'Conflicting cookies'
export const troubleText =
  "Another server on this host set cookies that conflict with this console's. They have been cleared. Reload the page and sign in."

/** A static page for light and dark themes. */
export const troublePage = (): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Cookies cleared · Devdeck</title><style>:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:34rem;margin:15vh auto;padding:0 1rem}</style></head><body><main><h1>${troubleTitle}</h1><p role="alert">${troubleText}</p><p><a href="/">Go to the overview</a></p></main></body></html>`

// Handles `clientError`. Oversized headers get a response that clears cookies, but only if cookies caused it: a link
// with a long URL must not sign anyone out.
export const onClientError = (error: NodeJS.ErrnoException & { rawPacket?: Buffer }, socket: Duplex): void => {
  if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy()
  const isTooLong = error.code === 'HPE_HEADER_OVERFLOW'
  const status = isTooLong
    ? '431 Request Header Fields Too Large'
    : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
      ? '408 Request Timeout'
      : '400 Bad Request'
  const clears = isTooLong && isOfCookies(String(error.rawPacket?.toString('latin1') ?? ''))
  const body = clears ? troublePage() : ''
  endSocket(
    socket,
    `HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: ${Buffer.byteLength(body)}\r\ncache-control: no-store\r\nx-content-type-options: nosniff\r\nx-frame-options: DENY\r\n` +
      `${clears ? `content-type: text/html; charset=utf-8\r\ncontent-security-policy: default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'\r\nclear-site-data: "cookies"\r\n` : ''}\r\n${body}`,
  )
}

/** A URL contains neither spaces nor cookies. */
const isOfCookies = (packet: string): boolean => {
  const cookies =
    packet.split('\r\n').find((line) => /^cookie:/i.test(line)) ?? packet.slice(packet.lastIndexOf('\n') + 1)
  return cookies.length > 4096 && /; ?[^\s;=]+=/.test(cookies) && !/^\w+ \S{4096}/.test(packet)
}
