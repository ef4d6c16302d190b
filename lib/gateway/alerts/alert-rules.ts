import type { Eviction } from '#lib/contract/evictions.ts'
import { type Alert, isOpen, lastCallMs, reminderMs } from '#lib/wire/alerts.ts'

/** The life of an alert, as pure steps. Each answers the alert as it is then, or undefined where nothing changes. */

export const alertId = ({ devbox_id, eviction_deadline_ms }: Eviction): string => `${devbox_id}@${eviction_deadline_ms}`

type Told = Pick<Alert, 'kind' | 'devbox_name' | 'metadata' | 'found_late'>

/** `before` is the open alert of the same devbox's deadline until now: who took that on has taken on a later one too. */
export const raised = (eviction: Eviction, told: Told, nowMs: number, before?: Alert): Alert => {
  const isTakenOn = before?.state === 'acknowledged' && eviction.eviction_deadline_ms > before.deadline_ms
  return {
    id: alertId(eviction),
    devbox_id: eviction.devbox_id,
    deadline_ms: eviction.eviction_deadline_ms,
    ...told,
    state: isTakenOn ? 'acknowledged' : 'new',
    first_heard_ms: nowMs,
    raised_ms: nowMs,
    alarms: isTakenOn ? 0 : 1,
    acknowledged_by: isTakenOn ? before.acknowledged_by : null,
    acknowledged_ms: isTakenOn ? before.acknowledged_ms : null,
    closed_ms: null,
  }
}

export const acknowledged = (alert: Alert, by: string, nowMs: number): Alert | undefined =>
  alert.state === 'new' ? { ...alert, state: 'acknowledged', acknowledged_by: by, acknowledged_ms: nowMs } : undefined

/** Raised again ten minutes before the deadline where nobody took it on, and two minutes before unless somebody did so that late. */
export const afterTime = (alert: Alert, nowMs: number): Alert | undefined => {
  if (!isOpen(alert) || alert.kind === 'test' || nowMs >= alert.deadline_ms) return undefined
  const isDue = (leftMs: number, lastTouchedMs: number) =>
    nowMs >= alert.deadline_ms - leftMs && lastTouchedMs < alert.deadline_ms - leftMs
  const lastTouchedMs = Math.max(alert.raised_ms, alert.acknowledged_ms ?? 0)
  if (!isDue(lastCallMs, lastTouchedMs) && !(alert.state === 'new' && isDue(reminderMs, alert.raised_ms)))
    return undefined
  return {
    ...alert,
    state: 'new',
    alarms: alert.alarms + 1,
    raised_ms: nowMs,
    acknowledged_by: null,
    acknowledged_ms: null,
  }
}

export const closed = (
  alert: Alert,
  state: 'moved' | 'ended' | 'passed' | 'withdrawn',
  nowMs: number,
): Alert | undefined => (isOpen(alert) ? { ...alert, state, closed_ms: nowMs } : undefined)

/** What has become of a devbox whose eviction is no longer reported; `status` is undefined where nobody could tell. */
export const closingState = (
  { deadline_ms }: Alert,
  status: string | undefined,
  nowMs: number,
): 'ended' | 'passed' | 'withdrawn' => {
  if (status !== undefined && !['running', 'provisioning', 'initializing', 'resuming'].includes(status)) return 'ended'
  return nowMs < deadline_ms ? 'withdrawn' : 'passed'
}

/** When an open alert has to be looked at next. */
export const nextLookMs = (alert: Alert, nowMs: number): number => {
  const times = [alert.deadline_ms - reminderMs, alert.deadline_ms - lastCallMs, alert.deadline_ms + settledMs].filter(
    (time) => time > nowMs,
  )
  return Math.min(...times, nowMs + mostMs)
}

/** A devbox is suspended this long after its deadline at most, as a rule. */
export const settledMs = 2_000
const mostMs = 60_000
