/** Whether the service has an operation. Unknown until a probe or a call has shown it; pages then offer it. */
export type Support = 'yes' | 'no' | 'unknown'

/** Response of `/api/support`: what is known about the service, for the session's account. */
export interface ServiceSupport {
  /** Null during the first probe. */
  learned_at_ms: number | null
  /** False while probes are running. */
  is_complete: boolean
  /** By endpoint id of the contract. Only known operations. */
  operations: Record<string, Support>
  /** Query parameters of list operations, by endpoint id. */
  parameters: Record<string, readonly string[]>
}

const words = (text: string): readonly string[] => text.split(' ')

// Operations of the public API by resource. The contract's others are extensions: a service offers them only if it lists
// them in its health response, or if a call succeeded.
const publicApi: Record<string, readonly string[]> = {
  accounts: words('me'),
  axons: words('list create metadataKeys metadataValues get update publish events subscribe query batch delete'),
  evictions: words('watch'),
  snapshots: words('list listPublic metadataKeys metadataValues status update delete create createAsync'),
  blueprints: words('list listPublic create preview metadataKeys metadataValues get logs delete'),
  devboxes: words(
    'list create createAndAwaitRunning metadataKeys metadataValues get update waitForStatus suspend resume shutdown keepAlive usage createPtyTunnel',
  ),
  executions: words('executeSync executeAsync execute get waitForStatus kill sendStdIn streamStdout streamStderr'),
  files: words('read write download upload'),
  logs: words('list tail'),
  tunnels: words('enable remove'),
  terminals: words('connect control attach'),
  secrets: words('list create get update delete'),
  keys: words('create createRestricted'),
  networkPolicies: words('list create get update delete'),
  objects: words('list listPublic metadataKeys metadataValues create get complete download delete'),
  agents: words('list listPublic devboxCounts create get delete'),
  gatewayConfigs: words('list create get update delete'),
  mcpConfigs: words('list create get update delete'),
  scenarioRuns: words('start list get score complete cancel downloadLogs ofScenario'),
  scenarios: words(
    'list listPublic create metadataKeys metadataValues listScorers createScorer getScorer updateScorer get update archive unarchive',
  ),
  benchmarkJobs: words('list create get'),
  benchmarkRuns: words('list get scenarioRuns complete cancel downloadLogs'),
  benchmarks: words(
    'list listPublic create metadataKeys metadataValues startRun get update definitions changeScenarios archive unarchive runs',
  ),
  hostedOnly: words('createSshKey createGatewayToken createMcpToken'),
}

export const isExtension = (endpointId: string): boolean => {
  const [resource = '', operation = ''] = endpointId.split('.')
  return !publicApi[resource]?.includes(operation)
}

const paging = words('limit starting_after include_total_count')

/** Query parameters of the public API's lists, beyond paging. */
const publicFilters: Record<string, readonly string[]> = {
  'axons.list': words('name id search metadata'),
  'devboxes.list': words('status'),
  'snapshots.list': words('devbox_id source_blueprint_id metadata'),
  'blueprints.list': words('name status'),
  'benchmarks.list': words('name search'),
  'benchmarkRuns.list': words('benchmark_id name search state'),
  'benchmarkRuns.scenarioRuns': words('state search'),
  'benchmarkJobs.list': words('name'),
  'scenarios.list': words('benchmark_id name search validation_type'),
  'scenarioRuns.list': words('benchmark_run_id scenario_id name state search'),
  'agents.list': words('name search'),
  'objects.list': words('name search content_type state'),
}

export const publicParameters = (endpointId: string): readonly string[] => [
  ...(publicFilters[endpointId] ?? []),
  ...paging,
]
