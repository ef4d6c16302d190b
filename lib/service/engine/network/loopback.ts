import { connect, type Socket } from 'node:net'

/**
 * A connection to a port of this network's own loopback. A server that was told `localhost` may listen on one of its two
 * addresses alone. Rejects with the error of the first address, an `ECONNREFUSED` when nothing listens. `paused`: nothing
 * is read before the connection is handed over.
 */
export const connectToLoopback = async (port: number, { paused = false } = {}): Promise<Socket> => {
  const dial = (host: string) =>
    new Promise<Socket>((resolve, reject) => {
      const socket = connect({ host, port })
      if (paused) socket.pause()
      socket.once('error', reject).once('connect', () => resolve(socket.off('error', reject)))
    })
  try {
    return await dial('127.0.0.1')
  } catch (error) {
    return await dial('::1').catch(() => Promise.reject(error))
  }
}
