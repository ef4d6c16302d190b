import { randomBytes } from 'node:crypto'
import type { Tunnel, TunnelOptions } from '#lib/contract/tunnels.ts'

/** The key is part of a host name, so it has no capitals; nobody guesses 128 bits. */
export const newTunnel = ({ auth_mode, http_keep_alive, wake_on_http }: TunnelOptions, now: number): Tunnel => ({
  tunnel_key: randomBytes(16).toString('hex'),
  auth_mode: auth_mode ?? 'open',
  create_time_ms: now,
  http_keep_alive: http_keep_alive ?? true,
  wake_on_http: wake_on_http ?? false,
  auth_token: auth_mode === 'authenticated' ? randomBytes(32).toString('base64url') : null,
})
