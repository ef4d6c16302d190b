import type { Devbox } from '#lib/contract/devboxes.ts'

/** The end of a running devbox that nobody uses or keeps alive. */
export interface UnattendedEnd {
  at_ms: number
  cause: 'keep_alive' | 'idle'
  /** Shutdown deletes the disk. */
  action: 'shutdown' | 'suspend'
  span_ms: number
  /** Estimated from the last start; later if it was kept alive elsewhere. */
  is_at_least: boolean
}

type Known = Pick<Devbox, 'status' | 'launch_parameters' | 'state_transitions' | 'keep_alive_until_ms' | 'last_used_ms'>

/** Undefined if not running or not reported. `keptAliveMs` is the last known keep-alive call. */
export const unattendedEnd = (devbox: Known, keptAliveMs = 0): UnattendedEnd | undefined => {
  if (devbox.status !== 'running') return undefined
  const { lifecycle, after_idle, keep_alive_time_seconds } = devbox.launch_parameters
  const idle = lifecycle?.after_idle ?? after_idle
  const startedMs = devbox.state_transitions.findLast(({ status }) => status === 'running')?.transition_time_ms
  if (idle) {
    const spanMs = idle.idle_time_seconds * 1000
    // Without the last use, an estimate would be wrong for every devbox in use.
    if (devbox.last_used_ms === undefined) return undefined
    const usedMs = Math.max(devbox.last_used_ms ?? 0, startedMs ?? 0)
    const end = { cause: 'idle', action: idle.on_idle, span_ms: spanMs, is_at_least: false } as const
    return usedMs > 0 ? { ...end, at_ms: usedMs + spanMs } : undefined
  }
  if (keep_alive_time_seconds == null) return undefined
  const span_ms = keep_alive_time_seconds * 1000
  const end = { cause: 'keep_alive', action: 'shutdown', span_ms } as const
  if (Number.isFinite(devbox.keep_alive_until_ms))
    return { ...end, at_ms: devbox.keep_alive_until_ms as number, is_at_least: false }
  const fromMs = Math.max(startedMs ?? 0, keptAliveMs)
  return fromMs > 0 ? { ...end, at_ms: fromMs + span_ms, is_at_least: true } : undefined
}
