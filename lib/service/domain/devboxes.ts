import { type DevboxStatus, defaultKeepAliveSeconds, type LaunchParameters } from '#lib/contract/devboxes.ts'

/** What happens to a devbox, by a caller, by itself or by the service. */
export type DevboxEvent =
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
const started = { ...anyTime, fail: 'failure', recover: 'initializing' } as const

const moves: Record<DevboxStatus, Partial<Record<DevboxEvent, DevboxStatus>>> = {
  scheduled: anyTime,
  queued: anyTime,
  provisioning: { ...started, provisioned: 'initializing' },
  initializing: { ...started, initialized: 'running' },
  running: { ...started, suspend: 'suspending' },
  suspending: { ...anyTime, suspended: 'suspended', recover: 'suspended' },
  suspended: { ...anyTime, resume: 'resuming' },
  resuming: { ...started, resumed: 'initializing' },
  failure: {},
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
