import * as z from 'zod/mini'
import { ById } from './common.ts'
import { defineEndpoint, json, type Method } from './endpoint.ts'

// Whatever the hosted service takes and answers; nothing here reads it.
const Anything = z.looseObject({})

const operation = <const Id extends string>(id: Id, method: Method, path: string) =>
  defineEndpoint({
    id: `hostedOnly.${id}`,
    method,
    path,
    ...(path.includes(':id') ? { params: ById } : {}),
    ...(method === 'GET' ? {} : { body: Anything }),
    response: json(Anything),
    stability: 'stable',
  })

const credential = <const Id extends string>(id: Id, method: Method, path: string) =>
  ({ ...operation(id, method, path), answersCredential: true }) as const

/**
 * What the hosted service offers and the local one never will: it has no image builder, no object store, no gateways and
 * no SSH. They stand in the contract so that the local service says so (501) instead of not knowing the address.
 */
export const hostedOnly = {
  createSshKey: credential('createSshKey', 'POST', '/v1/devboxes/:id/create_ssh_key'),
  createGatewayToken: credential('createGatewayToken', 'POST', '/v1/devboxes/:id/create_gateway_token'),
  createMcpToken: credential('createMcpToken', 'POST', '/v1/devboxes/:id/create_mcp_token'),
  createApiKey: credential('createApiKey', 'POST', '/v1/apikeys'),
  createRestrictedKey: credential('createRestrictedKey', 'POST', '/v1/restricted_keys'),
  listBlueprints: operation('listBlueprints', 'GET', '/v1/blueprints'),
  listPublicBlueprints: operation('listPublicBlueprints', 'GET', '/v1/blueprints/list_public'),
  previewBlueprint: operation('previewBlueprint', 'POST', '/v1/blueprints/preview'),
  createBlueprint: operation('createBlueprint', 'POST', '/v1/blueprints'),
  getBlueprint: operation('getBlueprint', 'GET', '/v1/blueprints/:id'),
  deleteBlueprint: operation('deleteBlueprint', 'POST', '/v1/blueprints/:id/delete'),
  blueprintLogs: operation('blueprintLogs', 'GET', '/v1/blueprints/:id/logs'),
  listAgents: operation('listAgents', 'GET', '/v1/agents'),
  listPublicAgents: operation('listPublicAgents', 'GET', '/v1/agents/list_public'),
  countAgentDevboxes: operation('countAgentDevboxes', 'GET', '/v1/agents/devbox_counts'),
  createAgent: operation('createAgent', 'POST', '/v1/agents'),
  getAgent: operation('getAgent', 'GET', '/v1/agents/:id'),
  deleteAgent: operation('deleteAgent', 'POST', '/v1/agents/:id/delete'),
  listObjects: operation('listObjects', 'GET', '/v1/objects'),
  listPublicObjects: operation('listPublicObjects', 'GET', '/v1/objects/list_public'),
  createObject: operation('createObject', 'POST', '/v1/objects'),
  getObject: operation('getObject', 'GET', '/v1/objects/:id'),
  completeObject: operation('completeObject', 'POST', '/v1/objects/:id/complete'),
  downloadObject: operation('downloadObject', 'GET', '/v1/objects/:id/download'),
  deleteObject: operation('deleteObject', 'POST', '/v1/objects/:id/delete'),
  listGatewayConfigs: operation('listGatewayConfigs', 'GET', '/v1/gateway-configs'),
  createGatewayConfig: operation('createGatewayConfig', 'POST', '/v1/gateway-configs'),
  getGatewayConfig: operation('getGatewayConfig', 'GET', '/v1/gateway-configs/:id'),
  updateGatewayConfig: operation('updateGatewayConfig', 'POST', '/v1/gateway-configs/:id'),
  deleteGatewayConfig: operation('deleteGatewayConfig', 'POST', '/v1/gateway-configs/:id/delete'),
  listMcpConfigs: operation('listMcpConfigs', 'GET', '/v1/mcp-configs'),
  createMcpConfig: operation('createMcpConfig', 'POST', '/v1/mcp-configs'),
  getMcpConfig: operation('getMcpConfig', 'GET', '/v1/mcp-configs/:id'),
  updateMcpConfig: operation('updateMcpConfig', 'POST', '/v1/mcp-configs/:id'),
  deleteMcpConfig: operation('deleteMcpConfig', 'POST', '/v1/mcp-configs/:id/delete'),
}
