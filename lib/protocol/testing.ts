import type { Alert, Receiver } from './alerts.ts'

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

export const receiverOf = (change: Partial<Receiver> = {}): Receiver => ({
  id: 'rcv_1',
  name: 'on-call',
  format: 'json',
  host: 'alerts.example.com',
  source: 'page',
  filter: { kinds: null, min_severity: 'info', metadata: {} },
  has_secret: true,
  is_paused: false,
  failure: null,
  waiting: 0,
  next_try_ms: null,
  deliveries: [],
  ...change,
})
