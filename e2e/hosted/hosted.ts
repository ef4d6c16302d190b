import { axonRoutes } from './axons.ts'
import { benchmarkRoutes } from './benchmarks.ts'
import { devboxRoutes } from './devboxes.ts'
import { type Faults, type Json, serve } from './http.ts'
import { resourceRoutes } from './resources.ts'
import { terminalRoutes } from './terminals.ts'

const hostedKey = 'ak_hosted_0123456789abcdef'

/**
 * A service written from the public API's documentation alone, without the contract: unset fields are missing, enums and
 * records have values that no client knows, ids are opaque, lists have no totals, unknown paths return 401.
 */
export const startHosted = async (faults: Partial<Faults> = {}) => {
  const devboxes = devboxRoutes()
  const axons = axonRoutes()
  const benchmarks = benchmarkRoutes()
  const terminals = terminalRoutes(devboxes.devboxOfToken)
  let url = ''
  const resources = resourceRoutes(() => url)
  const account: Json = {
    id: 'acct:eu.7~Q',
    name: 'Hosted Inc.',
    created_at: '2025-01-01T00:00:00Z',
    account_status: 'ACCOUNT_STATUS_GRANDFATHERED',
    tier: 'ACCOUNT_TIER_PLATINUM',
    billing: { account_billing_type: 'BARTER' },
  }
  const routes = {
    'GET /v1/accounts/me': () => account,
    ...devboxes.routes,
    ...axons.routes,
    ...benchmarks.routes,
    ...resources.routes,
    ...terminals.routes,
  }
  const server = await serve(routes, new Map([[hostedKey, account]]), {
    latencyMs: 0,
    errorRate: 0,
    limitEvery: 0,
    seed: 1,
    ...faults,
  })
  url = server.url
  terminals.listen(server.server)

  axons.seed()
  benchmarks.seed()
  const { gateway, mcp, secret, blueprint } = resources.seed()
  for (let i = 0; i < 9; i++)
    devboxes.move(devboxes.create({ name: `worker ${i}`, metadata: { pool: 'a' } }), 'running')
  const odd = devboxes.create({ launch_parameters: { resource_size_request: 'GARGANTUAN', architecture: 'riscv' } })
  devboxes.move(odd, 'hibernating')
  const failed = devboxes.create({ name: 'crashed' })
  devboxes.move(failed, 'failure', { failure_reason: 'gpu_lost', end_time_ms: Date.now() })
  const ended = devboxes.create({ name: 'ended' })
  devboxes.move(ended, 'shutdown', { shutdown_reason: 'credit_exhausted', end_time_ms: Date.now() })
  const main = devboxes.create({
    name: 'main',
    blueprint_id: blueprint.id,
    gateways: { OPENAI: { gateway: gateway.id, secret: secret.id } },
    mcp: { GITHUB_MCP: { mcp_config: mcp.id, secret: secret.id } },
    tunnel: { auth_mode: 'open' },
  })
  devboxes.move(main, 'running')
  for (let i = 0; i < 3; i++) devboxes.snapshot(String(main.record.id), i ? { name: `disk ${i}` } : {})

  return {
    url,
    key: hostedKey,
    requests: server.requests,
    change: server.change,
    evict: devboxes.evict,
    log: devboxes.log,
    /** A running devbox with a blueprint, a gateway, an MCP server, a tunnel and snapshots. */
    mainDevboxId: String(main.record.id),
    close: () => {
      terminals.close()
      devboxes.close()
      axons.close()
      server.close()
    },
  }
}
