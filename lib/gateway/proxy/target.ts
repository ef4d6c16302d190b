import { bodyLimit, createMatcher, defaultMaxBodyBytes, type Endpoint, fillPath } from '#lib/contract/endpoint.ts'
import { endpoints } from '#lib/contract/index.ts'
import { fieldProblems } from '#lib/contract/query-string.ts'
import { HttpError, hasControlCharacters } from '../http/handle-request.ts'
import { decodeSegment } from '../http/request-guards.ts'

const prefix = '/api'
const maxQueryLength = 8192

export interface Target {
  endpoint: Endpoint
  params: Record<string, string>
  search: string
}

const offered = endpoints.filter(
  ({ path, scope, response }) => path.startsWith('/v1/') && scope !== 'local' && response.kind !== 'websocket',
)
const find = createMatcher(offered)

/** Matches the raw path, before anything decodes or normalizes it. */
export const matchTarget = (request: Request): Target => {
  const raw = request.headers.get('x-devdeck-path') ?? request.url.replace(/^https?:\/\/[^/]*/, '')
  const [, path = '', search = ''] = /^([^?]*)\??(.*)$/s.exec(raw.slice(prefix.length)) ?? []
  const { match, allow } = find(request.method, path.slice(1).split('/').map(decodeSegment))
  // Every segment was decoded, so no parameter is undefined.
  if (match) return { endpoint: match.endpoint, params: match.params as Record<string, string>, search }
  if (allow)
    throw new HttpError('method_not_allowed', `Use ${allow.join(' or ')} instead of ${request.method}`, {
      headers: { allow: allow.join(', ') },
    })
  throw new HttpError('not_found', 'The API has no such operation')
}

/** The path and query to send to the service. Throws for values it must not receive. */
export const servicePath = ({ endpoint, params, search }: Target): string =>
  fillPath(endpoint.path, checkedParams(endpoint, params)) + checkedSearch(search)

export const acceptsLargeBody = (method: string | undefined, url: string | undefined): boolean => {
  const endpoint = endpointOf(method, url)
  return endpoint !== undefined && bodyLimit(endpoint) > defaultMaxBodyBytes
}

export const acceptsForm = (method: string | undefined, url: string | undefined): boolean =>
  endpointOf(method, url)?.bodyFormat === 'multipart'

const endpointOf = (method = '', url = ''): Endpoint | undefined => {
  const [path = ''] = url.split('?', 1)
  return path.startsWith(`${prefix}/`)
    ? find(method, path.slice(prefix.length + 1).split('/')).match?.endpoint
    : undefined
}

const checkedParams = ({ params: schema }: Endpoint, params: Record<string, string>): Record<string, string> => {
  const parsed = schema?.safeParse(params)
  const [problem] = parsed?.error ? fieldProblems(parsed.error) : []
  if (problem) throw new HttpError('invalid_argument', `${problem.field} ${problem.message}`, { field: problem.field })
  // A free-text parameter (a metadata key) may contain a slash, sent encoded; a dot segment would be normalized away.
  for (const [field, value] of Object.entries(params))
    if (/^\.{1,2}$/.test(value) || hasControlCharacters(value))
      throw new HttpError('invalid_argument', `${field} must not be a dot segment or contain control characters`, {
        field,
      })
  return params
}

/** Checks only that this is a query; the service validates its content. */
const checkedSearch = (search: string): string => {
  if (search === '') return ''
  if (search.length > maxQueryLength)
    throw new HttpError('invalid_argument', `The query is longer than ${maxQueryLength} characters`)
  if (!/^[\x21-\x7e]*$/.test(search) || search.includes('#'))
    throw new HttpError('invalid_argument', 'The query is not percent-encoded correctly')
  return `?${search}`
}
