/**
 * Where a port of a devbox is reached through its tunnel, or null where that has no address: names stand before the
 * service's own, and an IP address takes none. Loopback addresses are also called localhost.
 */
export const tunnelAddress = (serviceUrl: string, tunnelKey: string, port: number, path = '/'): string | null => {
  const service = URL.parse(serviceUrl)
  if (!service || !isPort(port) || !/^[\w-]+$/.test(tunnelKey)) return null
  const name = isLoopback(service.hostname) ? 'localhost' : service.hostname.replace(/^api\./, '')
  if (name.startsWith('[') || /^[\d.]+$/.test(name)) return null
  const address = URL.parse(
    `${service.protocol}//${port}-${tunnelKey}.tunnel.${name}${service.port && `:${service.port}`}`,
  )
  if (!address) return null
  // What a devbox printed behind the port must not lead to another host, as `//elsewhere` would.
  const asked = URL.parse(`http://devbox${path.startsWith('/') ? path : `/${path}`}`)
  if (asked?.host === 'devbox') {
    address.pathname = asked.pathname
    address.search = asked.search
    address.hash = asked.hash
  }
  return address.href
}

export const isPort = (port: number): boolean => Number.isInteger(port) && port >= 1 && port <= 65_535

/** Whether a name leads back to the machine that reads it. */
export const isLoopback = (hostname: string): boolean =>
  hostname === 'localhost' ||
  hostname.endsWith('.localhost') ||
  hostname === '[::1]' ||
  /^127(\.\d+){3}$/.test(hostname)
