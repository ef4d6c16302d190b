/**
 * Alerts: evictions, devboxes whose disk is about to be deleted, failed devboxes, and the ends of followed jobs. The
 * console's server stores them with what people did about them, and sends them to every page of the account.
 */

/**
 * `moved`: the service gave the devbox another deadline, which is an alert of its own. `ended`: the devbox stopped at
 * its deadline. `stopped`: it stopped before, see `Alert.stopped`. `passed`: the deadline went by and the devbox still
 * runs. `withdrawn`: the service no longer reports it before its deadline, or does not say what became of the devbox.
 * `cancelled`: somebody canceled it through this console. `seen`: somebody acknowledged what had already happened.
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

/**
 * `eviction`: it will be suspended. `end`: its keep-alive time or idle time runs out, and its disk is deleted.
 * `failure`: a devbox has failed. `job`: a benchmark job that somebody follows has ended.
 */
export type AlertKind = 'eviction' | 'end' | 'failure' | 'job' | 'test'

export interface Alert {
  /** The devbox and the deadline: the same eviction is the same alert, however often it is reported. */
  id: string
  kind: AlertKind
  /** Empty where it is about a job. */
  devbox_id: string
  /** Null where the devbox has none, or the service did not tell. */
  devbox_name: string | null
  metadata: Record<string, string>
  /** The run of a scenario that the devbox was made for, where it is a benchmark's. */
  scenario_run_id?: string
  /** Of an eviction that somebody scheduled through this console, to practise. */
  is_drill?: true
  /** Of a `job` alert. */
  job?: { id: string; name: string; state: string }
  /** Of an `end` alert. `is_at_least`: the service does not say when, and it may come later. */
  end?: { cause: 'keep_alive' | 'idle'; is_at_least: boolean }
  /** Of a `failure` or a `job`: when it happened, or was heard of. */
  deadline_ms: number
  state: AlertState
  first_heard_ms: number
  raised_ms: number
  /** Once when it was heard of, and once more each time it was raised again: a browser announces each alarm once. */
  alarms: number
  /** The console was not listening when the service first reported it, or the stream lost it. */
  found_late: boolean
  /** Of a `stopped` alert. `by` is null where it was not done through this console. */
  stopped?: { how: 'suspended' | 'shut down' | 'failed' | 'stopped'; by: string | null }
  /** It was silenced as it was raised, for the first time or again: the webhook gets it once the silence is over. */
  withheld?: 'first' | 'again'
  /** Who took it on last, and when. A `new` alert that has them was raised again since. */
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
  /** `connecting`: the service has not been reached yet, nor has an attempt failed. */
  state: 'connecting' | 'live' | 'retrying' | 'refused'
  since_ms: number
  /** The last event; null while there was none since the console began to listen. */
  last_event_ms: number | null
  /** The last sign of life, heartbeats included. */
  last_heard_ms: number | null
  /** Events that could not be understood, and why the last of them could not. */
  unreadable: number
  unreadable_reason: string | null
  /** Connections since the console began to listen, the first not counted. */
  reconnects: number
  /** The last times when nothing could be heard, newest first. */
  gaps: { from_ms: number; to_ms: number }[]
}

/**
 * What no stream tells the console asks for again and again, once for all pages: running devboxes, the newest failed
 * ones, and followed jobs.
 */
export interface PollHealth {
  /** The last time the service answered; null before the first. */
  looked_ms: number | null
  every_ms: number
  /** Running devboxes whose end is known or reckoned, of those that run, trials of benchmarks left out. */
  watched: number
  running: number
  /** The service had more running devboxes than one page. */
  has_more: boolean
  followed_jobs: number
  /** Why the last look failed; null after one that did not. */
  problem: string | null
}

/** The webhook does not take what it is told, after more than one attempt or with an answer that is final. */
export interface WebhookFailure {
  host: string
  /** By the clock of the console. */
  since_ms: number
  /** The status of the last answer, or why there was none. */
  answer: string
}

export interface WebhookDelivery {
  id: string
  event: AlertEventName
  n_alerts: number
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
  | {
      event: 'snapshot'
      data: { alerts: Alert[]; silences: Silence[]; followed_jobs: string[]; webhook: WebhookFailure | null }
    }
  | { event: 'alert'; data: Alert }
  | { event: 'silences'; data: Silence[] }
  | { event: 'followed_jobs'; data: string[] }
  /** Null once a message is taken again. */
  | { event: 'webhook'; data: WebhookFailure | null }

/** Of one account: the oldest that are over go first. */
export const maxStoredAlerts = 10_000

/** Answer of `GET /api/alerts`: newest first. */
export interface AlertHistory {
  alerts: Alert[]
  has_more: boolean
  total_count: number
}

/** Answer of `GET /api/alerts/health`. */
export interface AlertHealth {
  stream: AlertStreamHealth
  looks: PollHealth
  /** Why what is kept of alerts is not on the disk; null while all of it is. */
  unwritten: string | null
  webhook: {
    /** The host alone: the address may hold a secret. Null: none is configured. */
    host: string | null
    /** Whether the console listens with no page open. */
    watches_alone: boolean
    deliveries: WebhookDelivery[]
  }
}

/** Tells of what has happened, so that there is nothing to count down to. */
export const hasHappened = ({ kind }: Pick<Alert, 'kind'>): boolean => kind === 'failure' || kind === 'job'

/** A test stands behind what is ahead, or it would hide the next eviction for its minute; before what has happened. */
const rank = (alert: Alert) => (hasHappened(alert) ? 2 : Number(alert.kind === 'test'))

/** What is ahead before what has happened; the earliest deadline first, then what happened last. */
export const byUrgency = (a: Alert, b: Alert): number =>
  rank(a) - rank(b) ||
  (hasHappened(a) ? b.deadline_ms - a.deadline_ms : a.deadline_ms - b.deadline_ms) ||
  (a.id < b.id ? -1 : 1)

export const isOpen = ({ state }: Pick<Alert, 'state'>): boolean => state === 'new' || state === 'acknowledged'

/** An acknowledgement made earlier than this before the deadline is over when this much is left. */
export const lastCallMs = 2 * 60_000
/** What nobody has acknowledged by then is raised again. */
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

const longestName = 100

/**
 * A name that somebody gave, for text outside of a page: on one line, cut, and with nothing that turns text around or
 * that a chat takes for a mention or a link.
 */
export const nameInText = (name: string): string => {
  const line = name
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\s]+/gu, ' ')
    .replaceAll('<', '‹')
    .replaceAll('>', '›')
    .trim()
  const characters = [...line]
  return characters.length > longestName ? `${characters.slice(0, longestName - 1).join('')}…` : line
}

/** One line for a chat. `url` leads to the alert. */
export const alertText = (alert: Alert, url: string): string => {
  const { kind, devbox_id, devbox_name, deadline_ms, state, job, is_drill } = alert
  const at = `${new Date(deadline_ms).toISOString().replace(/\.\d+Z$/, 'Z')}`
  if (kind === 'test') return `Test of Devdeck's alerts, deadline ${at}: ${url}`
  if (job) return `Benchmark job ${nameInText(job.name)} (${job.id}) has ended: ${job.state}. ${url}`
  const name = nameInText(devbox_name ?? '')
  const devbox = `Devbox ${name === '' ? devbox_id : `${name} (${devbox_id})`}`
  if (kind === 'failure') return `${devbox} failed at ${at}. ${url}`
  const deadline = kind === 'end' ? 'end' : 'eviction'
  const text =
    state === 'stopped'
      ? `${devbox} was ${stoppedText(alert)} before its ${deadline} at ${at}.`
      : (kind === 'end' ? endTexts : evictionTexts)[state](devbox, at)
  return `${is_drill ? 'Drill: ' : ''}${text} ${url}`
}

/** "suspended by Ada", where the person is known. */
export const stoppedText = ({ stopped }: Pick<Alert, 'stopped'>): string => {
  const { how = 'stopped', by = null } = stopped ?? {}
  return by === null ? how : `${how} by ${nameInText(by)}`
}

/** An alert, and the page of it. */
export interface LinkedAlert {
  alert: Alert
  url: string
}

/** The same of many at once: a line for each of those that come first, and how many more there are. */
export const alertsText = (told: readonly LinkedAlert[]): string => {
  const lines = told.slice(0, mostLines).map(({ alert, url }) => alertText(alert, url))
  const more = told.length - lines.length
  return [
    ...(told.length > 1 ? [`${told.length} alerts at once:`] : []),
    ...lines,
    ...(more > 0 ? [`and ${more} more`] : []),
  ].join('\n')
}

const mostLines = 10

type StateTexts = Record<Exclude<AlertState, 'stopped'>, (devbox: string, at: string) => string>

const evictionTexts: StateTexts = {
  new: (devbox, at) => `${devbox} will be evicted at ${at}: it will be suspended, its processes end, its disk stays.`,
  acknowledged: (devbox, at) => `${devbox} will be evicted at ${at}; somebody has taken it on.`,
  moved: (devbox, at) => `${devbox} is not evicted at ${at}: the deadline was moved.`,
  ended: (devbox, at) => `${devbox} was to be evicted at ${at} and no longer runs.`,
  passed: (devbox, at) => `${devbox} was to be evicted at ${at} and still runs.`,
  withdrawn: (devbox, at) => `The service no longer reports an eviction of ${devbox} at ${at}.`,
  cancelled: (devbox, at) => `The eviction of ${devbox} at ${at} was cancelled.`,
  seen: (devbox, at) => `The eviction of ${devbox} at ${at} was taken note of.`,
}

const endTexts: StateTexts = {
  new: (devbox, at) => `${devbox} will be shut down at ${at} unless it is kept alive, and its disk deleted.`,
  acknowledged: (devbox, at) => `${devbox} will be shut down at ${at} and its disk deleted; somebody has taken it on.`,
  moved: (devbox, at) => `${devbox} is not shut down at ${at}: it was kept alive or used.`,
  ended: (devbox, at) => `${devbox} was to be shut down at ${at} and has ended; its disk is deleted.`,
  passed: (devbox, at) => `${devbox} was to be shut down at ${at} and still runs.`,
  withdrawn: (devbox, at) => `${devbox} is no longer to be shut down at ${at}.`,
  cancelled: (devbox, at) => `The end of ${devbox} at ${at} was cancelled.`,
  seen: (devbox, at) => `The end of ${devbox} at ${at} was taken note of.`,
}
