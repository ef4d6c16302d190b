import type { Eviction } from '#lib/contract/evictions.ts'
import { type Alert, hasHappened, isOpen, lastCallMs, reminderMs } from '#lib/protocol/alerts.ts'
import type { UnattendedEnd } from '#lib/protocol/devbox-ends.ts'

/** The life of an alert, as pure steps. Each answers the alert as it is then, or undefined where nothing changes. */

/** What an alert is about: the same thing has the same id, however often it is heard of. */
export type Subject = Pick<Alert, 'id' | 'kind' | 'devbox_id' | 'deadline_ms'> &
  Partial<Pick<Alert, 'job' | 'end' | 'is_drill'>>

export const evictionSubject = ({ devbox_id, eviction_deadline_ms }: Eviction): Subject => ({
  id: `${devbox_id}@${eviction_deadline_ms}`,
  kind: 'eviction',
  devbox_id,
  deadline_ms: eviction_deadline_ms,
})

export const endSubject = (devbox_id: string, { at_ms, cause, is_at_least }: UnattendedEnd): Subject => ({
  id: `${devbox_id}:end@${at_ms}`,
  kind: 'end',
  devbox_id,
  deadline_ms: at_ms,
  end: { cause, is_at_least },
})

/**
 * Unspecified: what is said of a devbox that was given less than twenty minutes. It is told of once half of its time is
 * over, or every use of it would make an alert.
 */
export const isEndNear = ({ at_ms, action, span_ms }: UnattendedEnd, nowMs: number): boolean =>
  action === 'shutdown' && nowMs < at_ms && nowMs >= at_ms - Math.min(reminderMs, span_ms / 2)

type Told = Pick<Alert, 'devbox_name' | 'metadata' | 'found_late'>

/**
 * `before` is the open alert of the same devbox's deadline until now. Taking that on is to take on a later one; who took
 * it on is the one to ask about an earlier one.
 */
export const raised = (subject: Subject, told: Told, nowMs: number, before?: Alert): Alert => {
  const isTakenOn = before?.state === 'acknowledged' && subject.deadline_ms > before.deadline_ms
  return {
    ...subject,
    ...told,
    state: isTakenOn ? 'acknowledged' : 'new',
    first_heard_ms: nowMs,
    raised_ms: nowMs,
    alarms: isTakenOn ? 0 : 1,
    acknowledged_by: before?.acknowledged_by ?? null,
    acknowledged_ms: before?.acknowledged_ms ?? null,
    closed_ms: null,
  }
}

/** An alert that was closed too early, as it was before. */
export const reopened = ({ stopped: _, ...alert }: Alert): Alert => {
  const { acknowledged_ms, raised_ms, alarms } = alert
  const isTakenOn = acknowledged_ms !== null && (acknowledged_ms >= raised_ms || alarms === 0)
  return { ...alert, state: isTakenOn ? 'acknowledged' : 'new', closed_ms: null }
}

/** What has happened already is over with that. */
export const acknowledged = (alert: Alert, by: string, nowMs: number): Alert | undefined => {
  if (alert.state !== 'new') return undefined
  const taken = { ...alert, acknowledged_by: by, acknowledged_ms: nowMs }
  return hasHappened(alert) ? { ...taken, state: 'seen', closed_ms: nowMs } : { ...taken, state: 'acknowledged' }
}

/** Raised again ten minutes before the deadline where nobody took it on, and two minutes before unless somebody did so that late. */
export const dueReminder = (alert: Alert, nowMs: number): Alert | undefined => {
  if (!isOpen(alert) || alert.kind === 'test' || hasHappened(alert) || nowMs >= alert.deadline_ms) return undefined
  const isDue = (leftMs: number, lastTouchedMs: number) =>
    nowMs >= alert.deadline_ms - leftMs && lastTouchedMs < alert.deadline_ms - leftMs
  const lastTouchedMs = Math.max(alert.raised_ms, alert.acknowledged_ms ?? 0)
  if (!isDue(lastCallMs, lastTouchedMs) && !(alert.state === 'new' && isDue(reminderMs, alert.raised_ms)))
    return undefined
  return { ...alert, state: 'new', alarms: alert.alarms + 1, raised_ms: nowMs }
}

export const closed = (
  alert: Alert,
  state: 'moved' | 'ended' | 'passed' | 'withdrawn' | 'cancelled' | 'stopped',
  nowMs: number,
  stopped?: Alert['stopped'],
): Alert | undefined => (isOpen(alert) ? { ...alert, state, closed_ms: nowMs, ...(stopped && { stopped }) } : undefined)

/** The last step with which a devbox stopped running. */
export interface DevboxStop {
  status: string
  at_ms: number
}

type Steps = readonly { status?: string | undefined; transition_time_ms?: number | undefined }[]

export const lastStop = (steps: Steps): DevboxStop | undefined => {
  const { status, transition_time_ms: at_ms } =
    steps.findLast(({ status = '' }, index) => !isActive(status) && isActive(steps[index - 1]?.status ?? '')) ?? {}
  return status !== undefined && Number.isFinite(at_ms) ? { status, at_ms: at_ms as number } : undefined
}

/** What became of a devbox whose eviction is no longer reported; `status` is undefined where the service gave none. */
export const closedState = (
  { deadline_ms, kind }: Pick<Alert, 'deadline_ms' | 'kind'>,
  status: string | undefined,
  nowMs: number,
  stop?: DevboxStop,
): 'ended' | 'passed' | 'withdrawn' | 'stopped' => {
  const byDeadline = (ms: number) => ms >= deadline_ms - clockSlackMs
  if (status !== undefined && kind === 'end' && endedStatuses.includes(status)) return 'ended'
  if (status !== undefined && kind !== 'end') {
    // Only the service stops a devbox at its deadline. Before that it was a person, a rule or a failure.
    if (!isActive(status)) return byDeadline(stop?.at_ms ?? nowMs) ? 'ended' : 'stopped'
    // Evicted and resumed since.
    if (stop && byDeadline(stop.at_ms)) return 'ended'
  }
  return status === undefined || nowMs < deadline_ms ? 'withdrawn' : 'passed'
}

export const howStopped = (status: string | undefined): NonNullable<Alert['stopped']>['how'] => {
  if (status === 'shutdown') return 'shut down'
  if (status === 'failure') return 'failed'
  return status === 'suspended' || status === 'suspending' ? 'suspended' : 'stopped'
}

/** The clock of the service and the times it writes need not agree. */
const clockSlackMs = 1_000
const activeStatuses = ['queued', 'scheduled', 'provisioning', 'initializing', 'running', 'resuming']
export const isActive = (status: string): boolean => activeStatuses.includes(status)
/** Only then is the disk gone. */
const endedStatuses = ['shutdown', 'failure']

/** When time may change an open alert next; at the latest in a minute. */
export const nextDueMs = (alert: Alert, nowMs: number): number => {
  const times = [alert.deadline_ms - reminderMs, alert.deadline_ms - lastCallMs, alert.deadline_ms + settledMs].filter(
    (time) => time > nowMs,
  )
  return Math.min(...times, nowMs + maxWaitMs)
}

/** A devbox is suspended this long after its deadline at most, as a rule. */
export const settledMs = 2_000
/** What has happened and nobody took note of is left to the history after a day. */
export const unseenMs = 24 * 3_600_000
const maxWaitMs = 60_000
