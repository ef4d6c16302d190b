import type { Eviction } from '#lib/contract/evictions.ts'
import { type Alert, hasHappened, isOpen, lastCallMs, reminderMs } from '#lib/protocol/alerts.ts'
import type { UnattendedEnd } from '#lib/protocol/devbox-ends.ts'

/** Alert transitions as pure functions. Each returns the changed alert, or undefined if nothing changes. */

/** Subject of an alert; its id is stable across reports. */
export type Subject = Pick<Alert, 'id' | 'kind' | 'devbox_id' | 'deadline_ms'> &
  Partial<Pick<Alert, 'node' | 'job' | 'end' | 'watch' | 'is_drill'>>

export const evictionSubject = ({ devbox_id, eviction_deadline_ms, node }: Eviction): Subject => ({
  id: `${devbox_id}@${eviction_deadline_ms}`,
  kind: 'eviction',
  devbox_id,
  deadline_ms: eviction_deadline_ms,
  ...(node && { node }),
})

export const endSubject = (devbox_id: string, { at_ms, cause, is_at_least }: UnattendedEnd): Subject => ({
  id: `${devbox_id}:end@${at_ms}`,
  kind: 'end',
  devbox_id,
  deadline_ms: at_ms,
  end: { cause, is_at_least },
})

/** Unspecified: a devbox given less than 20 minutes alerts once half of its time is over. */
export const isEndNear = ({ at_ms, action, span_ms }: UnattendedEnd, nowMs: number): boolean =>
  action === 'shutdown' && nowMs < at_ms && nowMs >= at_ms - Math.min(reminderMs, span_ms / 2)

type AlertDetails = Pick<Alert, 'devbox_name' | 'metadata' | 'found_late'>

/** `before` is the open alert for the previous deadline. An acknowledgment carries over to a later deadline only. */
export const raised = (subject: Subject, details: AlertDetails, nowMs: number, before?: Alert): Alert => {
  const isAcknowledged = before?.state === 'acknowledged' && subject.deadline_ms > before.deadline_ms
  return {
    ...subject,
    ...details,
    state: isAcknowledged ? 'acknowledged' : 'new',
    first_heard_ms: nowMs,
    raised_ms: nowMs,
    alarms: isAcknowledged ? 0 : 1,
    acknowledged_by: before?.acknowledged_by ?? null,
    acknowledged_ms: before?.acknowledged_ms ?? null,
    closed_ms: null,
  }
}

export const reopened = ({ stopped: _, ...alert }: Alert): Alert => {
  const { acknowledged_ms, raised_ms, alarms } = alert
  const isAcknowledged = acknowledged_ms !== null && (acknowledged_ms >= raised_ms || alarms === 0)
  return { ...alert, state: isAcknowledged ? 'acknowledged' : 'new', closed_ms: null }
}

export const acknowledged = (alert: Alert, by: string, nowMs: number): Alert | undefined => {
  if (alert.state !== 'new') return undefined
  const taken = { ...alert, acknowledged_by: by, acknowledged_ms: nowMs }
  const isOver = hasHappened(alert) && alert.kind !== 'watch'
  return isOver ? { ...taken, state: 'seen', closed_ms: nowMs } : { ...taken, state: 'acknowledged' }
}

/** Alarms again at 10 min if unacknowledged, and at 2 min unless acknowledged since. */
export const dueReminder = (alert: Alert, nowMs: number): Alert | undefined => {
  if (!isOpen(alert) || alert.kind === 'test' || hasHappened(alert) || nowMs >= alert.deadline_ms) return undefined
  const isDue = (leftMs: number, lastSeenMs: number) =>
    nowMs >= alert.deadline_ms - leftMs && lastSeenMs < alert.deadline_ms - leftMs
  const lastSeenMs = Math.max(alert.raised_ms, alert.acknowledged_ms ?? 0)
  if (!isDue(lastCallMs, lastSeenMs) && !(alert.state === 'new' && isDue(reminderMs, alert.raised_ms))) return undefined
  return { ...alert, state: 'new', alarms: alert.alarms + 1, raised_ms: nowMs }
}

export const closed = (
  alert: Alert,
  state: 'moved' | 'ended' | 'passed' | 'withdrawn' | 'cancelled' | 'stopped' | 'resolved',
  nowMs: number,
  stopped?: Alert['stopped'],
): Alert | undefined => (isOpen(alert) ? { ...alert, state, closed_ms: nowMs, ...(stopped && { stopped }) } : undefined)

export interface DevboxStop {
  status: string
  at_ms: number
}

type Transitions = readonly { status?: string | undefined; transition_time_ms?: number | undefined }[]

export const lastStop = (transitions: Transitions): DevboxStop | undefined => {
  const { status, transition_time_ms: at_ms } =
    transitions.findLast(
      ({ status = '' }, index) => !isActive(status) && isActive(transitions[index - 1]?.status ?? ''),
    ) ?? {}
  return status !== undefined && Number.isFinite(at_ms) ? { status, at_ms: at_ms as number } : undefined
}

/** The outcome of an eviction that is no longer reported; `status` is undefined if unknown. */
export const closedState = (
  { deadline_ms, kind }: Pick<Alert, 'deadline_ms' | 'kind'>,
  status: string | undefined,
  nowMs: number,
  stop?: DevboxStop,
): 'ended' | 'passed' | 'withdrawn' | 'stopped' => {
  const byDeadline = (ms: number) => ms >= deadline_ms - clockSlackMs
  if (status !== undefined && kind === 'end' && endedStatuses.includes(status)) return 'ended'
  if (status !== undefined && kind !== 'end') {
    // Only the service stops a devbox at its deadline; earlier it was a person, a rule or a failure.
    if (!isActive(status)) return byDeadline(stop?.at_ms ?? nowMs) ? 'ended' : 'stopped'
    // Evicted and resumed.
    if (stop && byDeadline(stop.at_ms)) return 'ended'
  }
  return status === undefined || nowMs < deadline_ms ? 'withdrawn' : 'passed'
}

export const howStopped = (status: string | undefined): NonNullable<Alert['stopped']>['how'] => {
  if (status === 'shutdown') return 'shut down'
  if (status === 'failure') return 'failed'
  return status === 'suspended' || status === 'suspending' ? 'suspended' : 'stopped'
}

/** Clock difference between the service and its records. */
const clockSlackMs = 1_000
const activeStatuses = ['queued', 'scheduled', 'provisioning', 'initializing', 'running', 'resuming']
export const isActive = (status: string): boolean => activeStatuses.includes(status)
const endedStatuses = ['shutdown', 'failure']

/** When to check an open alert next, at most a minute from now. */
export const nextDueMs = (alert: Alert, nowMs: number): number => {
  const times = [alert.deadline_ms - reminderMs, alert.deadline_ms - lastCallMs, alert.deadline_ms + settledMs].filter(
    (time) => time > nowMs,
  )
  return Math.min(...times, nowMs + maxWaitMs)
}

/** Time the service needs to suspend a devbox after its deadline. */
export const settledMs = 2_000
/** Unseen past events are closed after a day. */
export const unseenMs = 24 * 3_600_000
const maxWaitMs = 60_000
