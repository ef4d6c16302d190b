import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'

export type EngineLine = Awaited<ReturnType<typeof openEngineLine>>

/** A TCP connection to the engine in a folder, which can be cut. */
export const openEngineLine = async (folder: string) => {
  const sockets = new Set<Socket>()
  let isCut = false
  let holding: { request: RegExp; side: 'request' | 'response'; take(go: () => void): void } | undefined
  const server: Server = createServer((near) => {
    if (isCut) return void near.destroy()
    const far = connect(join(folder, 'docker.sock'))
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from.on('error', () => undefined).on('end', () => to.end()))
      from.on('close', () => sockets.delete(from))
      from.on('close', () => to.destroy())
    }
    let request = ''
    const pass = (from: Socket, to: Socket, side: 'request' | 'response') =>
      from.on('data', (chunk) => {
        if (side === 'request') request = /^[A-Z]+ \S+/.exec(chunk.toString('latin1'))?.[0] ?? ''
        if (side !== holding?.side || !holding.request.test(request)) return void to.write(chunk)
        const { take } = holding
        holding = undefined
        from.pause()
        take(() => {
          to.write(chunk)
          from.resume()
        })
      })
    pass(near, far, 'request')
    pass(far, near, 'response')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `tcp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Holds the next request whose method and path match, or its response. */
    hold(request: RegExp, side: 'request' | 'response') {
      const held = Promise.withResolvers<void>()
      let go: () => void = () => undefined
      holding = {
        request,
        side,
        take(next) {
          go = next
          held.resolve()
        },
      }
      return { held: held.promise, release: () => go() }
    },
    cut({ stays = false } = {}) {
      isCut = stays
      for (const socket of sockets) socket.destroy()
    },
    restore() {
      isCut = false
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
