import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'

type Upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => void
export const terminalUpgrades =
  (_others?: (...args: Parameters<Upgrade>) => unknown): Upgrade =>
  (_request, socket) => {
    socket.destroy()
  }
