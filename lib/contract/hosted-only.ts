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

/** Operations of the hosted service that the local service does not implement: it returns 501 with an alternative, not 404. */
export const hostedOnly = defineEndpoints('hostedOnly', 'stable', {
  createSshKey: credential('POST', '/v1/devboxes/:id/create_ssh_key'),
  createGatewayToken: credential('POST', '/v1/devboxes/:id/create_gateway_token'),
  createMcpToken: credential('POST', '/v1/devboxes/:id/create_mcp_token'),
  createApiKey: credential('POST', '/v1/apikeys'),
  createRestrictedKey: credential('POST', '/v1/restricted_keys'),
  listBlueprints: operation('GET', '/v1/blueprints'),
  listPublicBlueprints: operation('GET', '/v1/blueprints/list_public'),
  previewBlueprint: operation('POST', '/v1/blueprints/preview'),
  createBlueprint: operation('POST', '/v1/blueprints'),
  getBlueprint: operation('GET', '/v1/blueprints/:id'),
  deleteBlueprint: operation('POST', '/v1/blueprints/:id/delete'),
  blueprintLogs: operation('GET', '/v1/blueprints/:id/logs'),
  listAgents: operation('GET', '/v1/agents'),
  listPublicAgents: operation('GET', '/v1/agents/list_public'),
  countAgentDevboxes: operation('GET', '/v1/agents/devbox_counts'),
  createAgent: operation('POST', '/v1/agents'),
  getAgent: operation('GET', '/v1/agents/:id'),
  deleteAgent: operation('POST', '/v1/agents/:id/delete'),
  listObjects: operation('GET', '/v1/objects'),
  listPublicObjects: operation('GET', '/v1/objects/list_public'),
  createObject: operation('POST', '/v1/objects'),
  getObject: operation('GET', '/v1/objects/:id'),
  completeObject: operation('POST', '/v1/objects/:id/complete'),
  downloadObject: operation('GET', '/v1/objects/:id/download'),
  deleteObject: operation('POST', '/v1/objects/:id/delete'),
  listGatewayConfigs: operation('GET', '/v1/gateway-configs'),
  createGatewayConfig: operation('POST', '/v1/gateway-configs'),
  getGatewayConfig: operation('GET', '/v1/gateway-configs/:id'),
  updateGatewayConfig: operation('POST', '/v1/gateway-configs/:id'),
  deleteGatewayConfig: operation('POST', '/v1/gateway-configs/:id/delete'),
  listMcpConfigs: operation('GET', '/v1/mcp-configs'),
  createMcpConfig: operation('POST', '/v1/mcp-configs'),
  getMcpConfig: operation('GET', '/v1/mcp-configs/:id'),
  updateMcpConfig: operation('POST', '/v1/mcp-configs/:id'),
  deleteMcpConfig: operation('POST', '/v1/mcp-configs/:id/delete'),
})
