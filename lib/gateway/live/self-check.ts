import { accounts } from '#lib/contract/accounts.ts'
import { Health, health } from '#lib/contract/health.ts'
import { type ConnectionView, checkSocketPath, checkStreamPauseMs } from '#lib/protocol/connection.ts'
import packageJson from '../../../package.json' with { type: 'json' }
import { requireCaller, requireSignedIn } from '../accounts/session-cookie.ts'
import { sessionView } from '../accounts/sign-in.ts'
import type { KeyHolder } from '../accounts/types.ts'
import { HttpError, handleRequest, json } from '../http/handle-request.ts'
import type { SocketRoute } from '../http/upgrades.ts'
import { registry, slot } from '../registry/registry.ts'
import { lacks } from '../support/service-support.ts'
import { bearer, unreachable } from '../upstream/client.ts'

const answerMs = 5_000
const maxRemembered = 1_000
const strippedUpgrades = slot('strippedUpgrades', () => new Map<string, number>())
const maxSocketMs = 10_000
const maxWordBytes = 64

/** `GET /api/connection`; `POST` checks that writes get through. */
export const connectionView = (request: Request): Promise<Response> =>
  handleRequest(request, async () => {
    const session = await requireCaller(request, request.method === 'GET' ? 'read' : 'write')
    const { api_key } = session
    const view: ConnectionView = {
      ...sessionView(session),
      key_tail: api_key.length < 16 ? '' : api_key.slice(-4),
      console_version: packageJson.version,
      upstream: await askService(session),
      stripped_upgrades: strippedUpgrades().get(session.sid) ?? 0,
    }
    return json(view)
  })

/** `GET /api/connection/stream`: two events with a pause, to detect buffering. */
export const checkStream = (request: Request): Promise<Response> =>
  handleRequest(request, async () => {
    await requireCaller(request, 'read')
    const encoder = new TextEncoder()
    let timer: NodeJS.Timeout
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(encoder.encode('data: first\n\n'))
        timer = setTimeout(() => {
          controller.enqueue(encoder.encode('data: last\n\n'))
          controller.close()
        }, checkStreamPauseMs)
      },
      cancel: () => clearTimeout(timer),
    })
    return new Response(body, {
      headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-store, no-transform' },
    })
  })

export const checkSocket: SocketRoute = {
  path: new RegExp(`^${checkSocketPath}$`),
  admit: async ({ header }) => {
    await requireSignedIn(header)
    return (socket) => {
      const timer = setTimeout(() => socket.terminate(), maxSocketMs)
      socket.on('message', (word: Buffer, isBinary) => {
        if (word.length > maxWordBytes) socket.close(1009)
        else socket.send(word, { binary: isBinary })
      })
      socket.once('close', () => clearTimeout(timer))
    }
  },
}

// Responds to plain requests on WebSocket paths. If the browser meant to upgrade, an intermediary removed the header:
// counted for the session's self-check.
export const plainRequest = (request: Request): Promise<Response> =>
  handleRequest(request, async () => {
    const { headers } = request
    const session = await requireCaller(request, 'read')
    if (headers.has('sec-websocket-key') || headers.get('sec-fetch-mode') === 'websocket') {
      const counts = strippedUpgrades()
      if (counts.size >= maxRemembered) counts.clear()
      counts.set(session.sid, (counts.get(session.sid) ?? 0) + 1)
    }
    throw new HttpError('invalid_argument', 'This path requires a WebSocket', { headers: { upgrade: 'websocket' } })
  })

const askService = async (holder: KeyHolder): Promise<ConnectionView['upstream']> => {
  const url = registry().service.url()
  const ask = (path: string, headers: Record<string, string> = {}) =>
    fetch(url + path, { headers, redirect: 'manual', cache: 'no-store', signal: AbortSignal.timeout(answerMs) })
  const startedMs = performance.now()
  try {
    const version = lacks(holder, health.check)
      ? null
      : ask(health.check.path)
          .then(async (response) => Health.safeParse(await response.json()).data?.version ?? null)
          .catch(() => null)
    const answer = await ask(accounts.me.path, { ...bearer(holder.api_key), accept: 'application/json' })
    const tookMs = performance.now() - startedMs
    await answer.body?.cancel()
    const { status } = answer
    if (status === 401 || status === 403)
      return { problem: 'key-refused', detail: `The service responded with ${status} to this key` }
    // A compatible service may have no accounts and says so in JSON.
    if (!/json/.test(answer.headers.get('content-type') ?? ''))
      return { problem: 'not-a-service', detail: `The server at ${url} did not return JSON (status ${status})` }
    if (status >= 500 && status !== 501)
      return { problem: 'away', detail: `The service at ${url} responded with ${status}` }
    return { took_ms: tookMs, version: await version }
  } catch (error) {
    if (error instanceof Error && error.name === 'TimeoutError')
      return {
        problem: 'frozen',
        detail: `The service at ${url} did not respond within ${answerMs / 1000} s`,
      }
    const detail = unreachable(url, error)
    return { problem: /certificate|TLS/.test(detail) ? 'tls' : 'away', detail }
  }
}
