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

export interface Endpoint {
  /** `resource.operation`, the same words as in `contract.resource.operation`. */
  id: string
  method: Method
  /** `:name` stands for one percent-decoded path segment. */
  path: string
  params?: Schema
  query?: Schema
  /** An absent body reads as `{}`. */
  body?: Schema
  response: JsonResponse | EventsResponse | BytesResponse | WebSocketResponse
  stability: 'stable' | 'beta' | 'deprecated'
  summary: string
  /** `local`: an operator's call that only the local service knows; no console page depends on it. */
  scope?: 'local'
  /** `true`: answered without a key. */
  open?: true
  /** The answer is a credential. The console uses it on its server and never passes it to a browser. */
  answersCredential?: true
}

export const defineEndpoint = <const E extends Endpoint>(endpoint: E): E => endpoint

type Output<S> = S extends Schema ? z.output<S> : Record<never, never>
type Input<S> = S extends Schema ? z.input<S> : Record<never, never>

/** What a handler receives: decoded, with defaults filled in. */
export interface EndpointInput<E extends Endpoint> {
  params: E extends { params: infer S } ? Output<S> : Record<never, never>
  query: E extends { query: infer S } ? Output<S> : Record<never, never>
  body: E extends { body: infer S } ? Output<S> : Record<never, never>
}

type Part<Name extends string, E, S> = E extends { [K in Name]: S }
  ? Record<never, never> extends Input<E[Name]>
    ? { [K in Name]?: Input<E[Name]> }
    : { [K in Name]: Input<E[Name]> }
  : Record<never, never>

/** What a caller gives: params, query and body, each optional when nothing in it is required. */
export type EndpointCall<E extends Endpoint> = Part<'params', E, Schema> &
  Part<'query', E, Schema> &
  Part<'body', E, Schema>

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
