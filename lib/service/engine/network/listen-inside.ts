import { createServer } from 'node:net'

/** Runs inside a devbox's network: listens, passes the server back, and exits. */
const server = createServer().listen(Number(process.argv[2]), '127.0.0.1', () => {
  process.send?.('listening', server, {}, () => process.exit())
})
