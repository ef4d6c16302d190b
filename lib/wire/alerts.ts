/**
 * Alerts: what somebody has to know of before it happens. The console's server makes one of each eviction deadline it
 * hears of, keeps it with what people did about it, and tells every page of the account.
 */

/**
 * `moved`: the service gave the devbox another deadline, which is an alert of its own. `ended`: the devbox was
 * suspended or ended. `passed`: the deadline went by and the devbox still runs. `withdrawn`: the service no longer
 * reports it, and its deadline had not come.
 */
export type AlertState = 'new' | 'acknowledged' | 'moved' | 'ended' | 'passed' | 'withdrawn'

export interface Alert {
  /** The devbox and the deadline: the same eviction is the same alert, however often it is reported. */
  id: string
  kind: 'eviction' | 'test'
  devbox_id: string
  /** Null where the devbox has none, or the service did not tell. */
  devbox_name: string | null
  metadata: Record<string, string>
  deadline_ms: number
  state: AlertState
  first_heard_ms: number
  raised_ms: number
  /** Once when it was heard of, and once more each time it was raised again: a browser announces each alarm once. */
  alarms: number
  /** The console was not listening when the service first told of it. */
  found_late: boolean
  acknowledged_by: string | null
  acknowledged_ms: number | null
  closed_ms: number | null
}

/** Until `until_ms`, alerts of devboxes that have all of `metadata` make no noise. They are still listed. */
export interface Silence {
  id: string
  metadata: Record<string, string>
  until_ms: number
  comment: string
  by: string
  created_ms: number
}

/** How the console hears of evictions. Times are of the console's clock. */
export interface AlertStreamHealth {
  state: 'live' | 'retrying' | 'refused'
  since_ms: number
  /** The last event; null while there was none since the console began to listen. */
  last_event_ms: number | null
  /** The last sign of life, heartbeats included. */
  last_heard_ms: number | null
  /** Connections since the console began to listen, the first not counted. */
  reconnects: number
  /** The last times when nothing could be heard, newest first. */
  gaps: { from_ms: number; to_ms: number }[]
}

export interface WebhookDelivery {
  id: string
  event: AlertEventName
  alert_id: string
  at_ms: number
  attempts: number
  /** Null while it is still being tried. */
  delivered: boolean | null
  /** The status of the last answer, or why there was none. */
  answer: string
}

export type AlertEventName = 'alert.raised' | 'alert.acknowledged' | 'alert.closed' | 'alert.test'

/** What a page is told of its account: everything first, then what changes. */
export type AlertItem =
  | { event: 'snapshot'; data: { alerts: Alert[]; silences: Silence[] } }
  | { event: 'alert'; data: Alert }
  | { event: 'silences'; data: Silence[] }

/** Answer of `GET /api/alerts`: newest first. */
export interface AlertHistory {
  alerts: Alert[]
  has_more: boolean
  total_count: number
}

/** Answer of `GET /api/alerts/health`. */
export interface AlertHealth {
  stream: AlertStreamHealth
  webhook: {
    /** The host alone: the address may hold a secret. Null: none is configured. */
    host: string | null
    /** Whether the console listens with no page open. */
    watches_alone: boolean
    deliveries: WebhookDelivery[]
  }
}

export const isOpen = ({ state }: Pick<Alert, 'state'>): boolean => state === 'new' || state === 'acknowledged'

/** An acknowledgement made earlier than this before the deadline is over when this much is left. */
export const lastCallMs = 2 * 60_000
/** What nobody has acknowledged by then is raised again. */
export const reminderMs = 10 * 60_000

export const isSilenced = (
  { metadata }: Pick<Alert, 'metadata'>,
  silences: readonly Silence[],
  nowMs: number,
): boolean =>
  silences.some(
    ({ metadata: wanted, until_ms }) =>
      until_ms > nowMs && Object.entries(wanted).every(([name, value]) => metadata[name] === value),
  )

/** One line for a chat. `url` leads to the alert. */
export const alertText = ({ kind, devbox_id, devbox_name, deadline_ms, state }: Alert, url: string): string => {
  const name = devbox_name === null ? devbox_id : `${devbox_name} (${devbox_id})`
  const at = `${new Date(deadline_ms).toISOString().replace(/\.\d+Z$/, 'Z')}`
  if (kind === 'test') return `Test of Devdeck's alerts, deadline ${at}: ${url}`
  return `${stateTexts[state](`Devbox ${name}`, at)} ${url}`
}

const stateTexts: Record<AlertState, (devbox: string, at: string) => string> = {
  new: (devbox, at) => `${devbox} will be evicted at ${at}: it will be suspended, its processes end, its disk stays.`,
  acknowledged: (devbox, at) => `${devbox} will be evicted at ${at}; somebody has taken it on.`,
  moved: (devbox, at) => `${devbox} is not evicted at ${at}: the deadline was moved.`,
  ended: (devbox, at) => `${devbox} was to be evicted at ${at} and no longer runs.`,
  passed: (devbox, at) => `${devbox} was to be evicted at ${at} and still runs.`,
  withdrawn: (devbox, at) => `The service no longer reports an eviction of ${devbox} at ${at}.`,
}
