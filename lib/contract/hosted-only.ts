import * as z from 'zod/mini'
import { ById } from './common.ts'
import { defineEndpoints, json, type Method } from './endpoint.ts'

const Anything = z.looseObject({})

const operation = (method: Method, path: string) => ({
  method,
  path,
  ...(path.includes(':id') ? { params: ById } : {}),
  ...(method === 'GET' ? {} : { body: Anything }),
  response: json(Anything),
})

const credential = (method: Method, path: string) => ({ ...operation(method, path), returnsCredential: true }) as const

const resource = (name: string, path: string) => ({
  [`list${name}s`]: operation('GET', path),
  [`create${name}`]: operation('POST', path),
  [`get${name}`]: operation('GET', `${path}/:id`),
  [`delete${name}`]: operation('POST', `${path}/:id/delete`),
})

/** Operations of the hosted service that the local service does not implement: it returns 501 with an alternative, not 404. */
export const hostedOnly = defineEndpoints('hostedOnly', 'stable', {
  createSshKey: credential('POST', '/v1/devboxes/:id/create_ssh_key'),
  createGatewayToken: credential('POST', '/v1/devboxes/:id/create_gateway_token'),
  createMcpToken: credential('POST', '/v1/devboxes/:id/create_mcp_token'),
  ...resource('Blueprint', '/v1/blueprints'),
  listPublicBlueprints: operation('GET', '/v1/blueprints/list_public'),
  previewBlueprint: operation('POST', '/v1/blueprints/preview'),
  blueprintLogs: operation('GET', '/v1/blueprints/:id/logs'),
})
