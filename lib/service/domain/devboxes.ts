import type { Devbox, DevboxStatus, DevboxUsage } from '#lib/contract/devboxes.ts'
import type { Resources } from '#lib/contract/launch-parameters.ts'
import { defaultKeepAliveSeconds, type LaunchParameters } from '#lib/contract/launch-parameters.ts'

export type DevboxEvent =
  | ('provision' | 'provisioned' | 'initialized' | 'suspend' | 'suspended' | 'resume')
  | ('fail' | 'shutdown' | 'recover')

const anyTime = { shutdown: 'shutdown' } as const
const started = { ...anyTime, fail: 'failure' } as const
const waiting = { ...started, provision: 'provisioning', recover: 'provisioning' } as const

// On recover, a devbox with an incomplete disk continues its start; one that ran repeats its launch commands.
const moves: Record<DevboxStatus, Partial<Record<DevboxEvent, DevboxStatus>>> = {
  scheduled: waiting,
  queued: waiting,
  provisioning: { ...started, provisioned: 'initializing', recover: 'provisioning' },
  initializing: { ...started, initialized: 'running', recover: 'initializing' },
  running: { ...started, suspend: 'suspending', recover: 'initializing' },
  suspending: { ...anyTime, suspended: 'suspended', recover: 'suspended' },
  // Unspecified: `provisioning` instead of `resuming`, which the public clients don't wait for.
  suspended: { ...anyTime, resume: 'provisioning' },
  resuming: { ...anyTime, recover: 'provisioning' },
  failure: { ...anyTime, resume: 'provisioning' },
  shutdown: {},
}

export const nextStatus = (status: string, event: DevboxEvent): DevboxStatus | undefined =>
  moves[status as DevboxStatus]?.[event]

/** The idle policy replaces the keep-alive time. `lifecycle.after_idle` is the newer field. */
export const idlePolicy = ({ lifecycle, after_idle }: LaunchParameters) =>
  lifecycle?.after_idle ?? after_idle ?? undefined

export const keepAliveUntil = (parameters: LaunchParameters, nowMs: number): number | null =>
  idlePolicy(parameters) ? null : nowMs + (parameters.keep_alive_time_seconds ?? defaultKeepAliveSeconds) * 1000

export const hostnameFor = (name: string | null | undefined, fallback: string): string => {
  const clean = (text: string) =>
    text
      .replace(/[^A-Za-z0-9-]+/g, '-')
      .replace(/^-+/, '')
      .slice(0, 63)
      .replace(/-+$/, '')
  return clean(name ?? '') || clean(fallback)
}

const active: readonly (string | undefined)[] = ['initializing', 'running', 'suspending']

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

export const endReason = (
  { status, shutdown_reason, failure_reason, node }: EndingDevbox,
  isEvicted: boolean,
): string => {
  if (status === 'suspending')
    return isEvicted ? 'The devbox is suspending: it was evicted' : 'The devbox is suspending'
  const what = status === 'failure' ? 'The devbox has failed' : 'The devbox was shut down'
  if (status === 'failure' && failure_reason === 'node_lost')
    return `${what}: its node ${node?.hostname ?? ''} was lost`
  const why = endReasons[(status === 'failure' ? failure_reason : shutdown_reason) ?? '']
  return why ? `${what}: ${why}` : what
}

type EndingDevbox = Pick<Devbox, 'status' | 'shutdown_reason' | 'failure_reason' | 'node'>

const endReasons: Record<string, string> = {
  keep_alive_timeout: 'its keep-alive time expired',
  idle: 'it was idle',
  entrypoint_exit: 'its entrypoint exited',
  out_of_memory: 'it ran out of memory',
  out_of_disk: 'it ran out of disk space',
}
