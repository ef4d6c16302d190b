import type * as z from 'zod/mini'

type Schema = z.ZodMiniType
export type Method = 'GET' | 'POST' | 'DELETE'

export interface JsonResponse<S extends Schema = Schema> {
  kind: 'json'
  schema: S
}
/** Server-sent events: one JSON document per `data:` field, each of this schema. */
export interface EventsResponse<S extends Schema = Schema> {
  kind: 'events'
  schema: S
}
export interface BytesResponse {
  kind: 'bytes'
  contentType: string
}
/** An HTTP upgrade; what flows afterwards is described beside the endpoint. */
export interface WebSocketResponse {
  kind: 'websocket'
}

export const json = <S extends Schema>(schema: S): JsonResponse<S> => ({ kind: 'json', schema })
export const events = <S extends Schema>(schema: S): EventsResponse<S> => ({ kind: 'events', schema })
export const bytes = (contentType: string): BytesResponse => ({ kind: 'bytes', contentType })
export const webSocket: WebSocketResponse = { kind: 'websocket' }

type Stability = 'stable' | 'beta' | 'deprecated'

export interface Endpoint {
  /** `resource.operation`, the same words as in `contract.resource.operation`. */
  id: string
  method: Method
  /** `:name` stands for one percent-decoded path segment. */
  path: string
  /** Other addresses of the same operation, with the same parameters. */
  aliases?: readonly string[]
  params?: Schema
  query?: Schema
  /** An absent body reads as `{}`. */
  body?: Schema
  /** Absent: JSON. `multipart`: form data whose text parts are `body` and whose one file part is named `file`. */
  bodyFormat?: 'multipart'
  /** Larger bodies, of forms larger files, are refused with 413; absent: `defaultMaxBodyBytes`. */
  maxBodyBytes?: number
  response: JsonResponse | EventsResponse | BytesResponse | WebSocketResponse
  stability: Stability
  /** `local`: an operator's call that only the local service knows; no console page depends on it. */
  scope?: 'local'
  /** `true`: answered without a key. */
  open?: true
  /** Takes the operator's token instead of an account's key: it is about every account's devboxes. */
  operator?: true
  /** The answer is a credential. The console uses it on its server and never passes it to a browser. */
  answersCredential?: true
}

export const defaultMaxBodyBytes = 1024 * 1024

/**
 * Unspecified: the largest body that carries scripts or small files: the public client allows files of 1.3 MB for a
 * devbox, which JSON may write in up to six times as many bytes.
 */
export const maxScriptBodyBytes = 8 * 1024 * 1024

/** The largest body of a call: for a form, `maxBodyBytes` of file and what boundaries, headers and text parts add. */
export const bodyLimit = ({ bodyFormat, maxBodyBytes = defaultMaxBodyBytes }: Endpoint): number =>
  bodyFormat === 'multipart' ? maxBodyBytes + maxFormEnvelopeBytes : maxBodyBytes

export const maxFormEnvelopeBytes = 256 * 1024

type Operation = Omit<Endpoint, 'id' | 'stability'> & Partial<Pick<Endpoint, 'stability'>>
type Named<O> = { readonly [K in keyof O]: Pick<Endpoint, 'id' | 'stability'> & O[K] }

/** The endpoints of a resource by the names of its operations; `stability` is that of each which does not say. */
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

/** What a handler receives: decoded, with defaults filled in. */
export type EndpointInput<E extends Endpoint> = {
  params: E extends { params: infer S } ? Output<S> : Record<never, never>
  query: E extends { query: infer S } ? Output<S> : Record<never, never>
  body: E extends { body: infer S } ? Output<S> : Record<never, never>
} & (E extends { bodyFormat: 'multipart' } ? { file: AsyncIterable<Uint8Array> } : unknown)

type Part<Name extends string, E, S> = E extends { [K in Name]: S }
  ? Record<never, never> extends Input<E[Name]>
    ? { [K in Name]?: Input<E[Name]> }
    : { [K in Name]: Input<E[Name]> }
  : Record<never, never>

/** What a caller gives: params, query and body, each optional when nothing in it is required. */
export type EndpointCall<E extends Endpoint> = Part<'params', E, Schema> &
  Part<'query', E, Schema> &
  Part<'body', E, Schema> &
  (E extends { bodyFormat: 'multipart' } ? { file: Blob } : unknown)

/** The JSON document, or the JSON of one event. */
export type EndpointAnswer<E extends Endpoint> = E['response'] extends { schema: infer S extends Schema }
  ? z.output<S>
  : never

/** The path of a call, its parameters percent-encoded. Throws a TypeError when one is missing or empty. */
export const fillPath = (path: string, params: Record<string, unknown> = {}): string =>
  path.replace(/:([a-z_]+)/g, (_, name: string) => {
    const value = params[name]
    if (typeof value !== 'string' || value === '') throw new TypeError(`${path} needs ${name}`)
    return encodeURIComponent(value)
  })

export interface Found<E extends Endpoint> {
  match?: { endpoint: E; params: Record<string, string | undefined> }
  /** The methods of this path when it is known, but not under the one asked for. */
  allow?: string[]
}

/**
 * The inverse of `fillPath`: finds the endpoint of a method and the decoded segments of a path. Nothing is normalised,
 * and what could not be decoded (undefined) fits parameters only. Fixed segments win over parameters.
 */
export const createMatcher = <E extends Endpoint>(endpoints: readonly E[]) => {
  const patterns = endpoints.flatMap((endpoint) =>
    [endpoint.path, ...(endpoint.aliases ?? [])].map((path) => ({ endpoint, segments: path.slice(1).split('/') })),
  )
  patterns.sort((a, b) => bySpecificity(a.segments, b.segments))

  return (method: string | undefined, given: readonly (string | undefined)[]): Found<E> => {
    const fitting = patterns.filter(({ segments }) => fits(segments, given))
    const chosen = fitting.find(({ endpoint }) => endpoint.method === method)
    if (chosen) return { match: { endpoint: chosen.endpoint, params: readParams(chosen.segments, given) } }
    return fitting.length > 0 ? { allow: [...new Set(fitting.map(({ endpoint }) => endpoint.method))] } : {}
  }
}

const isParam = (segment: string) => segment.startsWith(':')

const fits = (segments: readonly string[], given: readonly (string | undefined)[]) =>
  segments.length === given.length && segments.every((segment, i) => isParam(segment) || segment === given[i])

const readParams = (segments: readonly string[], given: readonly (string | undefined)[]) =>
  Object.fromEntries(segments.flatMap((segment, i) => (isParam(segment) ? [[segment.slice(1), given[i]]] : [])))

// Lengths first: without them patterns of different lengths would count as equal, and equal to what lies between.
const bySpecificity = (a: readonly string[], b: readonly string[]): number => {
  if (a.length !== b.length) return a.length - b.length
  for (let i = 0; i < a.length; i++) {
    const difference = Number(isParam(a[i] ?? '')) - Number(isParam(b[i] ?? ''))
    if (difference !== 0) return difference
  }
  return 0
}
