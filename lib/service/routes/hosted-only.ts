import { hostedOnly } from '#lib/contract/hosted-only.ts'
import type { Route } from '#lib/service/http/implement.ts'
import { ServiceError } from '#lib/service/kit/errors.ts'

const noGateways =
  'This service has no gateways; give the devbox the credential itself, as a secret (POST /v1/secrets, then "secrets" when it is created)'
const noBlueprints =
  'This service builds no blueprints; set a devbox up, take a snapshot of it and create devboxes from that ("snapshot_id")'
const noAgents = 'This service keeps no agents; install what a devbox needs with its "launch_commands"'
const noObjects =
  'This service has no object store; upload files to a devbox (POST /v1/devboxes/ID/upload_file) and keep them in a snapshot'
const noKeys = 'This service makes no keys over HTTP; whoever runs it adds one with npm run service -- keys add'

/** What to do instead, by how the address begins; the first that fits. */
const alternatives: readonly [start: string, message: string][] = [
  ['/v1/devboxes/:id/create_ssh_key', 'This service has no SSH; open a terminal of the devbox or run commands in it'],
  ['/v1/devboxes/', noGateways],
  ['/v1/gateway-configs', noGateways],
  ['/v1/mcp-configs', noGateways],
  ['/v1/apikeys', noKeys],
  ['/v1/restricted_keys', noKeys],
  ['/v1/blueprints', noBlueprints],
  ['/v1/agents', noAgents],
  ['/v1/objects', noObjects],
]

export const hostedOnlyRoutes = (): Route[] =>
  Object.values(hostedOnly).map((endpoint) => ({
    endpoint,
    handler: () => {
      const [, message = ''] = alternatives.find(([start]) => endpoint.path.startsWith(start)) ?? []
      throw new ServiceError('not_implemented', message, { shouldRetry: false })
    },
  }))
