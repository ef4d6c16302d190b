import type { Alert, AlertKind, AlertState } from './alerts.ts'

export const alertKindLabels: Record<AlertKind, string> = {
  eviction: 'Eviction',
  end: 'Shutdown',
  failure: 'Failure',
  job: 'Job ended',
  watch: 'Outage',
  test: 'Test',
}

export const alertKinds = Object.keys(alertKindLabels) as AlertKind[]

export const alertStateLabels: Record<AlertState, string> = {
  new: 'New',
  acknowledged: 'Acknowledged',
  moved: 'Rescheduled',
  ended: 'Evicted',
  passed: 'Deadline passed',
  withdrawn: 'Withdrawn',
  cancelled: 'Canceled',
  stopped: 'Stopped early',
  seen: 'Seen',
  resolved: 'Resolved',
}

export const alertStates = Object.keys(alertStateLabels) as AlertState[]

/** "Evicted" for an eviction, "Ended" for a shutdown. */
export const alertStateLabel = ({ kind, state }: Pick<Alert, 'kind' | 'state'>): string =>
  state === 'ended' && kind !== 'eviction' ? 'Ended' : alertStateLabels[state]
