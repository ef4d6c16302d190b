import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * A free port for programs that do not support port 0. Below Linux's ephemeral range, so that no connection takes it before
 * the program does.
 */
export const freePort = async (): Promise<number> => {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 12_000)
    const server = createServer().listen(port, '127.0.0.1')
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    )
    if (!isFree) continue
    server.close()
    await once(server, 'close')
    return port
  }
}
