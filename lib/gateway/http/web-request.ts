import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

/** A rejected body is drained this long, so that the browser gets the response instead of a reset. */
const maxUnreadMs = 30_000

// Handles a Node request with a web handler and reads the body only as fast as the handler does. Next's own adapter
// would buffer large uploads in memory.
export const handleAsWebRequest = async (
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  handle: (request: Request) => Promise<Response>,
): Promise<void> => {
  const leaving = new AbortController()
  outgoing.once('close', () => leaving.abort())
  // `pipeline` adds seven to those of the request guards and the metrics; Node warns of a leak above ten.
  outgoing.setMaxListeners(20)
  const chunks = incoming.iterator({ destroyOnReturn: false })
  const hasBody = incoming.method !== 'GET' && incoming.method !== 'HEAD'
  const request = new Request(new URL(incoming.url ?? '/', `http://${incoming.headers.host}`), {
    method: incoming.method ?? 'GET',
    headers: new Headers(Object.entries(incoming.headers).map(([name, value]) => [name, String(value)])),
    body: hasBody ? asTaken(chunks) : null,
    signal: leaving.signal,
    duplex: 'half',
  } as RequestInit)
  const response = await handle(request)
  // A stalled body was already rejected.
  if (outgoing.headersSent || outgoing.destroyed) return void response.body?.cancel().catch(() => undefined)
  for (const [name, value] of response.headers)
    if (name === 'set-cookie') outgoing.appendHeader(name, value)
    else outgoing.setHeader(name, value)
  outgoing.writeHead(response.status)
  outgoing.flushHeaders()
  if (response.body)
    // Cut the connection on failure: a truncated response must not look complete.
    await pipeline(Readable.fromWeb(response.body as Parameters<typeof Readable.fromWeb>[0]), outgoing).catch(() =>
      outgoing.destroy(),
    )
  else outgoing.end()
  if (hasBody && !incoming.complete) await readIntoNothing(incoming, chunks)
}

const asTaken = (chunks: AsyncIterator<Uint8Array>): ReadableStream<Uint8Array> =>
  new ReadableStream(
    {
      async pull(controller) {
        const next = await chunks.next()
        if (next.done) controller.close()
        else controller.enqueue(next.value)
      },
    },
    { highWaterMark: 0 },
  )

const readIntoNothing = async (incoming: IncomingMessage, chunks: AsyncIterator<Uint8Array>): Promise<void> => {
  const timer = setTimeout(() => incoming.destroy(), maxUnreadMs)
  try {
    while (!(await chunks.next()).done);
  } catch {
    // Client disconnected.
  } finally {
    clearTimeout(timer)
  }
}
