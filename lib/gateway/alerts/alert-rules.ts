import type { Eviction } from '#lib/contract/evictions.ts'
import {
  type Alert,
  type AlertEntry,
  canAcknowledge,
  hasHappened,
  isOpen,
  isPastEvent,
  lastCallMs,
  reminderMs,
  type Silence,
} from '#lib/protocol/alerts.ts'
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
    ...(before && { moved_from_ms: before.deadline_ms }),
    state: isAcknowledged ? 'acknowledged' : 'new',
    first_heard_ms: nowMs,
    raised_ms: nowMs,
    alarms: isAcknowledged ? 0 : 1,
    acknowledged_by: before?.acknowledged_by ?? null,
    acknowledged_ms: before?.acknowledged_ms ?? null,
    closed_ms: null,
    log: [{ at_ms: nowMs, what: 'raised', by: null }],
  }
}

export const testAlert = (nowMs: number): Alert => {
  const deadline_ms = nowMs + testMs
  const subject: Subject = { id: `test@${deadline_ms}`, kind: 'test', devbox_id: 'test', deadline_ms }
  return raised(subject, { devbox_name: null, metadata: {}, found_late: false }, nowMs)
}

export const reopened = ({ stopped: _, ...alert }: Alert, nowMs: number): Alert => {
  const { acknowledged_ms, raised_ms, alarms } = alert
  const isAcknowledged = acknowledged_ms !== null && (acknowledged_ms >= raised_ms || alarms === 0)
  const state = isAcknowledged ? 'acknowledged' : 'new'
  return logged({ ...alert, state, closed_ms: null }, { at_ms: nowMs, what: 'raised', by: null })
}

const maxLogEntries = 50

/** Keeps the first entry and the newest. */
export const logged = (alert: Alert, ...entries: AlertEntry[]): Alert => {
  const [first, ...later] = [...(alert.log ?? []), ...entries]
  return first ? { ...alert, log: [first, ...later.slice(1 - maxLogEntries)] } : alert
}

export const acknowledged = (alert: Alert, by: string, nowMs: number): Alert | undefined => {
  if (!canAcknowledge(alert)) return undefined
  const taken: Alert = { ...alert, state: 'acknowledged', acknowledged_by: by, acknowledged_ms: nowMs }
  const next = logged(taken, { at_ms: nowMs, what: 'acknowledged', by })
  return isPastEvent(alert) ? { ...next, state: 'seen', closed_ms: nowMs } : next
}

export const handedOver = (alert: Alert, to: string, by: string, nowMs: number): Alert | undefined => {
  if (!isOpen(alert) || (alert.state === 'acknowledged' && alert.acknowledged_by === to)) return undefined
  return logged(
    { ...alert, state: 'acknowledged', acknowledged_by: to, acknowledged_ms: nowMs },
    { at_ms: nowMs, what: 'handed_over', by, to },
  )
}

/** Takes back an acknowledgment or a handoff. `alarms` stays the same, so that no browser announces it again. */
export const unacknowledged = (alert: Alert, by: string, nowMs: number): Alert | undefined => {
  const isSeen = alert.state === 'seen' && nowMs < alert.first_heard_ms + unseenMs
  if (alert.state !== 'acknowledged' && !isSeen) return undefined
  return logged(
    { ...alert, state: 'new', acknowledged_by: null, acknowledged_ms: null, closed_ms: null },
    { at_ms: nowMs, what: 'unacknowledged', by },
  )
}

type SilenceAuthor = Pick<Silence, 'by' | 'comment'>

export const silencedBy = (alert: Alert, { by, comment }: SilenceAuthor, nowMs: number): Alert =>
  logged(alert, { at_ms: nowMs, what: 'silenced', by, ...(comment && { text: comment }) })

/** Records the silences that cover an alert when it is raised, unless they were recorded when they began. */
export const raisedSilenced = (alert: Alert, silences: readonly SilenceAuthor[], nowMs: number): Alert =>
  countSilences(alert) > 0 ? alert : silences.reduce((each, silence) => silencedBy(each, silence, nowMs), alert)

/** `by` is null for a silence that expired. */
export const silenceEnded = (alert: Alert, by: string | null, nowMs: number): Alert | undefined =>
  countSilences(alert) > 0 ? logged(alert, { at_ms: nowMs, what: 'silence_ended', by }) : undefined

const countSilences = ({ log = [] }: Alert): number =>
  log.reduce((count, { what }) => count + Number(what === 'silenced') - Number(what === 'silence_ended'), 0)

/** Alarms again at 10 min if unacknowledged, and at 2 min unless acknowledged since. */
export const dueReminder = (alert: Alert, nowMs: number): Alert | undefined => {
  if (!isOpen(alert) || alert.kind === 'test' || hasHappened(alert) || nowMs >= alert.deadline_ms) return undefined
  const isDue = (leftMs: number, lastSeenMs: number) =>
    nowMs >= alert.deadline_ms - leftMs && lastSeenMs < alert.deadline_ms - leftMs
  const lastSeenMs = Math.max(alert.raised_ms, alert.acknowledged_ms ?? 0)
  if (!isDue(lastCallMs, lastSeenMs) && !(alert.state === 'new' && isDue(reminderMs, alert.raised_ms))) return undefined
  return logged(
    { ...alert, state: 'new', alarms: alert.alarms + 1, raised_ms: nowMs },
    { at_ms: nowMs, what: 'raised', by: null },
  )
}

export const closed = (
  alert: Alert,
  state: 'moved' | 'ended' | 'passed' | 'withdrawn' | 'cancelled' | 'stopped' | 'resolved',
  nowMs: number,
  stopped?: Alert['stopped'],
  by = stopped?.by ?? null,
): Alert | undefined => {
  if (!isOpen(alert)) return undefined
  return logged(
    { ...alert, state, closed_ms: nowMs, ...(stopped && { stopped }) },
    { at_ms: nowMs, what: 'closed', by, text: state },
  )
}

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
const testMs = 60_000
