import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { WebSocketServer } from 'ws'
import { startConsole } from '#lib/gateway/testing.ts'

/**
 * One side of `bench/evictions.ts` in its own process, so that its usage can be measured: the console, or a minimal
 * fan-out of an event stream to WebSockets.
 */
export interface Use {
  cpuMicros: number
  /** Heap after a collection; the resident set depends on the collector. */
  memoryBytes: number
}

const [side, serviceUrl = ''] = process.argv.slice(2)

const bare = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const pages = new WebSocketServer({ server, perMessageDeflate: false })
  const upstream = await fetch(`${serviceUrl}/v1/devboxes/evictions/watch`)
  void (async () => {
    let text = ''
    for await (const bytes of upstream.body ?? []) {
      text += Buffer.from(bytes)
      for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
        const data = /^data: (.*)$/m.exec(text.slice(0, end))?.[1]
        text = text.slice(end + 2)
        if (!data) continue
        const frame = JSON.stringify({ t: 'data', items: [JSON.parse(data)] })
        for (const page of pages.clients) page.send(frame)
      }
    }
    // The service has stopped at the end of the bench.
  })().catch(() => undefined)
  return (server.address() as AddressInfo).port
}

const port = side === 'bare' ? await bare() : Number(new URL((await startConsole({ url: serviceUrl })).url).port)
process.on('message', () => {
  globalThis.gc?.()
  const { user, system } = process.cpuUsage()
  process.send?.({ cpuMicros: user + system, memoryBytes: process.memoryUsage().heapUsed } satisfies Use)
})
process.on('disconnect', () => process.exit())
process.send?.({ port })
