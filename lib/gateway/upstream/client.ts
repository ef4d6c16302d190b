import { ApiError } from '#lib/client/api-error.ts'
import { type Client, createClient } from '#lib/client/client.ts'
import { errorStatus } from '#lib/contract/errors.ts'
import { HttpError } from '../http/handle-request.ts'
import { registry } from '../registry/registry.ts'

type Fetch = typeof globalThis.fetch

/** The contract's client for the service and one key. A call fails when it takes longer than `timeoutMs`. */
export const clientFor = (apiKey: string, timeoutMs?: number, around = (fetch: Fetch) => fetch): Client => {
  const send = timeoutMs === undefined ? fetch : fetchWithin(timeoutMs)
  return createClient({
    baseUrl: registry().service.url(),
    headers: bearer(apiKey),
    fetch: around(async (input, init) => {
      const response = await send(input, init)
      if (response.ok) onKeyAccepted(apiKey)
      return response
    }),
  })
}

/** A call with the key succeeded: an eviction watch that was refused or broke is retried at once. */
export const onKeyAccepted = (apiKey: string): void => {
  for (const hub of registry().evictionHubs.values()) hub.onKeyAccepted(apiKey)
}

const fetchWithin =
  (timeoutMs: number): Fetch =>
  (input, init) =>
    fetch(input, {
      ...init,
      signal: AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(init?.signal ? [init.signal] : [])]),
    })

/**
 * Unspecified: the largest page of a list that the server draws a page with. Reading and drawing a larger one would hold
 * up everybody else; the browser fetches it, through the proxy, which reads nothing.
 */
const maxDrawnListBytes = 1024 * 1024

/** Fails for a page of a list that is too large to draw. Such a call has a limit; one for a single record has none. */
export const limitListSize =
  (fetch: Fetch): Fetch =>
  async (input, init) => {
    const response = await fetch(input, init)
    if (!new URL(String(input)).searchParams.has('limit') || !response.body) return response
    const chunks: Uint8Array[] = []
    let bytes = 0
    // Leaving the loop cancels the rest of the answer.
    for await (const chunk of response.body) {
      bytes += chunk.length
      if (bytes > maxDrawnListBytes) throw new Error(`The page is larger than ${maxDrawnListBytes} bytes`)
      chunks.push(chunk)
    }
    const { status, headers } = response
    return new Response(new Blob(chunks as Uint8Array<ArrayBuffer>[]), { status, headers: withoutLength(headers) })
  }

/** The body was unpacked and put together again. */
const withoutLength = (headers: Headers): Headers => {
  const kept = new Headers(headers)
  for (const name of ['content-length', 'content-encoding']) kept.delete(name)
  return kept
}

/** The refusal with which the console answers when its own call of the service has failed. */
export const toHttpError = (error: unknown): HttpError => {
  if (!(error instanceof ApiError)) return new HttpError('unavailable', 'The service did not answer in time')
  const { code, message } = error
  return new HttpError(isErrorCode(code) ? code : 'unavailable', message)
}

const isErrorCode = (code: string): code is keyof typeof errorStatus => Object.hasOwn(errorStatus, code)

export const bearer = (key: string) => ({ authorization: `Bearer ${key}` })

/** The service a session belongs to: a key is never sent to another service than the one it was entered for. */
export const serviceIdentity = (): string => (registry().service.embedded ? 'embedded' : registry().service.url())

const ptyPort = 13

/**
 * Where the terminals of a devbox are: on a hosted service (`https://api.<domain>`) under the devbox's own tunnel
 * host, on any other service at its own address.
 */
export const ptyBaseUrl = (serviceUrl: string, tunnelKey: string): string => {
  const url = new URL(serviceUrl)
  const hosted = url.protocol === 'https:' && url.hostname.startsWith('api.') && url.port === '' && url.pathname === '/'
  if (!hosted) return serviceUrl
  // The key becomes part of a host name: anything but a label would let the service steer the token elsewhere.
  if (!/^[A-Za-z0-9](?:[A-Za-z0-9-]{0,57}[A-Za-z0-9])?$/.test(tunnelKey))
    throw new Error('The service gave a tunnel key that is no host name')
  return `https://${ptyPort}-${tunnelKey}.tunnel.${url.hostname.slice('api.'.length)}`
}
