import * as z from 'zod/mini'
import { ById } from './common.ts'
import { defineEndpoint, json, type Method } from './endpoint.ts'

// Whatever the hosted service takes and answers; nothing here reads it.
const Anything = z.looseObject({})

const operation = <const Id extends string>(id: Id, method: Method, path: string, summary: string) =>
  defineEndpoint({
    id: `hostedOnly.${id}`,
    method,
    path,
    ...(path.includes(':id') ? { params: ById } : {}),
    ...(method === 'GET' ? {} : { body: Anything }),
    response: json(Anything),
    stability: 'stable',
    summary,
  })

const credential = <const Id extends string>(id: Id, method: Method, path: string, summary: string) =>
  ({ ...operation(id, method, path, summary), answersCredential: true }) as const

/**
 * What the hosted service offers and the local one never will: it has no image builder, no object store, no gateways and
 * no SSH. They stand in the contract so that the local service says so (501) instead of not knowing the address.
 */
export const hostedOnly = {
  createSshKey: credential('createSshKey', 'POST', '/v1/devboxes/:id/create_ssh_key', 'Get an SSH key of a devbox'),
  createGatewayToken: credential(
    'createGatewayToken',
    'POST',
    '/v1/devboxes/:id/create_gateway_token',
    'Get a token of an agent gateway',
  ),
  createMcpToken: credential(
    'createMcpToken',
    'POST',
    '/v1/devboxes/:id/create_mcp_token',
    'Get a token of an MCP gateway',
  ),
  createApiKey: credential('createApiKey', 'POST', '/v1/apikeys', 'Create an API key'),
  createRestrictedKey: credential('createRestrictedKey', 'POST', '/v1/restricted_keys', 'Create a restricted API key'),
  listBlueprints: operation('listBlueprints', 'GET', '/v1/blueprints', 'List blueprints'),
  listPublicBlueprints: operation(
    'listPublicBlueprints',
    'GET',
    '/v1/blueprints/list_public',
    'List the blueprints everyone may use',
  ),
  previewBlueprint: operation(
    'previewBlueprint',
    'POST',
    '/v1/blueprints/preview',
    'Get the Dockerfile a blueprint would be built from',
  ),
  createBlueprint: operation('createBlueprint', 'POST', '/v1/blueprints', 'Build a blueprint'),
  getBlueprint: operation('getBlueprint', 'GET', '/v1/blueprints/:id', 'Get a blueprint'),
  deleteBlueprint: operation('deleteBlueprint', 'POST', '/v1/blueprints/:id/delete', 'Delete a blueprint'),
  blueprintLogs: operation('blueprintLogs', 'GET', '/v1/blueprints/:id/logs', 'List the build log of a blueprint'),
  listAgents: operation('listAgents', 'GET', '/v1/agents', 'List agents'),
  listPublicAgents: operation('listPublicAgents', 'GET', '/v1/agents/list_public', 'List the agents everyone may use'),
  countAgentDevboxes: operation(
    'countAgentDevboxes',
    'GET',
    '/v1/agents/devbox_counts',
    'Count the devboxes of each agent',
  ),
  createAgent: operation('createAgent', 'POST', '/v1/agents', 'Create an agent'),
  getAgent: operation('getAgent', 'GET', '/v1/agents/:id', 'Get an agent'),
  deleteAgent: operation('deleteAgent', 'POST', '/v1/agents/:id/delete', 'Delete an agent'),
  listObjects: operation('listObjects', 'GET', '/v1/objects', 'List objects'),
  listPublicObjects: operation(
    'listPublicObjects',
    'GET',
    '/v1/objects/list_public',
    'List the objects everyone may use',
  ),
  createObject: operation('createObject', 'POST', '/v1/objects', 'Create an object to upload'),
  getObject: operation('getObject', 'GET', '/v1/objects/:id', 'Get an object'),
  completeObject: operation('completeObject', 'POST', '/v1/objects/:id/complete', 'Complete the upload of an object'),
  downloadObject: operation(
    'downloadObject',
    'GET',
    '/v1/objects/:id/download',
    'Get the download address of an object',
  ),
  deleteObject: operation('deleteObject', 'POST', '/v1/objects/:id/delete', 'Delete an object'),
  listGatewayConfigs: operation('listGatewayConfigs', 'GET', '/v1/gateway-configs', 'List gateway configurations'),
  createGatewayConfig: operation(
    'createGatewayConfig',
    'POST',
    '/v1/gateway-configs',
    'Create a gateway configuration',
  ),
  getGatewayConfig: operation('getGatewayConfig', 'GET', '/v1/gateway-configs/:id', 'Get a gateway configuration'),
  updateGatewayConfig: operation(
    'updateGatewayConfig',
    'POST',
    '/v1/gateway-configs/:id',
    'Change a gateway configuration',
  ),
  deleteGatewayConfig: operation(
    'deleteGatewayConfig',
    'POST',
    '/v1/gateway-configs/:id/delete',
    'Delete a gateway configuration',
  ),
  listMcpConfigs: operation('listMcpConfigs', 'GET', '/v1/mcp-configs', 'List MCP configurations'),
  createMcpConfig: operation('createMcpConfig', 'POST', '/v1/mcp-configs', 'Create an MCP configuration'),
  getMcpConfig: operation('getMcpConfig', 'GET', '/v1/mcp-configs/:id', 'Get an MCP configuration'),
  updateMcpConfig: operation('updateMcpConfig', 'POST', '/v1/mcp-configs/:id', 'Change an MCP configuration'),
  deleteMcpConfig: operation('deleteMcpConfig', 'POST', '/v1/mcp-configs/:id/delete', 'Delete an MCP configuration'),
}
