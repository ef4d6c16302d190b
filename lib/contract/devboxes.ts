import * as z from 'zod/mini'
import {
  ById,
  Empty,
  EpochMs,
  Metadata,
  metadataOperations,
  openEnum,
  pageEnvelope,
  StringMap,
  sortQuery,
} from './common.ts'
import { defineEndpoints, get, json, maxScriptBodyBytes, post } from './endpoint.ts'
import { LaunchParameters } from './launch-parameters.ts'
import { listQuery } from './query-string.ts'
import { Tunnel, TunnelOptions } from './tunnels.ts'

/** In lifecycle order. `scheduled` is the former name of `queued`. */
export const devboxStatuses = [
  'scheduled',
  'queued',
  'provisioning',
  'initializing',
  'running',
  'suspending',
  'suspended',
  'resuming',
  'failure',
  'shutdown',
] as const
export type DevboxStatus = (typeof devboxStatuses)[number]

export const DevboxStatusValue = openEnum(devboxStatuses)

export const StateTransition = z.object({
  status: z.optional(DevboxStatusValue),
  transition_time_ms: z.optional(EpochMs),
  failure_reason: z.nullish(z.string()),
})

export const Devbox = z.object({
  id: z.string(),
  name: z.nullish(z.string()),
  status: DevboxStatusValue,
  create_time_ms: EpochMs,
  end_time_ms: z.nullable(EpochMs),
  launch_parameters: LaunchParameters,
  metadata: StringMap,
  capabilities: z.array(z.string()),
  state_transitions: z.array(StateTransition),
  blueprint_id: z.nullish(z.string()),
  snapshot_id: z.nullish(z.string()),
  failure_reason: z.nullish(
    openEnum(['out_of_memory', 'out_of_disk', 'execution_failed', 'health_check_failed', 'node_lost']),
  ),
  shutdown_reason: z.nullish(
    openEnum(['api_shutdown', 'keep_alive_timeout', 'entrypoint_exit', 'idle', 'ttl_expired']),
  ),
  initiator_type: z.optional(openEnum(['unknown', 'api', 'scenario', 'scoring_validation', 'reflex'])),
  initiator_id: z.nullish(z.string()),
  tunnel: z.nullish(Tunnel),
  /** Of the hosted service: gateways by environment prefix, MCP servers by environment variable. */
  gateway_specs: z.nullish(z.record(z.string(), z.object({ gateway_config_id: z.string(), secret_id: z.string() }))),
  mcp_specs: z.nullish(z.record(z.string(), z.object({ mcp_config_id: z.string(), secret_id: z.string() }))),
  /** Null if there is no keep-alive time; missing if not reported. */
  keep_alive_until_ms: z.nullish(EpochMs),
  /** Set if there is an idle policy. May be slightly early; missing if not reported. */
  last_used_ms: z.nullish(EpochMs),
  /** Isolation from the host, with a sentence per limit that is not enforced. Null until the first start; missing if not reported. */
  isolation: z.nullish(
    z.object({ sandbox: openEnum(['bubblewrap', 'none', 'container', 'swarm']), not_enforced: z.array(z.string()) }),
  ),
  /** Unspecified: the node of a cluster that runs the devbox, or has its disk. */
  node: z.nullish(z.object({ id: z.string(), hostname: z.string() })),
})
export type Devbox = z.infer<typeof Devbox>

export const DevboxList = z.object({ devboxes: z.array(Devbox), ...pageEnvelope })
export type DevboxList = z.infer<typeof DevboxList>

export const devboxOrigins = ['own', 'trial'] as const

/** Unspecified: filters other than `status`. `origin` separates devboxes of benchmark trials. A service may ignore them. */
export const DevboxListQuery = z.object({
  status: z.optional(z.enum(devboxStatuses, `must be one of ${devboxStatuses.join(', ')}`)),
  origin: z.optional(z.enum(devboxOrigins, `must be one of ${devboxOrigins.join(', ')}`)),
  /** Id or hostname. */
  node: z.optional(z.string()),
  ...sortQuery(['name', 'status', 'id', 'create_time_ms', 'end_time_ms']),
  ...listQuery,
})
export type DevboxListQuery = z.output<typeof DevboxListQuery>

export const DevboxCreate = z.object({
  name: z.nullish(z.string()),
  metadata: z.nullish(Metadata),
  launch_parameters: z.nullish(LaunchParameters),
  environment_variables: z.nullish(StringMap),
  tunnel: z.nullish(TunnelOptions),
  entrypoint: z.nullish(z.string()),
  blueprint_id: z.nullish(z.string()),
  blueprint_name: z.nullish(z.string()),
  snapshot_id: z.nullish(z.string()),
  secrets: z.nullish(StringMap),
  file_mounts: z.nullish(StringMap),
  code_mounts: z.nullish(z.array(z.unknown())),
  mounts: z.nullish(z.array(z.unknown())),
  gateways: z.nullish(z.record(z.string(), z.unknown())),
  mcp: z.nullish(z.record(z.string(), z.unknown())),
})
export type DevboxCreate = z.infer<typeof DevboxCreate>

/** Missing or null fields are unchanged. An empty name or `{}` clears. */
export const DevboxUpdate = z.object({ name: z.nullish(z.string()), metadata: z.nullish(Metadata) })
export type DevboxUpdate = z.infer<typeof DevboxUpdate>

export const PtyTunnel = z.object({ tunnel_key: z.string(), auth_token: z.string() })
export type PtyTunnel = z.infer<typeof PtyTunnel>

export const DevboxUsage = z.object({
  id: z.string(),
  status: DevboxStatusValue,
  start_time_ms: EpochMs,
  end_time_ms: z.nullish(EpochMs),
  total_active_seconds: z.int(),
  total_elapsed_seconds: z.int(),
  vcpu_seconds: z.int(),
  memory_gb_seconds: z.int(),
  disk_gb_seconds: z.int(),
})
export type DevboxUsage = z.infer<typeof DevboxUsage>

export type DevboxAction =
  | 'suspend'
  | 'resume'
  | 'shutdown'
  | 'execute'
  | 'open_terminal'
  | 'keep_alive'
  | 'use_files'
  | 'enable_tunnel'
  | 'snapshot'

const ended: readonly string[] = ['failure', 'shutdown']
const allowedIn: Record<DevboxAction, readonly string[] | null> = {
  suspend: ['running'],
  resume: ['suspended', 'failure'],
  shutdown: null,
  execute: ['running'],
  open_terminal: ['running'],
  keep_alive: ['running'],
  use_files: ['running'],
  enable_tunnel: ['running'],
  snapshot: ['running', 'suspended'],
}

const stateNames: Record<string, string> = { failure: 'failed' }

/** Returns why `status` does not allow `action`, or null: the message of a 400 and of a disabled button. */
export const devboxRefusal = (action: DevboxAction, status: string): string | null => {
  const allowed = allowedIn[action]
  if (allowed === null || allowed.includes(status)) return null
  const needs = allowed.map((each) => stateNames[each] ?? each).join(' or ')
  return ended.includes(status)
    ? `The devbox has ended (${status}); it needs to be ${needs}`
    : `The devbox is ${status}; it needs to be ${needs}`
}

/** Ended, although a failed devbox that kept its disk can be resumed. */
export const hasEnded = (status: string) => ended.includes(status)

type WithHistory = Pick<Devbox, 'status' | 'state_transitions'>

/** Unspecified: a failed devbox that has run keeps its disk and can be resumed. */
export const keepsDisk = ({ status, state_transitions }: WithHistory): boolean =>
  !hasEnded(status) || (status === 'failure' && hasRun({ state_transitions }))

export const hasRun = ({ state_transitions }: Pick<Devbox, 'state_transitions'>): boolean =>
  state_transitions.some(({ status }) => status === 'running')

export const resumeRefusal = (devbox: WithHistory): string | null =>
  devboxRefusal('resume', devbox.status) ??
  (keepsDisk(devbox) ? null : 'The devbox failed before it ran, so there is no disk to resume')

export const shutdownRefusal = (devbox: WithHistory): string | null =>
  keepsDisk(devbox) ? devboxRefusal('shutdown', devbox.status) : 'The devbox has already ended'

export const trialInitiators: readonly string[] = ['scenario', 'scoring_validation']

export const isOfTrial = ({ initiator_type }: Pick<Devbox, 'initiator_type'>): boolean =>
  trialInitiators.includes(initiator_type ?? '')

export const devboxes = defineEndpoints('devboxes', 'stable', {
  list: get('/v1/devboxes', json(DevboxList), { query: DevboxListQuery }),
  create: post('/v1/devboxes', json(Devbox), { body: DevboxCreate, maxBodyBytes: maxScriptBodyBytes }),
  createAndAwaitRunning: post('/v1/devboxes/create_and_await_running', json(Devbox), {
    body: DevboxCreate,
    maxBodyBytes: maxScriptBodyBytes,
  }),
  ...metadataOperations('/v1/devboxes'),
  get: get('/v1/devboxes/:id', json(Devbox), { params: ById }),
  update: post('/v1/devboxes/:id', json(Devbox), { params: ById, body: DevboxUpdate }),
  waitForStatus: post('/v1/devboxes/:id/wait_for_status', json(Devbox), {
    params: ById,
    body: z.object({
      statuses: z.array(z.enum(devboxStatuses)).check(z.minLength(1)),
      timeout_seconds: z.nullish(z.number().check(z.minimum(0))),
    }),
  }),
  suspend: post('/v1/devboxes/:id/suspend', json(Devbox), { params: ById }),
  resume: post('/v1/devboxes/:id/resume', json(Devbox), { params: ById }),
  shutdown: post('/v1/devboxes/:id/shutdown', json(Devbox), {
    params: ById,
    query: z.object({ force: z.optional(z.string()) }),
  }),
  keepAlive: post('/v1/devboxes/:id/keep_alive', json(Empty), { params: ById }),
  usage: get('/v1/devboxes/:id/usage', json(DevboxUsage), { params: ById }),
  createPtyTunnel: post('/v1/devboxes/:id/create_pty_tunnel', json(PtyTunnel), {
    params: ById,
    returnsCredential: true,
  }),
})
