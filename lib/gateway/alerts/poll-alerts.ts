import { type Devbox, isOfTrial } from '#lib/contract/devboxes.ts'
import type { Alert } from '#lib/protocol/alerts.ts'
import { serviceNow } from '../upstream/clock.ts'
import { endSubject, isEndNear, type Subject, unseenMs } from './alert-rules.ts'
import type { OpenAlerts } from './open-alerts.ts'
import type { Poll } from './service-poller.ts'

/** Changes a poll can make to an account's alerts. */
interface Actions {
  raise(subject: Subject, details: Pick<Alert, 'devbox_name' | 'metadata' | 'found_late'>): void
  close(alert: Alert, state: 'moved' | 'passed'): void
  /** Looks up what happened to the devbox, then closes the alert. */
  settle(alert: Alert): void
  /** Returns false if the job isn't followed. */
  unfollowJob(jobId: string): boolean
}

/** After a longer gap between polls, findings count as late. */
const lateGapMs = 60_000
const clockSlackMs = 1_000
/** A devbox that still runs this long after its end did not end. */
const stillRunningMs = 30_000

/** Raises and closes the alerts that only polling reveals. `previousMs` is the time of the last poll, if any. */
export const applyPoll = (
  { running, failed, endedJobs, isComplete }: Poll,
  previousMs: number | null,
  open: OpenAlerts,
  { raise, close, settle, unfollowJob }: Actions,
): void => {
  const nowMs = serviceNow()
  const found_late = previousMs !== null && nowMs - previousMs > lateGapMs

  for (const { devbox, end } of running) {
    if (!end || isOfTrial(devbox) || !isEndNear(end, nowMs)) continue
    const subject = endSubject(devbox.id, end)
    if (!open.get(subject.id)) raise(subject, { ...detailsOf(devbox), found_late: false })
  }

  const ends = new Map(running.map(({ devbox, end }) => [devbox.id, end]))
  for (const alert of open.ofKind('end')) {
    const end = ends.get(alert.devbox_id)
    if (end && end.at_ms !== alert.deadline_ms) close(alert, 'moved')
    else if (!end && (isComplete || nowMs > alert.deadline_ms)) settle(alert)
    else if (end && nowMs > alert.deadline_ms + stillRunningMs) close(alert, 'passed')
  }

  // Failures from before the first poll raise no alert.
  const sinceMs = Math.max(previousMs ?? nowMs, nowMs - unseenMs) - clockSlackMs
  for (const devbox of failed) {
    const failedMs = devbox.end_time_ms ?? devbox.create_time_ms
    const id = `${devbox.id}:failure`
    if (failedMs >= sinceMs && !open.find(id))
      raise({ id, kind: 'failure', devbox_id: devbox.id, deadline_ms: failedMs }, { ...detailsOf(devbox), found_late })
  }

  for (const { id, name, state } of endedJobs)
    if (unfollowJob(id))
      raise(
        { id: `${id}:job`, kind: 'job', devbox_id: '', deadline_ms: nowMs, job: { id, name, state } },
        { devbox_name: null, metadata: {}, found_late },
      )
}

const detailsOf = ({ name = null, metadata }: Devbox) => ({ devbox_name: name, metadata })
