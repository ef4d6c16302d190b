import { WebSocketServer } from 'ws'

/** Echo server, run as a separate process. */
const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false })
server.on('connection', (socket, request) => {
  request.socket.setNoDelay(true)
  socket.on('message', (bytes) => socket.send(bytes))
})
server.on('listening', () => process.send?.((server.address() as { port: number }).port))
process.on('disconnect', () => process.exit())
