import type { IncomingMessage } from 'node:http'
import { defaultMaxBodyBytes, type Endpoint } from '#lib/contract/endpoint.ts'
import { fieldProblems, parseQuery } from '#lib/contract/query-string.ts'
import { invalid, ServiceError } from '#lib/service/kit/errors.ts'
import type { Authenticate, Identity } from './auth.ts'
import { readJsonBody } from './body.ts'
import { markKnown } from './connection-limit.ts'
import { type Caller, notImplemented } from './implement.ts'
import { type Form, readForm } from './multipart.ts'
import { parseParams, type Router } from './router.ts'

export interface Admission {
  router: Router
  authenticate: Authenticate
  /** Throws 403 for requests under a foreign name or of a web page. */
  checkAddress: (request: IncomingMessage) => void
  /** Where an uploaded file waits whose place is not known yet. */
  spoolFolder: string
}

/** A request that passed every check. */
interface Admitted {
  endpoint: Endpoint
  identity: Identity
  /** What the caller sent, decoded; without the file of a form. */
  input: object
  /** Runs the handler on the decoded input. */
  call: (rest: Pick<Caller, 'signal' | 'setHeader'>) => Promise<unknown>
}

const nobody: Identity = { account: '' }

/** The checks before a handler runs, in their order; throws the first refusal. */
export const admit = async (
  request: IncomingMessage,
  requestId: string,
  { router, authenticate, checkAddress, spoolFolder }: Admission,
): Promise<Admitted> => {
  checkAddress(request)
  const method = request.method ?? ''
  const { match, allow } = router(method, request.url ?? '')
  // Before the address is judged: without a key, unknown and known addresses are answered alike.
  const identity = match?.route.endpoint.isPublic ? nobody : await authenticate(request, match)
  if (identity !== nobody) markKnown(request)
  if (allow)
    throw new ServiceError('method_not_allowed', `${method} is not allowed here, only ${allow.join(', ')}`, { allow })
  if (!match) throw new ServiceError('not_found', 'There is nothing at this address')
  const { endpoint, handler } = match.route
  const params = parseParams(match)
  const query = parseSearch(endpoint, match.search)
  if (handler === notImplemented)
    throw new ServiceError('not_implemented', `${endpoint.id} is not implemented by this service yet`, {
      shouldRetry: false,
    })
  const { body, form } = await readBody(endpoint, request, spoolFolder)
  const { protocol: _, ...who } = identity
  const caller = { ...who, requestId }
  return {
    endpoint,
    identity,
    input: { params, query, body },
    call: async (rest) => {
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
