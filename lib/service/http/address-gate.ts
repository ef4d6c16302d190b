import type { IncomingMessage } from 'node:http'
import { ServiceError } from '#lib/service/kit/errors.ts'

/**
 * Refuses requests a web page could have caused: those under a foreign name (DNS rebinding) and those with an
 * `Origin`. No page is ever served from here, so every origin is foreign, and no CORS header is ever sent.
 */
export const createAddressGate = (
  host: string,
  allowHosts: readonly string[],
  isPtyTunnel: (key: string) => boolean = () => false,
) => {
  const tunnelHostOf = createTunnelHosts(host, allowHosts)
  let allowed: { port: number | undefined; authorities: ReadonlySet<string> } | undefined
  return (request: IncomingMessage) => {
    const port = request.socket.localPort
    if (!allowed || allowed.port !== port) allowed = { port, authorities: allowedAuthorities(port, host, allowHosts) }
    const authority = authorityOf(request)
    const tunnel = tunnelHostOf(request)
    // The public clients reach the terminals under such a name; it says no more than the token that comes with it.
    const isPty = tunnel?.port === ptyPort && isPtyTunnel(tunnel.key) && request.url?.startsWith('/pty/')
    if (authority === undefined || !(isPty || allowed.authorities.has(authority.toLowerCase())))
      throw new ServiceError('forbidden', 'This name of the service is not allowed; start it with --allow-host')
    if (request.headers.origin !== undefined)
      throw new ServiceError('forbidden', 'Requests of web pages (with an Origin header) are not allowed')
  }
}

/** The port the public clients name when they mean the terminals of a devbox. */
const ptyPort = 13

export interface TunnelHost {
  port: number
  key: string
}

/**
 * Reads `{port}-{key}.tunnel.{name}`, where the name is one of the service's, on whichever port: a proxy in front may
 * have another. Of a name that begins with `api.` the public clients leave that out.
 */
export const createTunnelHosts = (host: string, allowHosts: readonly string[]) => {
  const own = ['127.0.0.1', 'localhost', '[::1]', ...(isWildcard(host) ? [] : [bracketed(host)]), ...allowHosts]
  const names = new Set(
    own.map((each) =>
      each
        .toLowerCase()
        .replace(/:\d+$/, '')
        .replace(/^api\./, ''),
    ),
  )
  return (request: IncomingMessage): TunnelHost | undefined => {
    const [, port, key, name] = /^(\d{1,5})-([\w-]+)\.tunnel\.(.+?)(?::\d+)?$/i.exec(authorityOf(request) ?? '') ?? []
    if (key === undefined || name === undefined || !names.has(name.toLowerCase())) return undefined
    return { port: Number(port), key: key.toLowerCase() }
  }
}

/**
 * The values of `Host` that name this service. An entry without a port stands for the name with the service's own port
 * and for the bare name, as a proxy on a default port sends it.
 */
const allowedAuthorities = (port: number | undefined, host: string, allowHosts: readonly string[]): Set<string> => {
  const own = ['127.0.0.1', 'localhost', '[::1]', ...(isWildcard(host) ? [] : [bracketed(host)])]
  const authorities = new Set(own.flatMap((name) => (port === 80 ? [name, `${name}:80`] : [`${name}:${port}`])))
  for (const entry of allowHosts.map((each) => each.toLowerCase())) {
    authorities.add(entry)
    if (!/:\d+$/.test(entry)) authorities.add(`${entry}:${port}`)
  }
  return authorities
}

/** A host as it is written in front of a port. */
export const bracketed = (host: string) => (host.includes(':') ? `[${host.toLowerCase()}]` : host.toLowerCase())

export const isWildcard = (host: string) => host === '0.0.0.0' || host === '::'

/** The one name the request gives the service; undefined when it gives none or several. */
const authorityOf = (request: IncomingMessage): string | undefined => {
  const given: string[] = []
  for (let i = 0; i < request.rawHeaders.length; i += 2) {
    const name = request.rawHeaders[i]?.toLowerCase()
    if (name === 'host' || name === ':authority') given.push(request.rawHeaders[i + 1] ?? '')
  }
  return given.every((each) => each === given[0]) && (given.length === 1 || request.httpVersionMajor === 2)
    ? given[0]
    : undefined
}
