/** URL of a port through the tunnel. Null if the service's address is an IP, which can't have subdomains. */
export const tunnelAddress = (serviceUrl: string, tunnelKey: string, port: number, path = '/'): string | null => {
  const service = URL.parse(serviceUrl)
  if (!service || !isPort(port) || !/^[\w-]+$/.test(tunnelKey)) return null
  const name = isLoopback(service.hostname) ? 'localhost' : service.hostname.replace(/^api\./, '')
  if (name.startsWith('[') || /^[\d.]+$/.test(name)) return null
  const address = URL.parse(
    `${service.protocol}//${port}-${tunnelKey}.tunnel.${name}${service.port && `:${service.port}`}`,
  )
  if (!address) return null
  // The path may come from devbox output and must not change the host, as `//elsewhere` would.
  const target = URL.parse(`http://devbox${path.startsWith('/') ? path : `/${path}`}`)
  if (target?.host === 'devbox') {
    address.pathname = target.pathname
    address.search = target.search
    address.hash = target.hash
  }
  return address.href
}

export const isPort = (port: number): boolean => Number.isInteger(port) && port >= 1 && port <= 65_535

export const isLoopback = (hostname: string): boolean =>
  hostname === 'localhost' ||
  hostname.endsWith('.localhost') ||
  hostname === '[::1]' ||
  /^127(\.\d+){3}$/.test(hostname)
