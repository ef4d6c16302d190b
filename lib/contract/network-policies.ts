import * as z from 'zod/mini'
import { ById, EpochMs, pageEnvelope, pageQuery } from './common.ts'
import { defineEndpoint, json } from './endpoint.ts'

export const Egress = z.object({
  allow_all: z.boolean(),
  allow_devbox_to_devbox: z.boolean(),
  allow_agent_gateway: z.boolean(),
  allow_mcp_gateway: z.boolean(),
  allow_runloop_mirrors: z.boolean(),
  allowed_hostnames: z.array(z.string()),
  allowed_cidrs: z.array(z.unknown()),
})
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

const rules = {
  description: z.nullish(z.string()),
  allow_all: z.nullish(z.boolean()),
  allow_devbox_to_devbox: z.nullish(z.boolean()),
  allow_agent_gateway: z.nullish(z.boolean()),
  allow_mcp_gateway: z.nullish(z.boolean()),
  allow_runloop_mirrors: z.nullish(z.boolean()),
  allowed_hostnames: z.nullish(z.array(z.string())),
  allowed_cidrs: z.nullish(z.array(z.unknown())),
}
const name = z.string().check(z.minLength(1, 'must not be empty'), z.maxLength(256))
export const NetworkPolicyCreate = z.object({ name, ...rules })
export type NetworkPolicyCreate = z.infer<typeof NetworkPolicyCreate>
export const NetworkPolicyUpdate = z.object({ name: z.nullish(name), ...rules })
export type NetworkPolicyUpdate = z.infer<typeof NetworkPolicyUpdate>

export const NetworkPolicyList = z.object({ network_policies: z.array(NetworkPolicy), ...pageEnvelope })
export const NetworkPolicyListQuery = z.object({
  id: z.optional(z.string()),
  name: z.optional(z.string()),
  ...pageQuery,
})
export type NetworkPolicyListQuery = z.output<typeof NetworkPolicyListQuery>

/** What devboxes may reach; a devbox names its policy in `launch_parameters.network_policy_id`. */
export const networkPolicies = {
  list: defineEndpoint({
    id: 'networkPolicies.list',
    method: 'GET',
    path: '/v1/network-policies',
    query: NetworkPolicyListQuery,
    response: json(NetworkPolicyList),
    stability: 'stable',
    summary: 'List network policies, newest first',
  }),
  create: defineEndpoint({
    id: 'networkPolicies.create',
    method: 'POST',
    path: '/v1/network-policies',
    body: NetworkPolicyCreate,
    response: json(NetworkPolicy),
    stability: 'stable',
    summary: 'Create a network policy',
  }),
  get: defineEndpoint({
    id: 'networkPolicies.get',
    method: 'GET',
    path: '/v1/network-policies/:id',
    params: ById,
    response: json(NetworkPolicy),
    stability: 'stable',
    summary: 'Get a network policy',
  }),
  update: defineEndpoint({
    id: 'networkPolicies.update',
    method: 'POST',
    path: '/v1/network-policies/:id',
    params: ById,
    body: NetworkPolicyUpdate,
    response: json(NetworkPolicy),
    stability: 'stable',
    summary: 'Change a network policy; devboxes take it up at their next start',
  }),
  delete: defineEndpoint({
    id: 'networkPolicies.delete',
    method: 'POST',
    path: '/v1/network-policies/:id/delete',
    params: ById,
    response: json(NetworkPolicy),
    stability: 'stable',
    summary: 'Delete a network policy that no devbox uses',
  }),
}
