import type { Endpoint } from '#lib/contract/endpoint.ts'
import { accessLevels, type KeyScope, type ResourceType } from '#lib/contract/keys.ts'

// Unspecified: everything else, such as secrets and axons, belongs to the account.
const typeOf: Record<string, ResourceType> = {
  devboxes: 'RESOURCE_TYPE_DEVBOXES',
  executions: 'RESOURCE_TYPE_DEVBOXES',
  files: 'RESOURCE_TYPE_DEVBOXES',
  logs: 'RESOURCE_TYPE_DEVBOXES',
  tunnels: 'RESOURCE_TYPE_DEVBOXES',
  terminals: 'RESOURCE_TYPE_DEVBOXES',
  evictions: 'RESOURCE_TYPE_DEVBOXES',
  cluster: 'RESOURCE_TYPE_DEVBOXES',
  snapshots: 'RESOURCE_TYPE_SNAPSHOTS',
  blueprints: 'RESOURCE_TYPE_BLUEPRINTS',
  benchmarks: 'RESOURCE_TYPE_BENCHMARKS',
  benchmarkJobs: 'RESOURCE_TYPE_BENCHMARKS',
  benchmarkRuns: 'RESOURCE_TYPE_BENCHMARKS',
  scenarios: 'RESOURCE_TYPE_SCENARIOS',
  scenarioRuns: 'RESOURCE_TYPE_SCENARIOS',
  agents: 'RESOURCE_TYPE_AGENTS',
  objects: 'RESOURCE_TYPE_OBJECTS',
}

// A GET opens a terminal, and the console grants all of its data to a key that can read the account.
const writes = /^terminals\.|^accounts\./
const reads = /\/(wait_for_status|read_file_contents|download_file|download_logs)$/
export const isReadByPost = (path: string): boolean => reads.test(path)

type Called = Pick<Endpoint, 'id' | 'method' | 'path'>

/** Returns the scope that a restricted key lacks for `endpoint`. */
export const missingScope = ({ id, method, path }: Called, scopes: readonly KeyScope[]): KeyScope | undefined => {
  const resource_type = typeOf[id.split('.')[0] ?? ''] ?? 'RESOURCE_TYPE_ACCOUNT'
  const isRead = !writes.test(id) && (method === 'GET' || isReadByPost(path))
  const access_level = isRead ? 'ACCESS_LEVEL_READ' : 'ACCESS_LEVEL_WRITE'
  const isGranted = scopes.some(
    (scope) =>
      scope.resource_type === resource_type &&
      accessLevels.indexOf(scope.access_level) >= accessLevels.indexOf(access_level),
  )
  return isGranted ? undefined : { resource_type, access_level }
}
