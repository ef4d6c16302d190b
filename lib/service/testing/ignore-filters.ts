import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Proxies the service at `url` but drops list filters, like a service that does not support them. */
export const ignoreFilters = async (url: string) => {
  const supported = ['limit', 'starting_after', 'include_total_count']
  const server = createServer((incoming, outgoing) => {
    const target = new URL(incoming.url ?? '/', url)
    if (incoming.method === 'GET')
      for (const name of [...target.searchParams.keys()])
        if (!supported.includes(name)) target.searchParams.delete(name)
    const { method, headers } = incoming
    const forwarded = request(target, { method, headers: { ...headers, host: target.host } }, (response) => {
      outgoing.writeHead(response.statusCode ?? 502, response.headers)
      response.pipe(outgoing)
    })
    forwarded.on('error', () => outgoing.destroy())
    outgoing.on('close', () => forwarded.destroy())
    incoming.pipe(forwarded)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
