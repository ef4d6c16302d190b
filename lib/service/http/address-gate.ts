import type { IncomingMessage } from 'node:http'
import { ServiceError } from '#lib/service/kit/errors.ts'

/**
 * Refuses requests a web page could have caused: those under a foreign name (DNS rebinding) and those with an
 * `Origin`. No page is ever served from here, so every origin is foreign, and no CORS header is ever sent.
 */
export const createAddressGate = (
  host: string,
  allowHosts: readonly string[],
  /** Other names the service may be called by. */
  isAllowed: (request: IncomingMessage) => boolean,
) => {
  let allowed: { port: number | undefined; authorities: ReadonlySet<string> } | undefined
  return (request: IncomingMessage) => {
    const port = request.socket.localPort
    if (!allowed || allowed.port !== port) allowed = { port, authorities: allowedAuthorities(port, host, allowHosts) }
    const authority = authorityOf(request)
    if (authority === undefined || !(allowed.authorities.has(authority.toLowerCase()) || isAllowed(request)))
      throw new ServiceError('forbidden', 'This name of the service is not allowed; start it with --allow-host')
    if (request.headers.origin !== undefined)
      throw new ServiceError('forbidden', 'Requests of web pages (with an Origin header) are not allowed')
  }
}

/**
 * The values of `Host` that name this service. An entry without a port stands for the name with the service's own port
 * and for the bare name, as a proxy on a default port sends it.
 */
const allowedAuthorities = (port: number | undefined, host: string, allowHosts: readonly string[]): Set<string> => {
  const authorities = new Set(
    ownNames(host).flatMap((name) => (port === 80 ? [name, `${name}:80`] : [`${name}:${port}`])),
  )
  for (const entry of allowHosts.map((each) => each.toLowerCase())) {
    authorities.add(entry)
    if (!/:\d+$/.test(entry)) authorities.add(`${entry}:${port}`)
  }
  return authorities
}

/** A host as it is written in front of a port. */
export const bracketed = (host: string) => (host.includes(':') ? `[${host.toLowerCase()}]` : host.toLowerCase())

export const isWildcard = (host: string) => host === '0.0.0.0' || host === '::'

/** The names of the service itself, without a port. */
export const ownNames = (host: string): string[] => [
  ...['127.0.0.1', 'localhost', '[::1]'],
  ...(isWildcard(host) ? [] : [bracketed(host)]),
]

/** The name that the request was sent to; undefined when it gives none or several. */
export const authorityOf = (request: IncomingMessage): string | undefined => {
  const given: string[] = []
  for (let i = 0; i < request.rawHeaders.length; i += 2) {
    const name = request.rawHeaders[i]?.toLowerCase()
    if (name === 'host' || name === ':authority') given.push(request.rawHeaders[i + 1] ?? '')
  }
  return given.every((each) => each === given[0]) && (given.length === 1 || request.httpVersionMajor === 2)
    ? given[0]
    : undefined
}
