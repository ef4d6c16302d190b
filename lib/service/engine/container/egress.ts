import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import type { BoxSpec } from '../box.ts'
import { markers } from '../environment.ts'
import { type HttpProxy, proxyPort, proxyVariables, startProxy } from '../network/outbound.ts'

export interface EgressProxy {
  gateway: string
  environment: Readonly<Record<string, string>>
  /** Accepts connections from the devbox's address. */
  accept(address: string): void
  end(): Promise<void>
}

type Spec = Pick<BoxSpec, 'serviceId' | 'devboxId' | 'privateNetwork'> & { hostnames: readonly string[] }

// A devbox may connect before the engine has reported its address.
const maxWaitMs = 5000
const maxWaiting = 512

/** Listens on the gateway of the internal network, with a proxy for each devbox. */
export const createEgress = () => {
  const proxies = new Map<string, HttpProxy>()
  const waiting = new Map<Socket, string>()
  let listening: { gateway: string; server: Promise<Server> } | undefined

  const route = (socket: Socket) => {
    const address = socket.remoteAddress ?? ''
    const proxy = proxies.get(address)
    if (proxy) return proxy.serve(socket)
    if (waiting.size >= maxWaiting) return socket.destroy()
    waiting.set(
      socket.on('error', () => undefined),
      address,
    )
    setTimeout(() => waiting.delete(socket) && socket.destroy(), maxWaitMs).unref()
  }

  const close = () => {
    void listening?.server.then((server) => server.close()).catch(() => undefined)
    listening = undefined
  }

  const listen = async (gateway: string): Promise<Server> => {
    const server = createServer({ pauseOnConnect: true }, route).listen(proxyPort, gateway)
    try {
      await once(server, 'listening')
      return server
    } catch (cause) {
      listening = undefined
      const { code } = cause as NodeJS.ErrnoException
      throw new Error(`the network of the container engine can't be reached from this host (${code})`, { cause })
    }
  }

  return {
    async open(spec: Spec, gateway: string, report: (sentence: string) => void): Promise<EgressProxy> {
      if (listening?.gateway !== gateway) {
        close()
        listening = { gateway, server: listen(gateway) }
      }
      await listening.server
      const { hostnames, privateNetwork } = spec
      const launch = ([file = '', ...args]: readonly string[]) => {
        return { file, args, env: { PATH: '/usr/bin:/bin', ...markers(spec) }, cwd: '/' }
      }
      const proxy = await startProxy(launch, { rules: { hostnames, privateNetwork } }, report)
      let accepted: string | undefined
      return {
        gateway,
        environment: proxyVariables(`http://${gateway}:${proxyPort}`),
        accept(address) {
          accepted = address
          proxies.set(address, proxy)
          for (const [socket, from] of waiting) if (from === address && waiting.delete(socket)) proxy.serve(socket)
        },
        end() {
          if (accepted !== undefined && proxies.get(accepted) === proxy) proxies.delete(accepted)
          return proxy.end()
        },
      }
    },
    close,
  }
}
