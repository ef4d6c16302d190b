import { isEvicted, isPractice, isUnattended, occurredMs } from './alert-outcomes.ts'
import type { Alert } from './alerts.ts'

/**
 * `unattended`, `attended`: evicted without and with an acknowledgment. `lost`: shut down with its disk, or failed.
 * `outages`: of the eviction watch. `practice`: drills and test alerts.
 */
export type RecapPart = 'unattended' | 'attended' | 'lost' | 'outages' | 'practice'

/** Alerts closed since `from_ms`. */
export interface AlertRecap {
  from_ms: number
  parts: Record<RecapPart, { count: number; alerts: Alert[] }>
  /** Closed without a loss: rescheduled, canceled, stopped earlier, withdrawn, or ended jobs. */
  others: number
}

/** Alerts of a part that a recap contains; the rest is only counted. */
const maxRecapAlerts = 3

const partOf = (alert: Alert): RecapPart | undefined => {
  if (isPractice(alert)) return 'practice'
  if (alert.kind === 'watch') return 'outages'
  if (isEvicted(alert)) return isUnattended(alert) ? 'unattended' : 'attended'
  return alert.kind === 'failure' || (alert.kind === 'end' && alert.state === 'ended') ? 'lost' : undefined
}

export const recapOf = (alerts: readonly Alert[], from_ms: number): AlertRecap => {
  const byPart = Map.groupBy(
    alerts.toSorted((a, b) => occurredMs(b) - occurredMs(a)),
    partOf,
  )
  const part = (name: RecapPart) => {
    const found = byPart.get(name) ?? []
    return { count: found.length, alerts: found.slice(0, maxRecapAlerts) }
  }
  return {
    from_ms,
    parts: {
      unattended: part('unattended'),
      attended: part('attended'),
      lost: part('lost'),
      outages: part('outages'),
      practice: part('practice'),
    },
    others: byPart.get(undefined)?.length ?? 0,
  }
}
