import { once } from 'node:events'
import { createServer, type Server as NetServer, type Socket } from 'node:net'

/**
 * Takes the connections of the other loopback address as well. Otherwise a browser that opens localhost could reach
 * another program there, and would send it our cookies. Undefined where the machine has no such address. Rejects when
 * another program has the port there.
 */
export const listenOnOtherLoopback = async (
  server: { emit(event: 'connection', socket: Socket): boolean },
  host: string,
  port: number,
): Promise<NetServer | undefined> => {
  const other = { '127.0.0.1': '::1', localhost: '::1', '::1': '127.0.0.1' }[host]
  if (other === undefined) return undefined
  const listener = createServer((socket) => server.emit('connection', socket))
  listener.listen({ port, host: other, ipv6Only: other === '::1' })
  try {
    await once(listener, 'listening')
    return listener
  } catch (error) {
    if (['EADDRNOTAVAIL', 'EAFNOSUPPORT'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined
    throw error
  }
}
