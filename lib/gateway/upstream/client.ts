import { Agent } from 'undici'
import { ApiError } from '#lib/client/api-error.ts'
import { type Client, createClient } from '#lib/client/client.ts'
import { errorStatus } from '#lib/contract/errors.ts'
import { HttpError } from '../http/handle-request.ts'
import { registry, slot } from '../registry/registry.ts'

type Fetch = typeof globalThis.fetch

/** Keeps connections to the service open between calls. */
export const upstreamAgent = slot('upstreamAgent', () => new Agent())

/** Called with a key whenever a call with it succeeds. */
export const keyAcceptedListeners = slot('keyAcceptedListeners', () => new Set<(apiKey: string) => void>())

export const onKeyAccepted = (apiKey: string): void => {
  for (const listener of keyAcceptedListeners()) listener(apiKey)
}

/** The contract's client for one key. Calls that take longer than `timeoutMs` fail. */
export const clientFor = (apiKey: string, timeoutMs?: number, around = (fetch: Fetch) => fetch): Client =>
  createClient({
    baseUrl: registry().service.url(),
    headers: bearer(apiKey),
    fetch: around(async (input, init) => {
      const signals = [init?.signal, timeoutMs !== undefined && AbortSignal.timeout(timeoutMs)].filter((each) => !!each)
      const response = await fetch(input, { ...init, signal: AbortSignal.any(signals) })
      if (response.ok) onKeyAccepted(apiKey)
      return response
    }),
  })

/** Unspecified: the largest list page that the server renders. The browser fetches larger ones itself. */
const maxRenderedListBytes = 1024 * 1024

/** Fails for a list page that is too large to render. Only list calls have a limit parameter. */
export const limitListSize =
  (fetch: Fetch): Fetch =>
  async (input, init) => {
    const response = await fetch(input, init)
    if (!new URL(String(input)).searchParams.has('limit') || !response.body) return response
    const chunks: Uint8Array[] = []
    let bytes = 0
    // Leaving the loop cancels the rest of the response.
    for await (const chunk of response.body) {
      bytes += chunk.length
      if (bytes > maxRenderedListBytes) throw new Error(`The list is larger than ${maxRenderedListBytes} bytes`)
      chunks.push(chunk)
    }
    return withBody(response, new Blob(chunks as Uint8Array<ArrayBuffer>[]))
  }

/** The same response with another, uncompressed body. */
export const withBody = ({ status, headers }: Response, body: BodyInit): Response => {
  const copied = new Headers(headers)
  for (const name of ['content-length', 'content-encoding']) copied.delete(name)
  return new Response(body, { status, headers: copied })
}

/** The error to return when the console's own call to the service failed. */
export const toHttpError = (error: unknown): HttpError => {
  if (!(error instanceof ApiError)) return new HttpError('unavailable', 'The service did not respond in time')
  const { code, message } = error
  return new HttpError(isErrorCode(code) ? code : 'unavailable', message)
}

const isErrorCode = (code: string): code is keyof typeof errorStatus => Object.hasOwn(errorStatus, code)

export const bearer = (key: string) => ({ authorization: `Bearer ${key}` })

/** Identifies the service a session belongs to: a key is only sent to the service it was entered for. */
export const serviceIdentity = (): string => {
  const { config, service } = registry()
  return config.serviceId ?? (service.embedded ? 'embedded' : service.url())
}

/** An account in the console's stores, which may hold accounts of several services. */
export const storedAccount = (accountId: string): string => `${serviceIdentity()} ${accountId}`

const ptyPort = 13

/** Terminals of a hosted service (`https://api.<domain>`) live under the devbox's tunnel host, others at its own address. */
export const ptyBaseUrl = (serviceUrl: string, tunnelKey: string): string => {
  const url = new URL(serviceUrl)
  const hosted = url.protocol === 'https:' && url.hostname.startsWith('api.') && url.port === '' && url.pathname === '/'
  if (!hosted) return serviceUrl
  // The key becomes part of a host name: anything but a label would let the service redirect the token elsewhere.
  if (!/^[A-Za-z0-9](?:[A-Za-z0-9-]{0,57}[A-Za-z0-9])?$/.test(tunnelKey))
    throw new Error('The service returned a tunnel key that is not a valid host name')
  return `https://${ptyPort}-${tunnelKey}.tunnel.${url.hostname.slice('api.'.length)}`
}

/** Says that the service cannot be reached, with the cause where someone can fix it. */
export const unreachable = (serviceUrl: string, error: unknown): string =>
  `Cannot reach the service at ${serviceUrl}${causeOf(errorCodes(error))}`

const errorCodes = (error: unknown): string[] => {
  if (!(error instanceof Error)) return []
  const { code } = error as { code?: unknown }
  return [...(typeof code === 'string' ? [code] : []), ...errorCodes(error.cause)]
}

const causeOf = (codes: readonly string[]): string => {
  for (const code of codes) {
    if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return ': host name not found'
    if (code === 'CERT_HAS_EXPIRED') return ': its certificate has expired'
    if (code === 'CERT_NOT_YET_VALID') return ': its certificate is not valid yet'
    if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return ': its certificate is for another host name'
    if (untrustedCodes.has(code)) return `: its certificate is not trusted (${code})`
    if (code.startsWith('ERR_SSL_')) return ': the TLS handshake failed'
  }
  return ''
}

const untrustedCodes = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
])
