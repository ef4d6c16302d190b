import { connect, type Socket } from 'node:net'

/** Tries IPv6 if IPv4 fails: a server on `localhost` may listen on only one. With `paused`, reads nothing. */
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
