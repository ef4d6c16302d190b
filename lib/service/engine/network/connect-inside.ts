import type { Socket } from 'node:net'
import type { Answer } from './connector.ts'
import { connectToLoopback } from './loopback.ts'

/** Run on a devbox's network by `connector.ts`: connects on request and hands over each socket. */
process.on('message', ({ request, port }: { request: number; port: number }) => {
  const send = (answer: Answer, socket?: Socket) => process.send?.(answer, socket)
  // Paused: bytes read here would not be handed over with the socket.
  connectToLoopback(port, { paused: true }).then(
    (socket) => send({ request }, socket),
    ({ code }: NodeJS.ErrnoException) => send({ request, problem: code ?? 'ECONNREFUSED' }),
  )
})
