import type { IncomingMessage } from 'node:http'
import { ServiceError } from '#lib/service/kit/errors.ts'

/** Rejects requests that a web page could cause: unknown host names (DNS rebinding) and any `Origin`. */
export const createHostCheck = (
  host: string,
  allowHosts: readonly string[],
  isAllowed: (request: IncomingMessage) => boolean,
) => {
  return (request: IncomingMessage) => {
    const authorities = allowedAuthorities(request.socket.localPort, host, allowHosts)
    const authority = authorityOf(request)
    if (authority === undefined || !(authorities.has(authority.toLowerCase()) || isAllowed(request)))
      throw new ServiceError('forbidden', 'This host name is not allowed; add it with --allow-host')
    if (request.headers.origin !== undefined)
      throw new ServiceError('forbidden', 'Requests from web pages (with an Origin header) are not allowed')
  }
}

// An entry without a port matches the service's port and, for proxies on a default port, no port.
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

export const bracketed = (host: string) => (host.includes(':') ? `[${host.toLowerCase()}]` : host.toLowerCase())

export const isWildcard = (host: string) => host === '0.0.0.0' || host === '::'

export const ownNames = (host: string): string[] => [
  ...['127.0.0.1', 'localhost', '[::1]'],
  ...(isWildcard(host) ? [] : [bracketed(host)]),
]

export const originOf = (request: IncomingMessage): string =>
  `${request.headers['x-forwarded-proto'] === 'https' ? 'https' : 'http'}://${authorityOf(request)}`

export const authorityOf = (request: IncomingMessage): string | undefined => {
  const values: string[] = []
  for (let i = 0; i < request.rawHeaders.length; i += 2) {
    const name = request.rawHeaders[i]?.toLowerCase()
    if (name === 'host' || name === ':authority') values.push(request.rawHeaders[i + 1] ?? '')
  }
  return values.every((each) => each === values[0]) && (values.length === 1 || request.httpVersionMajor === 2)
    ? values[0]
    : undefined
}
