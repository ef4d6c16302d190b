import type { WebSocket } from 'ws'
import type { Endpoint, EndpointInput, EndpointResult } from '#lib/contract/endpoint.ts'

/** What every handler gets besides its decoded input. */
export interface Caller {
  account: string
  /** The one record that the credential is good for; absent: all of the account. */
  scope?: string
  /** Aborted when the key that was used is revoked; absent for keys that cannot be. */
  revoked?: AbortSignal
  requestId: string
  /**
   * Aborted when the client disconnects before the answer is complete. A handler whose wait it cuts short throws its
   * reason: what it would return is no answer to the call.
   */
  signal: AbortSignal
  /** Adds a header to a successful answer, that of an upgrade too. */
  setHeader(name: string, value: string): void
}

/** Bytes are JSON already: what the database or a process put together is sent as it is, without a detour over objects. */
type Result<E extends Endpoint> = E['response']['kind'] extends 'json'
  ? EndpointResult<E> | Uint8Array | Promise<EndpointResult<E> | Uint8Array>
  : E['response']['kind'] extends 'events'
    ? AsyncIterable<EndpointResult<E>> | Promise<AsyncIterable<EndpointResult<E>>>
    : E['response']['kind'] extends 'bytes'
      ? AsyncIterable<Uint8Array> | Promise<AsyncIterable<Uint8Array>>
      : // The refusal of an upgrade is thrown before; what is returned takes over the open socket.
        ((socket: WebSocket) => void) | Promise<(socket: WebSocket) => void>

export type Handler<E extends Endpoint> = (input: EndpointInput<E> & Caller) => Result<E>

/** Stands in a route table where the operation is in the contract but its handler is not written yet: 501. */
export const notImplemented = Symbol('not implemented')

export interface Route {
  endpoint: Endpoint
  handler: Handler<Endpoint> | typeof notImplemented
}

/** The routes of one resource; a missing or an extra handler does not compile. */
export const implement = <R extends Record<string, Endpoint>>(
  resource: R,
  handlers: { [O in keyof R]: Handler<R[O]> | typeof notImplemented },
): Route[] =>
  Object.entries(resource).map(([operation, endpoint]) => ({
    endpoint,
    handler: handlers[operation] as unknown as Route['handler'],
  }))
