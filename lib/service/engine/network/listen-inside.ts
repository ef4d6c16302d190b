import { createServer } from 'node:net'

/** Run on a devbox's network by `egress-proxy.ts`: begins to listen there, hands that over, and ends. */
const server = createServer().listen(Number(process.argv[2]), '127.0.0.1', () => {
  process.send?.('listening', server, {}, () => process.exit())
})
