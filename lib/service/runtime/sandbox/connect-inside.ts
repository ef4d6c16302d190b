import { connect } from 'node:net'
import type { Answer } from './own-network.ts'

/** Run on a devbox's network by `own-network.ts`: connects on request and hands over each socket. */
process.on('message', ({ request, port }: { request: number; port: number }) => {
  const send = (answer: Answer, handle?: typeof socket) => process.send?.(answer, handle)
  const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true })
  // Read here, a first word of the server's would stay here.
  socket.pause()
  const onError = ({ code }: NodeJS.ErrnoException) => send({ request, problem: code ?? 'ECONNREFUSED' })
  socket.once('error', onError)
  socket.once('connect', () => {
    socket.off('error', onError)
    send({ request }, socket)
  })
})
