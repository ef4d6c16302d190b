import { quantile } from '#lib/statistics/means.ts'
import type { Alert } from './alerts.ts'

/** Outcomes that the history can be filtered by. Both exclude drills and test alerts. */
export const alertOutcomes = ['interrupted', 'unattended'] as const
export type AlertOutcome = (typeof alertOutcomes)[number]

/** The deadline, or when it was closed if that was earlier. Decides which period an alert belongs to. */
export const occurredMs = ({ deadline_ms, closed_ms }: Pick<Alert, 'deadline_ms' | 'closed_ms'>): number =>
  Math.min(deadline_ms, closed_ms ?? deadline_ms)

export const isPractice = ({ kind, is_drill }: Pick<Alert, 'kind' | 'is_drill'>): boolean =>
  kind === 'test' || is_drill === true

export const isEvicted = ({ kind, state }: Pick<Alert, 'kind' | 'state'>): boolean =>
  kind === 'eviction' && state === 'ended'

/** Evicted while commands ran. */
export const isInterrupted = (alert: Alert): boolean => isEvicted(alert) && (alert.work?.commands ?? 0) > 0

/** Happened without an acknowledgment. */
export const isUnattended = ({ kind, state, acknowledged_ms }: Alert): boolean =>
  acknowledged_ms === null && (state === 'ended' || state === 'resolved' || (kind === 'failure' && state === 'passed'))

/**
 * Time from the first alarm to the first acknowledgment or handoff that wasn't undone; undefined if there is none, or if
 * the alert was acknowledged with an earlier deadline.
 */
export const responseMs = ({ first_heard_ms, acknowledged_ms, log = [] }: Alert): number | undefined => {
  let takenMs: number | undefined
  for (const { what, at_ms } of log) {
    if (what === 'unacknowledged') takenMs = undefined
    else if (what === 'acknowledged' || what === 'handed_over') takenMs ??= at_ms
  }
  // Alerts of older versions have no log.
  const answeredMs = takenMs ?? acknowledged_ms
  return answeredMs === null || answeredMs < first_heard_ms ? undefined : answeredMs - first_heard_ms
}

/** Rounded to whole milliseconds. */
export const quantileMs = (times: readonly number[], p: number): number | null => {
  const ms = quantile(times, p)
  return ms === null ? null : Math.round(ms)
}

/** Evictions of a period, without drills. */
export interface AlertSummary {
  /** Null for all stored alerts. */
  from_ms: number | null
  to_ms: number | null
  evicted: number
  interrupted: number
  commands: number
  /** Evictions for which the service didn't report running commands. */
  unknown: number
  unattended: number
  response: { n: number; median_ms: number | null }
}

export const summaryOf = (alerts: readonly Alert[]): Omit<AlertSummary, 'from_ms' | 'to_ms'> => {
  const evictions = alerts.filter((alert) => alert.kind === 'eviction' && !isPractice(alert))
  const evicted = evictions.filter(isEvicted)
  const responses = evictions.flatMap((alert) => responseMs(alert) ?? [])
  return {
    evicted: evicted.length,
    interrupted: evicted.filter(isInterrupted).length,
    commands: evicted.reduce((sum, { work }) => sum + (work?.commands ?? 0), 0),
    unknown: evicted.filter(({ work }) => work === undefined).length,
    unattended: evicted.filter(isUnattended).length,
    response: { n: responses.length, median_ms: quantileMs(responses, 0.5) },
  }
}
