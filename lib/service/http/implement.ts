import type { WebSocket } from 'ws'
import type { Endpoint, EndpointInput, EndpointResult } from '#lib/contract/endpoint.ts'

export interface Caller {
  account: string
  scope?: string
  keyId?: string
  revoked?: AbortSignal
  requestId: string
  /** Base URL by which the client reached the service. */
  origin: string
  // Aborted when the client disconnects early. A handler that stops waiting must throw the signal's reason.
  signal: AbortSignal
  setHeader(name: string, value: string): void
  ifNoneMatch: string | undefined
}

/** A JSON result that sends 304 without a body. */
export const notModified = Symbol('not modified')

/** `Uint8Array` results are JSON already and sent as is. */
type Result<E extends Endpoint> = E['response']['kind'] extends 'json'
  ? EndpointResult<E> | Uint8Array | typeof notModified | Promise<EndpointResult<E> | Uint8Array>
  : E['response']['kind'] extends 'events'
    ? AsyncIterable<EndpointResult<E>> | Promise<AsyncIterable<EndpointResult<E>>>
    : E['response']['kind'] extends 'bytes'
      ? AsyncIterable<Uint8Array> | Promise<AsyncIterable<Uint8Array>>
      : // Errors are thrown before the upgrade; the returned function takes over the socket.
        ((socket: WebSocket) => void) | Promise<(socket: WebSocket) => void>

export type Handler<E extends Endpoint> = (input: EndpointInput<E> & Caller) => Result<E>

export const notImplemented = Symbol('not implemented')

export interface Route {
  endpoint: Endpoint
  handler: Handler<Endpoint> | typeof notImplemented
}

export const implement = <R extends Record<string, Endpoint>>(
  resource: R,
  handlers: { [O in keyof R]: Handler<R[O]> | typeof notImplemented },
): Route[] =>
  Object.entries(resource).map(([operation, endpoint]) => ({
    endpoint,
    handler: handlers[operation] as unknown as Route['handler'],
  }))
