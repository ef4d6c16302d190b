import { once } from 'node:events'
import { createServer, type Server as NetServer, type Socket } from 'node:net'

/**
 * Also takes the connections of the other loopback address: what listens there under our port would be asked by
 * whoever says localhost, with our cookies. Undefined where the machine has no such address. Rejects when the port is
 * somebody else's there.
 */
export const listenOnOtherLoopback = async (
  server: { emit(event: 'connection', socket: Socket): boolean },
  host: string,
  port: number,
): Promise<NetServer | undefined> => {
  const other = { '127.0.0.1': '::1', localhost: '::1', '::1': '127.0.0.1' }[host]
  if (other === undefined) return undefined
  const beside = createServer((socket) => server.emit('connection', socket))
  beside.listen({ port, host: other, ipv6Only: other === '::1' })
  try {
    await once(beside, 'listening')
    return beside
  } catch (error) {
    if (['EADDRNOTAVAIL', 'EAFNOSUPPORT'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined
    throw error
  }
}
