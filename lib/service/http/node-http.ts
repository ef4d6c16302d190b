import type * as Http from 'node:http'

/**
 * `node:http` without an import of it. An import reads every export there is, and one of them is a getter that loads
 * Node's own fetch and WebSocket client: a tenth of the time that the service takes to start.
 */
export const { createServer, request, ServerResponse } = process.getBuiltinModule('node:http')
export type ServerResponse = Http.ServerResponse
