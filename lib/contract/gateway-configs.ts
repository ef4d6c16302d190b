import * as z from 'zod/mini'
import { ById, EpochMs, Id, nullishFields, pageEnvelope, pageQuery } from './common.ts'
import { defineEndpoints, get, json, post } from './endpoint.ts'

const HeaderName = z
  .string()
  .check(z.regex(/^[\w!#$%&'*+.^`|~-]{1,256}$/, 'must be the name of an HTTP header, such as x-api-key'))

export const AuthMechanism = z
  .object({ type: z.enum(['header', 'bearer', 'basic']), key: z.nullish(HeaderName) })
  .check(
    z.refine(({ type, key }) => (type === 'header') === Boolean(key), {
      path: ['key'],
      message: 'must be set for type header, and only for it',
    }),
  )

const CustomHeader = z
  .object({
    name: HeaderName,
    /** Name or ID in requests; always the ID in responses. */
    secret: z.nullish(z.string()),
    value: z.nullish(z.string().check(z.maxLength(8192), z.regex(/^[^\0\r\n]*$/, 'must be one line'))),
  })
  .check(z.refine(({ secret, value }) => (secret == null) !== (value == null), 'must have either secret or value'))
export type CustomHeader = z.infer<typeof CustomHeader>

const isWebAddress = (text: string) => /^https?:$/.test(URL.parse(text)?.protocol ?? '')
const name = z.string().check(z.minLength(1, 'must not be empty'), z.maxLength(256))
const endpoint = z
  .string()
  .check(z.maxLength(2048), z.refine(isWebAddress, 'must be a URL such as https://api.example.com'))
const description = z.nullish(z.string().check(z.maxLength(10_000)))
const custom_headers = z.nullish(z.array(CustomHeader).check(z.maxLength(8)))

/** Fields that gateway and MCP configs share. */
export const configView = {
  id: z.string(),
  name: z.string(),
  description: z.nullish(z.string()),
  create_time_ms: EpochMs,
  endpoint: z.string(),
  auth_mechanism: AuthMechanism,
  custom_headers: z.nullish(z.array(CustomHeader)),
}
export const configCreate = { name, endpoint, description, custom_headers }
/** Missing or null fields are unchanged. Lists replace the old list; an empty description clears it. */
export const configUpdate = {
  ...nullishFields({ name, endpoint, auth_mechanism: AuthMechanism }),
  description,
  custom_headers,
}
export const ConfigListQuery = z.object({
  id: z.optional(Id),
  name: z.optional(z.string()),
  search: z.optional(z.string().check(z.maxLength(256))),
  ...pageQuery,
})
export type ConfigListQuery = z.output<typeof ConfigListQuery>

export const GatewayConfig = z.object({ ...configView, account_id: z.nullish(z.string()) })
export type GatewayConfig = z.infer<typeof GatewayConfig>

export const GatewayConfigCreate = z.object({ ...configCreate, auth_mechanism: AuthMechanism })

export const gatewayConfigs = defineEndpoints('gatewayConfigs', 'stable', {
  list: get('/v1/gateway-configs', json(z.object({ gateway_configs: z.array(GatewayConfig), ...pageEnvelope })), {
    query: ConfigListQuery,
  }),
  create: post('/v1/gateway-configs', json(GatewayConfig), {
    body: GatewayConfigCreate,
  }),
  get: get('/v1/gateway-configs/:id', json(GatewayConfig), { params: ById }),
  update: post('/v1/gateway-configs/:id', json(GatewayConfig), { params: ById, body: z.object(configUpdate) }),
  delete: post('/v1/gateway-configs/:id/delete', json(GatewayConfig), { params: ById }),
})
