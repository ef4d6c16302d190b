import type { Contract } from '#lib/contract/index.ts'

/** From least to most. */
export const roles = ['viewer', 'member', 'operator'] as const
export type Role = (typeof roles)[number]

export const hasRole = (role: Role, least: Role): boolean => roles.indexOf(role) >= roles.indexOf(least)

export const lowerRole = (one: Role, other: Role): Role => (hasRole(one, other) ? other : one)

// POST operations of the API that only read. Any other operation that isn't a GET writes, including future ones.
const readingOperations: ReadonlySet<string> = new Set([
  'axons.query',
  'axons.batch',
  'blueprints.preview',
  'devboxes.waitForStatus',
  'executions.waitForStatus',
  'files.read',
  'files.download',
  'scenarioRuns.downloadLogs',
  'benchmarkRuns.downloadLogs',
])

/** Resources whose changes affect everyone in the account. */
const operatorResources: ReadonlySet<string> = new Set([
  'secrets',
  'networkPolicies',
  'keys',
  'gatewayConfigs',
  'mcpConfigs',
  'storage',
  'drain',
  'cluster',
])

/** The least role for an operation of the contract that isn't a GET. */
const leastRoleToWrite = (endpointId: string): Role => {
  if (readingOperations.has(endpointId)) return 'viewer'
  return operatorResources.has(endpointId.split('.', 1)[0] ?? '') ? 'operator' : 'member'
}

export const leastRole = ({ id, method }: { id: string; method: string }): Role =>
  method === 'GET' ? 'viewer' : leastRoleToWrite(id)

const consoleRoutes: readonly [path: RegExp, least: Role][] = [
  // Checks that change nothing, and things that belong only to the person.
  [/^\/api\/(connection|support|sessions|personal-keys)(\/|$)/, 'viewer'],
  [/^\/api\/alerts\/receivers(\/|$)/, 'operator'],
  [/^\/api\/cluster(\/|$)/, 'operator'],
]

/** The least role for a write to a route of the console. */
export const leastRoleForRoute = (path: string): Role =>
  consoleRoutes.find(([pattern]) => pattern.test(path))?.[1] ?? 'member'

type EndpointIds = {
  [Resource in keyof Contract & string]: {
    [Name in keyof Contract[Resource] & string]: Contract[Resource][Name] extends { method: 'GET' }
      ? never
      : `${Resource}.${Name}`
  }[keyof Contract[Resource] & string]
}[keyof Contract & string]

/** What a control does: an endpoint of the contract that isn't a GET, or a write to a route of the console. */
export type Operation = EndpointIds | `/api/${string}`

export const leastRoleFor = (operation: Operation): Role =>
  operation.startsWith('/') ? leastRoleForRoute(operation) : leastRoleToWrite(operation)

const plural: Record<Role, string> = { viewer: 'Viewers', member: 'Members', operator: 'Operators' }

/** Why a role may not do something, or null if it may. */
export const roleRefusal = (role: Role, least: Role): string | null => {
  if (hasRole(role, least)) return null
  return `${plural[role]} can't do this. Ask ${least === 'member' ? 'a member or an operator' : 'an operator'}.`
}
