import type { Alert } from './alerts.ts'

export const alertOf = (change: Partial<Alert> = {}): Alert => ({
  id: `dbx_1@${change.deadline_ms ?? 600_000}`,
  kind: 'eviction',
  devbox_id: 'dbx_1',
  devbox_name: 'api',
  metadata: {},
  deadline_ms: 600_000,
  state: 'new',
  first_heard_ms: 0,
  raised_ms: 0,
  alarms: 1,
  found_late: false,
  acknowledged_by: null,
  acknowledged_ms: null,
  closed_ms: null,
  ...change,
})
