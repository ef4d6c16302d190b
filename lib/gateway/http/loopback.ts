import { once } from 'node:events'
import { createServer, type Server as NetServer, type Socket } from 'node:net'

// Also listens on the other loopback address: otherwise localhost might reach another program there, which would
// receive our cookies. Undefined if there is no such address; rejects if its port is taken.
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
