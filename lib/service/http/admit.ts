import type { IncomingMessage } from 'node:http'
import type { Http2ServerRequest } from 'node:http2'
import { defaultMaxBodyBytes, type Endpoint } from '#lib/contract/endpoint.ts'
import { fieldProblems, parseQuery } from '#lib/contract/query-string.ts'
import { markAuthenticated } from '#lib/limits/connection-limit.ts'
import { invalid, ServiceError } from '#lib/service/kit/errors.ts'
import type { Authenticate, Identity } from './auth.ts'
import { readJsonBody, streamBody } from './body.ts'
import { originOf } from './host-check.ts'
import { type Caller, notImplemented } from './implement.ts'
import { type Form, readForm } from './multipart.ts'
import { parseParams, type Router } from './router.ts'

export interface Admission {
  router: Router
  authenticate: Authenticate
  checkHost: (request: IncomingMessage) => void
  spoolFolder: string
  /** Throws if the operation isn't accepted now. */
  requireAccepted?: (endpointId: string) => void
}

const anonymous: Identity = { account: '' }

export const admit = async (
  request: IncomingMessage,
  requestId: string,
  { router, authenticate, checkHost, spoolFolder, requireAccepted }: Admission,
) => {
  checkHost(request)
  const method = request.method ?? ''
  const { match, allow } = router(method, request.url ?? '')
  // Authenticate first, so clients without a key can't probe for valid paths.
  const identity = match?.route.endpoint.isPublic ? anonymous : await authenticate(request, match)
  if (identity !== anonymous) markConnectionAuthenticated(request)
  if (allow)
    throw new ServiceError('method_not_allowed', `${method} is not allowed; use ${allow.join(' or ')}`, { allow })
  if (!match) throw new ServiceError('not_found', 'Not found')
  const { endpoint, handler } = match.route
  const params = parseParams(match)
  const query = parseSearch(endpoint, match.search)
  if (handler === notImplemented)
    throw new ServiceError('not_implemented', `${endpoint.id} is not implemented by this service`, {
      shouldRetry: false,
    })
  requireAccepted?.(endpoint.id)
  const { body, form } = await readBody(endpoint, request, spoolFolder)
  try {
    // Before the body arrived, the key may have been revoked, or a stop planned.
    if (identity.revoked && endpoint.method !== 'GET') await authenticate(request, match)
    requireAccepted?.(endpoint.id)
  } catch (error) {
    await form?.discard()
    throw error
  }
  const { protocol: _, scopes: __, ...who } = identity
  const caller = { ...who, requestId, origin: originOf(request) }
  return {
    endpoint,
    identity,
    input: { params, query, body },
    call: async (rest: Pick<Caller, 'signal' | 'setHeader' | 'ifNoneMatch'>): Promise<unknown> => {
      try {
        const input = { params, query, body, ...(form && { file: form.file }), ...caller, ...rest }
        return await handler(input as Parameters<typeof handler>[0])
      } finally {
        await form?.discard()
      }
    },
  }
}

const readBody = async (
  endpoint: Endpoint,
  request: IncomingMessage,
  spoolFolder: string,
): Promise<{ body: object; form?: Form }> => {
  if (endpoint.method === 'GET') return { body: {} }
  if (endpoint.bodyFormat === 'binary')
    return { body: {}, form: { fields: {}, file: streamBody(request), discard: async () => undefined } }
  if (endpoint.bodyFormat !== 'multipart')
    return { body: parseBody(endpoint, await readJsonBody(request, endpoint.maxBodyBytes)) }
  const form = await readForm(request, {
    maxBytes: endpoint.maxBodyBytes ?? defaultMaxBodyBytes,
    isComplete: (fields) => endpoint.body?.safeParse(fields).success !== false,
    spoolFolder,
  })
  try {
    return { body: parseBody(endpoint, form.fields), form }
  } catch (error) {
    await form.discard()
    throw error
  }
}

const parseSearch = (endpoint: Endpoint, search: string): object => {
  if (!endpoint.query) return {}
  const parsed = parseQuery(endpoint.query, search)
  if (!parsed.ok) throw invalid(...parsed.problems)
  return parsed.value as object
}

const parseBody = (endpoint: Endpoint, body: unknown): object => {
  if (!endpoint.body) return {}
  const parsed = endpoint.body.safeParse(body)
  if (!parsed.success) throw invalid(...fieldProblems(parsed.error))
  return parsed.data as object
}

/** Exempts the connection from the limit on unauthenticated ones. */
export const markConnectionAuthenticated = (request: IncomingMessage): void => {
  const { stream } = request as unknown as Http2ServerRequest
  markAuthenticated((request.httpVersionMajor === 2 ? stream.session : request.socket) ?? {})
}
