import { hostedOnly } from '#lib/contract/hosted-only.ts'
import type { Route } from '#lib/service/http/implement.ts'
import { ServiceError } from '#lib/service/kit/errors.ts'

const noSsh = 'This service has no SSH; open a terminal or run commands in the devbox'
const noGateways =
  'This service has no gateways; pass the credential to the devbox as a secret (POST /v1/secrets, then "secrets" of POST /v1/devboxes)'

export const hostedOnlyRoutes = (): Route[] =>
  Object.values(hostedOnly).map((endpoint) => ({
    endpoint,
    handler: () => {
      throw new ServiceError('not_implemented', endpoint === hostedOnly.createSshKey ? noSsh : noGateways, {
        shouldRetry: false,
      })
    },
  }))
