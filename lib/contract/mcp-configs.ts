import * as z from 'zod/mini'
import { ById, pageEnvelope } from './common.ts'
import { defineEndpoints, get, json, post } from './endpoint.ts'
import { AuthMechanism, ConfigListQuery, configCreate, configUpdate, configView } from './gateway-configs.ts'

/** Glob patterns, such as `*` or `github.search_*`. Unspecified: maximum number. */
const AllowedTools = z.array(z.string().check(z.minLength(1), z.maxLength(256))).check(z.maxLength(1000))

export const McpConfig = z.object({ ...configView, allowed_tools: z.array(z.string()) })
export type McpConfig = z.infer<typeof McpConfig>

export const McpConfigCreate = z.object({
  ...configCreate,
  allowed_tools: AllowedTools,
  auth_mechanism: z.nullish(AuthMechanism),
})

export const mcpConfigs = defineEndpoints('mcpConfigs', 'beta', {
  list: get('/v1/mcp-configs', json(z.object({ mcp_configs: z.array(McpConfig), ...pageEnvelope })), {
    query: ConfigListQuery,
  }),
  create: post('/v1/mcp-configs', json(McpConfig), {
    body: McpConfigCreate,
  }),
  get: get('/v1/mcp-configs/:id', json(McpConfig), { params: ById }),
  update: post('/v1/mcp-configs/:id', json(McpConfig), {
    params: ById,
    body: z.object({ ...configUpdate, allowed_tools: z.nullish(AllowedTools) }),
  }),
  delete: post('/v1/mcp-configs/:id/delete', json(McpConfig), { params: ById }),
})
