import * as z from 'zod/mini'
import { ById, EpochMs, Id, nullishFields, pageEnvelope, pageQuery } from './common.ts'
import { defineEndpoints, get, json, post } from './endpoint.ts'

const PortNumber = z.int().check(z.minimum(1), z.maximum(65_535))
/** One port or the range up to `end_port`. Default: both protocols. */
const PortRule = z
  .object({ port: PortNumber, end_port: z.nullish(PortNumber), protocol: z.nullish(z.enum(['TCP', 'UDP'])) })
  .check(
    z.refine(({ port, end_port }) => (end_port ?? port) >= port, {
      path: ['end_port'],
      message: 'must not be less than port',
    }),
  )

/** IPv4 in CIDR notation without host bits, such as `10.12.0.0/16`. */
const isCidr = (text: string) => {
  const [, a, b, c, d, length] = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})\/(\d{1,2})$/.exec(text)?.map(Number) ?? []
  if (a === undefined || b === undefined || c === undefined || d === undefined || length === undefined) return false
  if ([a, b, c, d].some((byte) => byte > 255) || length > 32) return false
  return (((a << 24) | (b << 16) | (c << 8) | d) & (2 ** (32 - length) - 1)) === 0
}

const AllowedCidr = z.object({
  cidr: z.string().check(z.refine(isCidr, 'must be an IPv4 block without host bits, such as 10.12.0.0/16')),
  ports: z.nullish(z.array(PortRule)),
})

const label = '[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?'
const AllowedHostname = z
  .string()
  .check(
    z.maxLength(253),
    z.regex(new RegExp(`^(\\*\\.)?(${label}\\.)*${label}$`), 'must be a host name such as github.com or *.npmjs.org'),
  )

/** Unspecified: maximum number of rules per list. */
const maxRules = 1000

const rules = {
  allow_all: z.boolean(),
  allow_devbox_to_devbox: z.boolean(),
  allow_agent_gateway: z.boolean(),
  allow_mcp_gateway: z.boolean(),
  allow_runloop_mirrors: z.boolean(),
  allowed_hostnames: z.array(AllowedHostname).check(z.maxLength(maxRules)),
  allowed_cidrs: z.array(AllowedCidr).check(z.maxLength(maxRules)),
}

/** Denies all connections by default. `allow_all` overrides the other rules. */
export const Egress = z.object(rules)
export type Egress = z.infer<typeof Egress>

export const NetworkPolicy = z.object({
  id: z.string(),
  name: z.string(),
  description: z.nullish(z.string()),
  create_time_ms: EpochMs,
  update_time_ms: EpochMs,
  egress: Egress,
})
export type NetworkPolicy = z.infer<typeof NetworkPolicy>

const name = z.string().check(z.minLength(1, 'must not be empty'), z.maxLength(256))
const fields = { description: z.nullish(z.string().check(z.maxLength(10_000))), ...nullishFields(rules) }
export const NetworkPolicyCreate = z.object({ name, ...fields })
export type NetworkPolicyCreate = z.infer<typeof NetworkPolicyCreate>
/** Missing or null fields are unchanged. Lists replace the old list; an empty description clears it. */
export const NetworkPolicyUpdate = z.object({ name: z.nullish(name), ...fields })
export type NetworkPolicyUpdate = z.infer<typeof NetworkPolicyUpdate>

export const NetworkPolicyList = z.object({ network_policies: z.array(NetworkPolicy), ...pageEnvelope })
export const NetworkPolicyListQuery = z.object({
  id: z.optional(Id),
  name: z.optional(z.string()),
  search: z.optional(z.string().check(z.maxLength(256))),
  ...pageQuery,
})
export type NetworkPolicyListQuery = z.output<typeof NetworkPolicyListQuery>

export const networkPolicies = defineEndpoints('networkPolicies', 'stable', {
  list: get('/v1/network-policies', json(NetworkPolicyList), { query: NetworkPolicyListQuery }),
  create: post('/v1/network-policies', json(NetworkPolicy), { body: NetworkPolicyCreate }),
  get: get('/v1/network-policies/:id', json(NetworkPolicy), { params: ById }),
  update: post('/v1/network-policies/:id', json(NetworkPolicy), { params: ById, body: NetworkPolicyUpdate }),
  delete: post('/v1/network-policies/:id/delete', json(NetworkPolicy), { params: ById }),
})
