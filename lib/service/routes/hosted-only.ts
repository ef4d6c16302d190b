import { hostedOnly } from '#lib/contract/hosted-only.ts'
import type { Route } from '#lib/service/http/implement.ts'
import { ServiceError } from '#lib/service/kit/errors.ts'

const noGateways =
  'This service has no gateways; pass the credential to the devbox as a secret (POST /v1/secrets, then "secrets" of POST /v1/devboxes)'
const noBlueprints =
  'This service has no blueprints; set up a devbox, take a snapshot and create devboxes from it ("snapshot_id")'

const alternatives: readonly [start: string, message: string][] = [
  ['/v1/devboxes/:id/create_ssh_key', 'This service has no SSH; open a terminal or run commands in the devbox'],
  ['/v1/devboxes/', noGateways],
  ['/v1/blueprints', noBlueprints],
]

export const hostedOnlyRoutes = (): Route[] =>
  Object.values(hostedOnly).map((endpoint) => ({
    endpoint,
    handler: () => {
      const [, message = ''] = alternatives.find(([start]) => endpoint.path.startsWith(start)) ?? []
      throw new ServiceError('not_implemented', message, { shouldRetry: false })
    },
  }))
