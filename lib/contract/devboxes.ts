import * as z from 'zod/mini'
import { ById, Empty, EpochMs, Metadata, metadataOperations, openEnum, pageEnvelope, StringMap } from './common.ts'
import { defineEndpoints, json, maxScriptBodyBytes } from './endpoint.ts'
import { LaunchParameters } from './launch-parameters.ts'
import { listQuery } from './query-string.ts'
import { Tunnel, TunnelOptions } from './tunnels.ts'

/** In the order a devbox lives through them; `scheduled` is the old word for `queued`. */
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
  /** Set once the devbox has ended (failure, shutdown). */
  end_time_ms: z.nullable(EpochMs),
  launch_parameters: LaunchParameters,
  metadata: StringMap,
  capabilities: z.array(z.string()),
  /** Oldest first. */
  state_transitions: z.array(StateTransition),
  blueprint_id: z.nullish(z.string()),
  snapshot_id: z.nullish(z.string()),
  failure_reason: z.nullish(openEnum(['out_of_memory', 'out_of_disk', 'execution_failed', 'health_check_failed'])),
  shutdown_reason: z.nullish(
    openEnum(['api_shutdown', 'keep_alive_timeout', 'entrypoint_exit', 'idle', 'ttl_expired']),
  ),
  initiator_type: z.optional(openEnum(['unknown', 'api', 'scenario', 'scoring_validation', 'reflex'])),
  initiator_id: z.nullish(z.string()),
  tunnel: z.nullish(Tunnel),
  /** When its keep-alive time is over; null while none runs, absent on services that do not say. */
  keep_alive_until_ms: z.nullish(EpochMs),
  /** When it was last used, where an idle rule counts that; a little early, absent on services that do not say. */
  last_used_ms: z.nullish(EpochMs),
  /**
   * How the local service keeps this devbox apart from its machine, and what of that it cannot do there, one sentence
   * each; null until the first start, absent on services that do not say.
   */
  isolation: z.nullish(z.object({ sandbox: openEnum(['bubblewrap', 'none']), not_enforced: z.array(z.string()) })),
})
export type Devbox = z.infer<typeof Devbox>

export const DevboxList = z.object({ devboxes: z.array(Devbox), ...pageEnvelope })
export type DevboxList = z.infer<typeof DevboxList>

export const devboxOrigins = ['own', 'trial'] as const

/**
 * Unspecified: the filters of the devbox list beyond `status`; they read as those of the axon list do. `origin` separates
 * devboxes that benchmark trials created from all others. A service may ignore any of them.
 */
export const DevboxListQuery = z.object({
  status: z.optional(z.enum(devboxStatuses, `must be one of ${devboxStatuses.join(', ')}`)),
  origin: z.optional(z.enum(devboxOrigins, `must be one of ${devboxOrigins.join(', ')}`)),
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

/** Absent or null keeps; an empty name or `{}` clears. */
export const DevboxUpdate = z.object({ name: z.nullish(z.string()), metadata: z.nullish(Metadata) })
export type DevboxUpdate = z.infer<typeof DevboxUpdate>

/** `tunnel_key` names the devbox on a hosted service; `auth_token` opens its terminals and nothing else. */
export const PtyTunnel = z.object({ tunnel_key: z.string(), auth_token: z.string() })
export type PtyTunnel = z.infer<typeof PtyTunnel>

/** What a devbox has used so far, in whole units; one that runs is still counting. */
export const DevboxUsage = z.object({
  id: z.string(),
  status: DevboxStatusValue,
  start_time_ms: EpochMs,
  end_time_ms: z.nullish(EpochMs),
  /** Time in which its processes could run. */
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
  // Shutting down twice is no error, so every state allows it.
  shutdown: null,
  execute: ['running'],
  open_terminal: ['running'],
  keep_alive: ['running'],
  use_files: ['running'],
  enable_tunnel: ['running'],
  snapshot: ['running', 'suspended'],
}

const words: Record<string, string> = { failure: 'failed' }

/**
 * Why `status` forbids `action`, or null when it allows it. The service's refusal and the disabled button's reason
 * are this one sentence. For `resume` and `shutdown` of a devbox that has ended, the functions below say more.
 */
export const devboxRefusal = (action: DevboxAction, status: string): string | null => {
  const allowed = allowedIn[action]
  if (allowed === null || allowed.includes(status)) return null
  const needs = allowed.map((each) => words[each] ?? each).join(' or ')
  return ended.includes(status)
    ? `The devbox has ended (${status}); it needs to be ${needs}`
    : `The devbox is ${status}; it needs to be ${needs}`
}

/** Nothing runs in it and nothing will, unless it failed, kept its disk and is resumed. */
export const hasEnded = (status: string) => ended.includes(status)

type Lived = Pick<Devbox, 'status' | 'state_transitions'>

/**
 * Unspecified: what a failure leaves. A devbox that has run keeps its disk and can be resumed, however it failed; one that
 * never ran has nothing to keep.
 */
export const keepsDisk = ({ status, state_transitions }: Lived): boolean =>
  !hasEnded(status) || (status === 'failure' && hasRun({ state_transitions }))

export const hasRun = ({ state_transitions }: Pick<Devbox, 'state_transitions'>): boolean =>
  state_transitions.some(({ status }) => status === 'running')

/** Why the devbox cannot be resumed, or null when it can. */
export const resumeRefusal = (devbox: Lived): string | null =>
  devboxRefusal('resume', devbox.status) ??
  (keepsDisk(devbox) ? null : 'The devbox failed before it ran, so there is no disk to resume from')

/** Why shutting it down would change nothing, or null when it would. */
export const shutdownRefusal = (devbox: Lived): string | null =>
  keepsDisk(devbox) ? devboxRefusal('shutdown', devbox.status) : 'The devbox has ended already'

/** Initiators of devboxes that a benchmark creates for a trial. */
export const trialInitiators: readonly string[] = ['scenario', 'scoring_validation']

/** Created by a benchmark for a trial. */
export const isOfTrial = ({ initiator_type }: Pick<Devbox, 'initiator_type'>): boolean =>
  trialInitiators.includes(initiator_type ?? '')

export const devboxes = defineEndpoints('devboxes', 'stable', {
  list: { method: 'GET', path: '/v1/devboxes', query: DevboxListQuery, response: json(DevboxList) },
  create: {
    method: 'POST',
    path: '/v1/devboxes',
    body: DevboxCreate,
    maxBodyBytes: maxScriptBodyBytes,
    response: json(Devbox),
  },
  createAndAwaitRunning: {
    method: 'POST',
    path: '/v1/devboxes/create_and_await_running',
    body: DevboxCreate,
    maxBodyBytes: maxScriptBodyBytes,
    response: json(Devbox),
  },
  ...metadataOperations('/v1/devboxes'),
  get: { method: 'GET', path: '/v1/devboxes/:id', params: ById, response: json(Devbox) },
  update: { method: 'POST', path: '/v1/devboxes/:id', params: ById, body: DevboxUpdate, response: json(Devbox) },
  waitForStatus: {
    method: 'POST',
    path: '/v1/devboxes/:id/wait_for_status',
    params: ById,
    body: z.object({
      statuses: z.array(z.enum(devboxStatuses)).check(z.minLength(1)),
      timeout_seconds: z.nullish(z.number().check(z.minimum(0))),
    }),
    response: json(Devbox),
  },
  suspend: { method: 'POST', path: '/v1/devboxes/:id/suspend', params: ById, response: json(Devbox) },
  resume: { method: 'POST', path: '/v1/devboxes/:id/resume', params: ById, response: json(Devbox) },
  shutdown: {
    method: 'POST',
    path: '/v1/devboxes/:id/shutdown',
    params: ById,
    query: z.object({ force: z.optional(z.string()) }),
    response: json(Devbox),
  },
  keepAlive: { method: 'POST', path: '/v1/devboxes/:id/keep_alive', params: ById, response: json(Empty) },
  usage: { method: 'GET', path: '/v1/devboxes/:id/usage', params: ById, response: json(DevboxUsage) },
  createPtyTunnel: {
    method: 'POST',
    path: '/v1/devboxes/:id/create_pty_tunnel',
    params: ById,
    response: json(PtyTunnel),
    answersCredential: true,
  },
})
