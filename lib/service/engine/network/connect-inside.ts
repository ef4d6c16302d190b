import type { Socket } from 'node:net'
import type { Reply } from './connector.ts'
import { connectToLoopback } from './loopback.ts'

process.on('message', ({ request, port }: { request: number; port: number }) => {
  const send = (reply: Reply, socket?: Socket) => process.send?.(reply, socket)
  // Paused, because bytes read here would be lost.
  connectToLoopback(port, { paused: true }).then(
    (socket) => send({ request }, socket),
    ({ code }: NodeJS.ErrnoException) => send({ request, errorCode: code ?? 'ECONNREFUSED' }),
  )
})
