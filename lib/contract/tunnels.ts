import * as z from 'zod/mini'
import { ById, Empty, EpochMs, openEnum } from './common.ts'
import { defineEndpoints, json, post } from './endpoint.ts'

export const tunnelModes = ['open', 'authenticated'] as const

export const TunnelOptions = z.object({
  auth_mode: z.nullish(z.enum(tunnelModes)),
  /** Requests count as use of the devbox. */
  http_keep_alive: z.nullish(z.boolean()),
  /** Requests resume a suspended devbox. */
  wake_on_http: z.nullish(z.boolean()),
})
export type TunnelOptions = z.infer<typeof TunnelOptions>

/** Port N of the devbox is at `http(s)://N-{tunnel_key}.tunnel.{service domain}`. */
export const Tunnel = z.object({
  tunnel_key: z.string(),
  auth_mode: openEnum(tunnelModes),
  create_time_ms: EpochMs,
  http_keep_alive: z.boolean(),
  wake_on_http: z.boolean(),
  /** Callers of an authenticated tunnel send `X-Runloop-Tunnel-Authorization: Bearer <token>`. */
  auth_token: z.nullish(z.string()),
})
export type Tunnel = z.infer<typeof Tunnel>

export const tunnels = defineEndpoints('tunnels', 'stable', {
  enable: post('/v1/devboxes/:id/enable_tunnel', json(Tunnel), { params: ById, body: TunnelOptions }),
  remove: post('/v1/devboxes/:id/remove_tunnel', json(Empty), { params: ById }),
})
