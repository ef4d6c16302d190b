import type { Devbox, DevboxStatus, DevboxUsage } from '#lib/contract/devboxes.ts'
import type { Resources } from '#lib/contract/launch-parameters.ts'
import { defaultKeepAliveSeconds, type LaunchParameters } from '#lib/contract/launch-parameters.ts'

/** What happens to a devbox, by a caller, by itself or by the service. */
export type DevboxEvent =
  /** It was waiting and is being started now. */
  | 'provision'
  | 'provisioned'
  | 'initialized'
  | 'suspend'
  | 'suspended'
  | 'resume'
  | 'resumed'
  | 'fail'
  | 'shutdown'
  /** The service came up and found the devbox as its last life had left it. */
  | 'recover'

const anyTime = { shutdown: 'shutdown' } as const
const started = { ...anyTime, fail: 'failure' } as const
const waiting = { ...started, provision: 'provisioning', recover: 'provisioning' } as const

// A recovered devbox whose disk is not complete yet starts where it was; one that ran begins with its launch commands.
const moves: Record<DevboxStatus, Partial<Record<DevboxEvent, DevboxStatus>>> = {
  scheduled: waiting,
  queued: waiting,
  provisioning: { ...started, provisioned: 'initializing', recover: 'provisioning' },
  initializing: { ...started, initialized: 'running', recover: 'initializing' },
  running: { ...started, suspend: 'suspending', recover: 'initializing' },
  suspending: { ...anyTime, suspended: 'suspended', recover: 'suspended' },
  suspended: { ...anyTime, resume: 'resuming' },
  resuming: { ...started, resumed: 'initializing', recover: 'resuming' },
  failure: { ...anyTime, resume: 'resuming' },
  shutdown: {},
}

/** The status after `event`, or undefined when the event means nothing in this status. */
export const nextStatus = (status: string, event: DevboxEvent): DevboxStatus | undefined =>
  moves[status as DevboxStatus]?.[event]

/** The devbox's idle rule; it replaces the keep-alive time. The one under `lifecycle` is the newer spelling. */
export const idleRule = ({ lifecycle, after_idle }: LaunchParameters) =>
  lifecycle?.after_idle ?? after_idle ?? undefined

/** When a devbox that starts its keep-alive time at `nowMs` is shut down; null when an idle rule decides instead. */
export const keepAliveUntil = (parameters: LaunchParameters, nowMs: number): number | null =>
  idleRule(parameters) ? null : nowMs + (parameters.keep_alive_time_seconds ?? defaultKeepAliveSeconds) * 1000

/** A name that a host can carry, for the prompt; `fallback` when nothing of `name` is left. */
export const hostnameFor = (name: string | null | undefined, fallback: string): string => {
  const clean = (text: string) =>
    text
      .replace(/[^A-Za-z0-9-]+/g, '-')
      .replace(/^-+/, '')
      .slice(0, 63)
      .replace(/-+$/, '')
  return clean(name ?? '') || clean(fallback)
}

// In these its processes can run, and take the resources it was given.
const active: readonly (string | undefined)[] = ['initializing', 'running', 'suspending']

/**
 * What the devbox has used until `nowMs`, or until its end. Processor and memory count while it is active, the disk as
 * long as there is one.
 */
export const usageOf = (
  { id, status, create_time_ms, end_time_ms, state_transitions }: UsedDevbox,
  { cpuCores, memoryGb, diskGb }: Resources,
  nowMs: number,
): DevboxUsage => {
  const untilMs = end_time_ms ?? nowMs
  const starts = state_transitions.map(({ transition_time_ms }) => transition_time_ms ?? create_time_ms)
  const activeMs = state_transitions
    .map((each, i) => (active.includes(each.status) ? (starts[i + 1] ?? untilMs) - (starts[i] ?? untilMs) : 0))
    .reduce((sum, ms) => sum + Math.max(0, ms), 0)
  const elapsedMs = Math.max(0, untilMs - create_time_ms)
  return {
    id,
    status,
    start_time_ms: create_time_ms,
    end_time_ms,
    total_active_seconds: Math.floor(activeMs / 1000),
    total_elapsed_seconds: Math.floor(elapsedMs / 1000),
    vcpu_seconds: Math.floor((activeMs / 1000) * cpuCores),
    memory_gb_seconds: Math.floor((activeMs / 1000) * memoryGb),
    disk_gb_seconds: Math.floor((elapsedMs / 1000) * diskGb),
  }
}

type UsedDevbox = Pick<Devbox, 'id' | 'status' | 'create_time_ms' | 'end_time_ms' | 'state_transitions'>

/** Why a devbox that ends or is being suspended ended what ran in it, for those who used it. */
export const endInWords = ({ status, shutdown_reason, failure_reason }: EndingDevbox, isEvicted: boolean): string => {
  if (status === 'suspending')
    return isEvicted ? 'The devbox is suspending: it was evicted' : 'The devbox is suspending'
  const [what, why] =
    status === 'failure'
      ? ['The devbox has failed', failureWords[failure_reason ?? '']]
      : ['The devbox was shut down', shutdownWords[shutdown_reason ?? '']]
  return why ? `${what}: ${why}` : what
}

type EndingDevbox = Pick<Devbox, 'status' | 'shutdown_reason' | 'failure_reason'>

const shutdownWords: Record<string, string> = {
  keep_alive_timeout: 'its keep-alive time is over',
  idle: 'it was idle',
  entrypoint_exit: 'its entrypoint ended',
}

const failureWords: Record<string, string> = {
  out_of_memory: 'its memory was used up',
  out_of_disk: 'its disk was full',
}
