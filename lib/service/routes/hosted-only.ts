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

/** The message of each operation's 501: what to do instead. */
const alternatives: Record<keyof typeof hostedOnly, string> = {
  createSshKey: 'This service has no SSH; open a terminal of the devbox or run commands in it',
  createGatewayToken: noGateways,
  createMcpToken: noGateways,
  createApiKey: noKeys,
  createRestrictedKey: noKeys,
  listBlueprints: noBlueprints,
  listPublicBlueprints: noBlueprints,
  previewBlueprint: noBlueprints,
  createBlueprint: noBlueprints,
  getBlueprint: noBlueprints,
  deleteBlueprint: noBlueprints,
  blueprintLogs: noBlueprints,
  listAgents: noAgents,
  listPublicAgents: noAgents,
  countAgentDevboxes: noAgents,
  createAgent: noAgents,
  getAgent: noAgents,
  deleteAgent: noAgents,
  listObjects: noObjects,
  listPublicObjects: noObjects,
  createObject: noObjects,
  getObject: noObjects,
  completeObject: noObjects,
  downloadObject: noObjects,
  deleteObject: noObjects,
  listGatewayConfigs: noGateways,
  createGatewayConfig: noGateways,
  getGatewayConfig: noGateways,
  updateGatewayConfig: noGateways,
  deleteGatewayConfig: noGateways,
  listMcpConfigs: noGateways,
  createMcpConfig: noGateways,
  getMcpConfig: noGateways,
  updateMcpConfig: noGateways,
  deleteMcpConfig: noGateways,
}

export const hostedOnlyRoutes = (): Route[] =>
  Object.entries(hostedOnly).map(([operation, endpoint]) => ({
    endpoint,
    handler: () => {
      throw new ServiceError('not_implemented', alternatives[operation as keyof typeof hostedOnly], {
        shouldRetry: false,
      })
    },
  }))
