// Alerts of an account: evictions, upcoming disk deletions, failed devboxes, ended jobs and outages of the watch itself.
// The console stores them and sends them to every page.

/**
 * `moved`: got another deadline, which is an alert of its own. `ended`: stopped at its deadline. `stopped`: stopped
 * earlier, see `Alert.stopped`. `passed`: still running after the deadline. `withdrawn`: no longer reported, or its
 * outcome is unknown. `cancelled`: canceled through this console. `seen`: acknowledged after it had happened.
 * `resolved`: the console sees evictions again.
 */
export type AlertState =
  | 'new'
  | 'acknowledged'
  | 'moved'
  | 'ended'
  | 'passed'
  | 'withdrawn'
  | 'cancelled'
  | 'stopped'
  | 'seen'
  | 'resolved'

// `eviction`: will be suspended. `end`: keep-alive or idle time runs out and the disk is deleted. `failure`: a devbox
// failed. `job`: a followed benchmark job ended. `watch`: the console may miss events.
export type AlertKind = 'eviction' | 'end' | 'failure' | 'job' | 'watch' | 'test'

export interface Alert {
  /** Combines devbox and deadline, so a repeated report is the same alert. */
  id: string
  kind: AlertKind
  devbox_id: string
  devbox_name: string | null
  metadata: Record<string, string>
  /** Hostname of the node that an evicted devbox runs on, or that a failed one was lost with. */
  node?: string
  /** Set for a devbox that a benchmark created. */
  scenario_run_id?: string
  /** A practice eviction scheduled through this console. */
  is_drill?: true
  job?: { id: string; name: string; state: string }
  /** `is_at_least`: the earliest possible end; the service reports no exact time. */
  end?: { cause: 'keep_alive' | 'idle'; is_at_least: boolean }
  /** `account` is the account's name. */
  watch?: { cause: 'refused' | 'unreachable' | 'unreadable' | 'late'; detail: string; account: string }
  /** For a `failure`, `job` or `watch`: when it happened, was first seen or began. */
  deadline_ms: number
  /** Deadline of the alert that this one replaces. */
  moved_from_ms?: number
  state: AlertState
  first_heard_ms: number
  raised_ms: number
  /** Counts alarms including reminders. Browsers announce each one once. */
  alarms: number
  /** The console was not listening when it was first reported. */
  found_late: boolean
  /** `by` is null if it was stopped outside this console. */
  stopped?: { how: 'suspended' | 'shut down' | 'failed' | 'stopped'; by: string | null }
  /** Commands that ran when the devbox was evicted or shut down; missing if unknown. */
  work?: { commands: number }
  /** Silenced when raised: receivers get it after the silence. `again`: as a reminder. */
  withheld?: 'first' | 'again'
  /** Ids of the receivers that got it; they also get everything that follows. */
  receivers?: string[]
  /** The last acknowledgment. A `new` alert that has one was raised again since. */
  acknowledged_by: string | null
  acknowledged_ms: number | null
  closed_ms: number | null
  /** Oldest first, at most 50: the first one and the newest are kept. */
  log?: AlertEntry[]
}

/** Something that happened to an alert. */
export interface AlertEntry {
  at_ms: number
  what:
    | 'raised'
    | 'acknowledged'
    | 'handed_over'
    | 'unacknowledged'
    | 'commented'
    | 'silenced'
    | 'silence_ended'
    | 'closed'
  /** Null for the console itself. */
  by: string | null
  /** Who a `handed_over` alert went to. */
  to?: string
  /** A comment, the comment of a silence, or the closing state. */
  text?: string
}

/** Mutes alerts of devboxes with all of `metadata` until `until_ms`. They are still listed. */
export interface Silence {
  id: string
  metadata: Record<string, string>
  until_ms: number
  comment: string
  by: string
  created_ms: number
}

/** Health of the eviction stream, in the console's time. */
export interface AlertStreamHealth {
  /** `connecting`: no connection or failed attempt yet. */
  state: 'connecting' | 'live' | 'retrying' | 'refused'
  since_ms: number
  /** Last event since the console started listening. */
  last_event_ms: number | null
  last_heard_ms: number | null
  /** Number of events that could not be parsed, and the latest reason. */
  unreadable: number
  unreadable_reason: string | null
  /** Not counting the first connection. */
  reconnects: number
  /** Recent interruptions, newest first. */
  gaps: { from_ms: number; to_ms: number }[]
}

/** Polled once for all pages, because no stream reports it: running and failed devboxes, followed jobs. */
export interface PollHealth {
  /** Last successful poll; null before the first. */
  looked_ms: number | null
  every_ms: number
  /** Running devboxes with a known or estimated end, without benchmark trials. */
  watched: number
  running: number
  /** There are more running devboxes than one page of the list. */
  has_more: boolean
  followed_jobs: number
  /** Why the last poll failed. */
  problem: string | null
}

export interface FailingReceiver {
  id: string
  name: string
  host: string
  since_ms: number
  answer: string
}

export type AlertEventName =
  | 'alert.raised'
  | 'alert.acknowledged'
  | 'alert.unacknowledged'
  | 'alert.closed'
  | 'alert.test'

export type Severity = 'critical' | 'warning' | 'info'

/** An eviction becomes critical when it is raised again, or for the first time, within its last call. */
export const severityOf = ({ kind, deadline_ms, raised_ms }: Alert): Severity => {
  if (kind === 'job' || kind === 'test') return 'info'
  return kind === 'eviction' && raised_ms < deadline_ms - lastCallMs ? 'warning' : 'critical'
}

export type ReceiverFormat = 'json' | 'slack' | 'pagerduty' | 'heartbeat'

/** Alerts that a receiver gets: all `kinds` if null, with all of `metadata`. */
export interface ReceiverFilter {
  kinds: AlertKind[] | null
  min_severity: Severity
  metadata: Record<string, string>
}

/** Where alerts are sent, as pages see it: without secrets and without the path of its URL. */
export interface Receiver {
  id: string
  name: string
  format: ReceiverFormat
  host: string
  /** Only receivers added on the page can be changed there. */
  source: 'environment' | 'file' | 'page'
  filter: ReceiverFilter
  /** Heartbeats only. */
  every_seconds?: number
  has_secret: boolean
  is_paused: boolean
  /** Set after repeated failures or a rejection, until a message is accepted. */
  failure: { since_ms: number; answer: string } | null
  /** Messages stored and not yet delivered. */
  waiting: number
  next_try_ms: number | null
  /** The latest, newest first. */
  deliveries: Delivery[]
}

export interface Delivery {
  id: string
  event: AlertEventName | 'heartbeat'
  n_alerts: number
  at_ms: number
  attempts: number
  state: 'waiting' | 'delivered' | 'failed'
  answer: string
  text: string
}

export interface Receivers {
  receivers: Receiver[]
  /** Why this session can't add any; null if it can. */
  add_refusal: string | null
  /** Whether alerts are sent even while no page of the account is open. */
  watches_alone: boolean
}

/** Items of the `alerts.watch` topic: a snapshot, then changes. */
export type AlertItem =
  | {
      event: 'snapshot'
      data: { alerts: Alert[]; silences: Silence[]; followed_jobs: string[]; receivers: { failing: FailingReceiver[] } }
    }
  | { event: 'alert'; data: Alert }
  | { event: 'silences'; data: Silence[] }
  | { event: 'followed_jobs'; data: string[] }
  | { event: 'receivers'; data: { failing: FailingReceiver[] } }

/** Per account; the oldest closed alerts are pruned first. */
export const maxStoredAlerts = 10_000

export interface AlertHistory {
  alerts: Alert[]
  has_more: boolean
  total_count: number
}

/** Response of acknowledging. */
export interface Acknowledged {
  acknowledged: Alert[]
  /** Alerts that someone else already had. */
  taken: Alert[]
}

/** Response of handing over, commenting and undoing. */
export interface ChangedAlerts {
  alerts: Alert[]
}

/** Response of `GET /api/alerts/people`: everyone who can be given an alert. */
export interface AlertPeople {
  people: string[]
}

export interface AlertHealth {
  stream: AlertStreamHealth
  looks: PollHealth
  unwritten: string | null
}

export const hasHappened = ({ kind }: Pick<Alert, 'kind'>): boolean =>
  kind === 'failure' || kind === 'job' || kind === 'watch'

/** Test alerts and acknowledged outages rank below upcoming events, so that they never hide the next eviction. */
const rank = (alert: Alert) => {
  if (alert.kind === 'watch' && alert.state === 'new') return -1
  return hasHappened(alert) ? 2 : Number(alert.kind === 'test')
}

/** An outage first; then upcoming events, by deadline; then past events, newest first. */
export const byUrgency = (a: Alert, b: Alert): number =>
  rank(a) - rank(b) ||
  (hasHappened(a) ? b.deadline_ms - a.deadline_ms : a.deadline_ms - b.deadline_ms) ||
  (a.id < b.id ? -1 : 1)

/** Alerts with the same `groupKeyOf`. The id of a single alert's group is its own. */
export interface AlertGroup {
  id: string
  alerts: readonly [Alert, ...Alert[]]
}

export const groupAlerts = (alerts: readonly Alert[]): AlertGroup[] => {
  const groups = new Map<string, [Alert, ...Alert[]]>()
  for (const alert of alerts) {
    const key = groupKeyOf(alert)
    const group = groups.get(key)
    if (group) group.push(alert)
    else groups.set(key, [alert])
  }
  return [...groups].map(([id, alerts]) => ({ id: alerts.length > 1 ? id : alerts[0].id, alerts }))
}

/**
 * Evictions of one node, or without a node, in the same second share a key, and so do devboxes lost with one node. Any
 * other alert has its own. Depends on this alert only, so receivers can use it across messages.
 */
export const groupKeyOf = ({ id, kind, node, deadline_ms, is_drill }: Alert): string => {
  if (kind === 'failure' && node) return `failure ${node}`
  if (kind !== 'eviction') return id
  return `${is_drill ? 'drill' : kind} ${node ?? ''}@${Math.floor(deadline_ms / 1000)}`
}

/** A past event that was handed over is open until it is acknowledged. */
export const canAcknowledge = (alert: Alert): boolean => alert.state === 'new' || (isPastEvent(alert) && isOpen(alert))

/** Acknowledging closes a past event. */
export const isPastEvent = (alert: Alert): boolean => hasHappened(alert) && alert.kind !== 'watch'

export const isOpen = ({ state }: Pick<Alert, 'state'>): boolean => state === 'new' || state === 'acknowledged'

/** Alerts are raised again this long before the deadline, unless acknowledged since. */
export const lastCallMs = 2 * 60_000
/** Unacknowledged alerts are raised again this long before the deadline. */
export const reminderMs = 10 * 60_000

export const isSilenced = (
  { metadata }: Pick<Alert, 'metadata'>,
  silences: readonly Pick<Silence, 'metadata' | 'until_ms'>[],
  nowMs: number,
): boolean =>
  silences.some(
    ({ metadata: wanted, until_ms }) =>
      until_ms > nowMs && Object.entries(wanted).every(([name, value]) => metadata[name] === value),
  )

const maxNameLength = 100

/** Makes a user-chosen name safe for chats: one line, bounded, no bidirectional controls, mentions or links. */
export const nameInText = (name: string): string => {
  const line = name
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\s]+/gu, ' ')
    .replaceAll('<', '‹')
    .replaceAll('>', '›')
    .trim()
  const characters = [...line]
  return characters.length > maxNameLength ? `${characters.slice(0, maxNameLength - 1).join('')}…` : line
}

/** One line for chats, with a link to the alert. */
export const alertText = (alert: Alert, url: string): string => {
  const { kind, devbox_id, devbox_name, node, state, job, is_drill } = alert
  const at = timeInText(alert)
  if (kind === 'test') return `Devdeck test alert, deadline ${at}: ${url}`
  if (job) return `Benchmark job ${nameInText(job.name)} (${job.id}) ended: ${job.state}. ${url}`
  if (kind === 'watch' || state === 'resolved') return `${watchText(alert, at)} ${url}`
  const name = nameInText(devbox_name ?? '')
  const devbox = `Devbox ${name === '' ? devbox_id : `${name} (${devbox_id})`}${node ? ` on ${nameInText(node)}` : ''}`
  if (kind === 'failure') return `${devbox} failed at ${at}${node ? ': the node was lost' : ''}. ${url}`
  const deadline = kind === 'end' ? 'end' : 'eviction'
  const text =
    state === 'stopped'
      ? `${devbox} was ${stoppedText(alert)} before its ${deadline} at ${at}.`
      : (kind === 'end' ? endTexts : evictionTexts)[state](devbox, at)
  return `${is_drill ? 'Drill: ' : ''}${text} ${url}`
}

const watchText = ({ watch, state }: Alert, at: string): string => {
  const account = nameInText(watch?.account ?? '')
  return state === 'resolved'
    ? `Devdeck sees the evictions of ${account} again, after an outage since ${at}.`
    : `Devdeck may miss evictions of ${account} since ${at}. ${nameInText(watch?.detail ?? '')}.`
}

export const stoppedText = ({ stopped }: Pick<Alert, 'stopped'>): string => {
  const { how = 'stopped', by = null } = stopped ?? {}
  return by === null ? how : `${how} by ${nameInText(by)}`
}

export interface LinkedAlert {
  alert: Alert
  url: string
}

/** Several alerts as text: a line per group and state, then how many more. */
export const alertsText = (alerts: readonly LinkedAlert[]): string => {
  const urls = new Map(alerts.map(({ alert, url }) => [alert.id, url]))
  const lines = groupAlerts(alerts.map(({ alert }) => alert)).flatMap(({ alerts }) =>
    [...Map.groupBy(alerts, outcomeOf).values()].flatMap((same) => {
      const [first, ...others] = same
      const url = urls.get(first?.id ?? '') ?? ''
      if (!first) return []
      return [
        { text: others.length > 0 ? groupText(first, same.length, url) : alertText(first, url), count: same.length },
      ]
    }),
  )
  const more = lines.slice(maxLines).reduce((sum, { count }) => sum + count, 0)
  return [
    ...(lines.length > 1 ? [`${alerts.length} alerts:`] : []),
    ...lines.slice(0, maxLines).map(({ text }) => text),
    ...(more > 0 ? [`and ${more} more`] : []),
  ].join('\n')
}

const outcomeOf = (alert: Alert) => (alert.state === 'stopped' ? stoppedText(alert) : alert.state)

const maxLines = 10

const timeInText = ({ deadline_ms }: Alert) => new Date(deadline_ms).toISOString().replace(/\.\d+Z$/, 'Z')

const groupText = (first: Alert, count: number, url: string): string => {
  const devboxes = `${count} devboxes${first.node ? ` on ${nameInText(first.node)}` : ''}`
  const at = timeInText(first)
  if (first.kind === 'failure' || first.state === 'resolved')
    return `${devboxes} failed at ${at}: the node was lost. ${url}`
  const text =
    first.state === 'stopped'
      ? `${devboxes} were ${stoppedText(first)} before their eviction at ${at}.`
      : evictionsTexts[first.state](devboxes, at)
  return `${first.is_drill ? 'Drill: ' : ''}${text} ${url}`
}

type StateTexts = Record<Exclude<AlertState, 'stopped' | 'resolved'>, (devbox: string, at: string) => string>

const evictionTexts: StateTexts = {
  new: (devbox, at) => `${devbox} will be evicted at ${at}. It will be suspended: processes end, the disk stays.`,
  acknowledged: (devbox, at) => `${devbox} will be evicted at ${at} (acknowledged).`,
  moved: (devbox, at) => `${devbox} will not be evicted at ${at}; the deadline changed.`,
  ended: (devbox, at) => `${devbox} was evicted at ${at}.`,
  passed: (devbox, at) => `${devbox} is still running after its eviction deadline ${at}.`,
  withdrawn: (devbox, at) => `The service no longer reports an eviction of ${devbox} at ${at}.`,
  cancelled: (devbox, at) => `The eviction of ${devbox} at ${at} was canceled.`,
  seen: (devbox, at) => `The eviction of ${devbox} at ${at} was acknowledged.`,
}

const evictionsTexts: StateTexts = {
  new: (devboxes, at) => `${devboxes} will be evicted at ${at}. They will be suspended: processes end, disks stay.`,
  acknowledged: (devboxes, at) => `${devboxes} will be evicted at ${at} (acknowledged).`,
  moved: (devboxes, at) => `${devboxes} will not be evicted at ${at}; their deadline changed.`,
  ended: (devboxes, at) => `${devboxes} were evicted at ${at}.`,
  passed: (devboxes, at) => `${devboxes} are still running after their eviction deadline ${at}.`,
  withdrawn: (devboxes, at) => `The service no longer reports the evictions of ${devboxes} at ${at}.`,
  cancelled: (devboxes, at) => `The evictions of ${devboxes} at ${at} were canceled.`,
  seen: (devboxes, at) => `The evictions of ${devboxes} at ${at} were acknowledged.`,
}

const endTexts: StateTexts = {
  new: (devbox, at) => `${devbox} will be shut down and its disk deleted at ${at} unless it is kept alive.`,
  acknowledged: (devbox, at) => `${devbox} will be shut down and its disk deleted at ${at} (acknowledged).`,
  moved: (devbox, at) => `${devbox} will not be shut down at ${at}; it was kept alive or used.`,
  ended: (devbox, at) => `${devbox} was shut down at ${at}; its disk is deleted.`,
  passed: (devbox, at) => `${devbox} is still running after its scheduled end ${at}.`,
  withdrawn: (devbox, at) => `${devbox} is no longer scheduled to end at ${at}.`,
  cancelled: (devbox, at) => `The end of ${devbox} at ${at} was canceled.`,
  seen: (devbox, at) => `The end of ${devbox} at ${at} was acknowledged.`,
}
