import * as z from 'zod/mini'
import { ById } from './common.ts'
import { defineEndpoints, json, post } from './endpoint.ts'

const Anything = z.looseObject({})

const credential = (path: string) =>
  post(path, json(Anything), { params: ById, body: Anything, returnsCredential: true })

/** Operations of the hosted service that the local service does not implement: it returns 501 with an alternative, not 404. */
export const hostedOnly = defineEndpoints('hostedOnly', 'stable', {
  createSshKey: credential('/v1/devboxes/:id/create_ssh_key'),
  createGatewayToken: credential('/v1/devboxes/:id/create_gateway_token'),
  createMcpToken: credential('/v1/devboxes/:id/create_mcp_token'),
})
