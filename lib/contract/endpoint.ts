import type * as z from 'zod/mini'

type Schema = z.ZodMiniType
export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

export interface JsonResponse<S extends Schema = Schema> {
  kind: 'json'
  schema: S
}
export interface EventsResponse<S extends Schema = Schema> {
  kind: 'events'
  schema: S
}
export interface BytesResponse {
  kind: 'bytes'
  contentType: string
}
export interface WebSocketResponse {
  kind: 'websocket'
}

export const json = <S extends Schema>(schema: S): JsonResponse<S> => ({ kind: 'json', schema })
export const events = <S extends Schema>(schema: S): EventsResponse<S> => ({ kind: 'events', schema })
export const bytes = (contentType: string): BytesResponse => ({ kind: 'bytes', contentType })
export const webSocket: WebSocketResponse = { kind: 'websocket' }

type Stability = 'stable' | 'beta' | 'deprecated'

export interface Endpoint {
  id: string
  method: Method
  /** `:name` is one percent-decoded path segment. */
  path: string
  aliases?: readonly string[]
  params?: Schema
  query?: Schema
  body?: Schema
  /** Default: JSON. `multipart`: form data with the fields of `body` and one part named `file`. `binary`: any bytes. */
  bodyFormat?: 'multipart' | 'binary'
  /** Larger bodies, or files of a form, get 413. Default: `defaultMaxBodyBytes`. */
  maxBodyBytes?: number
  response: JsonResponse | EventsResponse | BytesResponse | WebSocketResponse
  stability: Stability
  /** `local`: offered by the local service only and not used by console pages. */
  scope?: 'local'
  isPublic?: true
  operator?: true
  /** The response holds a credential, which the console never passes to a browser. */
  returnsCredential?: true
}

export const defaultMaxBodyBytes = 1024 * 1024

/** Unspecified: limit for scripts and small files. The public client allows 1.3 MB files; JSON escapes take up to 6 times that. */
export const maxScriptBodyBytes = 8 * 1024 * 1024

/** A form adds boundaries, headers and fields to the `maxBodyBytes` of its file. */
export const bodyLimit = ({ bodyFormat, maxBodyBytes = defaultMaxBodyBytes }: Endpoint): number =>
  bodyFormat === 'multipart' ? maxBodyBytes + maxFormEnvelopeBytes : maxBodyBytes

export const maxFormEnvelopeBytes = 256 * 1024

type Operation = Omit<Endpoint, 'id' | 'stability'> & Partial<Pick<Endpoint, 'stability'>>
type Named<O> = { readonly [K in keyof O]: Pick<Endpoint, 'id' | 'stability'> & O[K] }

type Options = Omit<Operation, 'method' | 'path' | 'response'>

const operation =
  <M extends Method>(method: M) =>
  <const R extends Endpoint['response'], const O extends Options = Record<never, never>>(
    path: string,
    response: R,
    options: O = {} as O,
  ) => ({ method, path, response, ...options })

export const get = operation('GET')
export const post = operation('POST')
export const put = operation('PUT')
export const del = operation('DELETE')

export const defineEndpoints = <const O extends Record<string, Operation>>(
  resource: string,
  stability: Stability,
  operations: O,
): Named<O> =>
  Object.fromEntries(
    Object.entries(operations).map(([name, operation]) => [
      name,
      { id: `${resource}.${name}`, stability, ...operation },
    ]),
  ) as Named<O>

type Output<S> = S extends Schema ? z.output<S> : Record<never, never>
type Input<S> = S extends Schema ? z.input<S> : Record<never, never>

export type EndpointInput<E extends Endpoint> = {
  params: E extends { params: infer S } ? Output<S> : Record<never, never>
  query: E extends { query: infer S } ? Output<S> : Record<never, never>
  body: E extends { body: infer S } ? Output<S> : Record<never, never>
} & (E extends { bodyFormat: 'multipart' | 'binary' } ? { file: AsyncIterable<Uint8Array> } : unknown)

type Part<Name extends string, E, S> = E extends { [K in Name]: S }
  ? Record<never, never> extends Input<E[Name]>
    ? { [K in Name]?: Input<E[Name]> }
    : { [K in Name]: Input<E[Name]> }
  : Record<never, never>

export type EndpointCall<E extends Endpoint> = Part<'params', E, Schema> &
  Part<'query', E, Schema> &
  Part<'body', E, Schema> &
  (E extends { bodyFormat: 'multipart' } ? { file: Blob } : unknown)

export type EndpointResult<E extends Endpoint> = E['response'] extends { schema: infer S extends Schema }
  ? z.output<S>
  : never

export const fillPath = (path: string, params: Record<string, unknown> = {}): string =>
  path.replace(/:([a-z_]+)/g, (_, name: string) => {
    const value = params[name]
    if (typeof value !== 'string' || value === '') throw new TypeError(`${path} needs ${name}`)
    return encodeURIComponent(value)
  })

export interface RouteMatch<E extends Endpoint> {
  match?: { endpoint: E; params: Record<string, string | undefined> }
  allow?: string[]
}

/** Fixed segments take precedence over parameters. A segment that failed to decode (undefined) matches parameters only. */
export const createMatcher = <E extends Endpoint>(endpoints: readonly E[]) => {
  const patterns = endpoints.flatMap((endpoint) =>
    [endpoint.path, ...(endpoint.aliases ?? [])].map((each) => ({ endpoint, segments: each.slice(1).split('/') })),
  )
  patterns.sort((a, b) => bySpecificity(a.segments, b.segments))

  return (method: string | undefined, path: readonly (string | undefined)[]): RouteMatch<E> => {
    const candidates = patterns.filter(({ segments }) => matches(segments, path))
    const chosen = candidates.find(({ endpoint }) => endpoint.method === method)
    if (chosen) return { match: { endpoint: chosen.endpoint, params: readParams(chosen.segments, path) } }
    return candidates.length > 0 ? { allow: [...new Set(candidates.map(({ endpoint }) => endpoint.method))] } : {}
  }
}

const isParam = (segment: string) => segment.startsWith(':')

const matches = (segments: readonly string[], path: readonly (string | undefined)[]) =>
  segments.length === path.length && segments.every((segment, i) => isParam(segment) || segment === path[i])

const readParams = (segments: readonly string[], path: readonly (string | undefined)[]) =>
  Object.fromEntries(segments.flatMap((segment, i) => (isParam(segment) ? [[segment.slice(1), path[i]]] : [])))

// Comparing lengths first keeps the order transitive.
const bySpecificity = (a: readonly string[], b: readonly string[]): number => {
  if (a.length !== b.length) return a.length - b.length
  for (let i = 0; i < a.length; i++) {
    const difference = Number(isParam(a[i] ?? '')) - Number(isParam(b[i] ?? ''))
    if (difference !== 0) return difference
  }
  return 0
}
