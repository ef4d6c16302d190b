import { randomUUID } from 'node:crypto'
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import type { Client } from '#lib/client/client.ts'
import type { Eviction } from '#lib/contract/evictions.ts'
import {
  type Alert,
  type AlertEventName,
  type AlertItem,
  type AlertStreamHealth,
  byUrgency,
  hasHappened,
  isOpen,
  isSilenced,
  type PollHealth,
  type Silence,
} from '#lib/protocol/alerts.ts'
import {
  acknowledged,
  closed,
  closedState,
  type DevboxStop,
  dueReminder,
  evictionSubject,
  howStopped,
  isActive,
  nextDueMs,
  raised,
  reopened,
  type Subject,
  settledMs,
  unseenMs,
} from './alert-rules.ts'
import type { AlertStore, HistoryQuery } from './alert-store.ts'
import type {
  EvictionEvent,
  EvictionListener,
  EvictionSnapshot,
  EvictionStreamState,
  EvictionWatch,
} from './eviction-listener.ts'
import { limitConcurrency } from './limit-concurrency.ts'
import { OpenAlerts } from './open-alerts.ts'
import { applyPoll } from './poll-alerts.ts'
import { type Poll, ServicePoller } from './service-poller.ts'
import { WatchHealth } from './watch-health.ts'
import type { Webhook } from './webhook.ts'

export interface DevboxFacts {
  name: string | null
  metadata: Record<string, string>
  status: string | undefined
  stop?: DevboxStop | undefined
  /** Set for a devbox of a benchmark trial. */
  scenario_run_id?: string | undefined
}

interface Options {
  account: { id: string; name: string }
  store: AlertStore
  /** Service time. */
  now(): number
  /** Undefined while the service does not respond; a missing devbox counts as shut down. Never rejects. */
  describe(apiKey: string, devboxId: string): Promise<DevboxFacts | undefined>
  client: (apiKey: string) => Pick<Client, 'devboxes' | 'benchmarkJobs'>
  watchFor(apiKey: string): EvictionWatch
  webhook?: Webhook | undefined
  /** Link to an alert. */
  urlOf(alertId: string): string
}

/** After this time, pages get an eviction without its devbox name. */
const describeMs = 500
/** An outage can look up thousands of devboxes at once. */
const maxDescribing = 8
/** Alerts handled per event loop turn, about 10 ms. */
const batchSize = 100
const lingerMs = 30_000
const testMs = 60_000
/** Time until keys that the service refused are tried again. */
const refusedKeysMs = 30_000

export type AlertListener = (item: AlertItem) => void

/**
 * The alerts of one account, from its eviction stream and from polling the service. Stores them and sends them to every
 * page and to the webhook. Active while a page listens, or always after `stay`. Pages may use different API keys of the
 * account: the book uses one, and switches when its page leaves or the service refuses it.
 */
export class AlertBook implements EvictionListener {
  readonly #options: Options
  readonly #poller: ServicePoller
  readonly #open: OpenAlerts
  #followedJobs: string[]
  #polledMs: number | null
  /** Ids of drills that the stream has not reported yet. */
  readonly #drills = new Set<string>()
  /** Reported evictions without an alert yet, by devbox; the last report wins. */
  readonly #arrived = new Map<string, { eviction: Eviction; found_late: boolean }>()
  #isRaising = false
  /** Alerts whose devbox is being looked up, and whether the service no longer reports them. */
  readonly #settling = new Map<string, boolean>()
  readonly #describe: Options['describe']
  #silences: Silence[]
  readonly #watchHealth = new WatchHealth()
  /** Listeners with their API key. */
  readonly #listeners = new Map<AlertListener, string>()
  /** Key to listen with when no page is open. */
  #ownKey: string | undefined
  readonly #refusedKeys = new Set<string>()
  #retryKeys: NodeJS.Timeout | undefined
  #apiKey: string
  #watch: EvictionWatch | undefined
  #linger: NodeJS.Timeout | undefined
  #dueTimer: NodeJS.Timeout | undefined
  #dueMs = Number.POSITIVE_INFINITY

  constructor(apiKey: string, options: Options) {
    this.#apiKey = apiKey
    this.#options = options
    const { store, account, webhook, now } = options
    this.#describe = limitConcurrency(maxDescribing, options.describe)
    this.#silences = store.silences(account.id, now())
    this.#open = new OpenAlerts(store, account.id, (alert) => this.#emit({ event: 'alert', data: alert }))
    if (webhook) webhook.onChange = () => this.#emit({ event: 'webhook', data: webhook.failure })
    this.#followedJobs = store.followedJobs(account.id)
    this.#polledMs = store.polledMs(account.id)
    this.#poller = new ServicePoller({
      now,
      client: () => options.client(this.#apiKey),
      followedJobs: () => this.#followedJobs,
      onPoll: (poll) => this.#onPoll(poll),
    })
  }

  /** Sends `listener` a snapshot and then every change, until the returned function is called. */
  join(apiKey: string, listener: AlertListener): () => void {
    this.#listeners.set(listener, apiKey)
    this.#listen()
    listener(this.snapshot())
    return () => {
      if (!this.#listeners.delete(listener)) return
      if (this.#keys.length > 0) this.#listen()
      else this.#linger = setTimeout(() => this.#unlisten(), lingerMs)
    }
  }

  /** Keeps listening without open pages. */
  stay(apiKey: string): void {
    this.#ownKey = apiKey
    this.#listen()
  }

  get staysListening(): boolean {
    return this.#ownKey !== undefined
  }

  get webhook(): Webhook | undefined {
    return this.#options.webhook
  }

  snapshot(): AlertItem {
    const alerts = this.#open.all().sort(byUrgency)
    const webhook = this.webhook?.failure ?? null
    return {
      event: 'snapshot',
      data: { alerts, silences: this.silences(), followed_jobs: this.#followedJobs, webhook },
    }
  }

  health(): AlertStreamHealth {
    const { lastHeardMs: last_heard_ms = null, unreadable } = this.#watch ?? {}
    const { count = 0, reason = null } = unreadable ?? {}
    return { ...this.#watchHealth.health, last_heard_ms, unreadable: count, unreadable_reason: reason }
  }

  get storeProblem(): string | null {
    return this.#options.store.problem
  }

  pollHealth(): PollHealth {
    return this.#poller.health
  }

  /** Marks the eviction's alert as a drill, unless the returned function is called first. */
  startDrill(eviction: Eviction): () => void {
    const { id } = evictionSubject(eviction)
    this.#drills.add(id)
    return () => this.#drills.delete(id)
  }

  /** The eviction was canceled through this console. */
  cancelEviction(devboxId: string): void {
    const alert = this.#open.ofDevbox('eviction', devboxId)
    if (alert) this.#close(alert, 'cancelled')
  }

  /** The devbox was suspended or shut down through this console. */
  stopDevbox(devboxId: string, how: 'suspended' | 'shut down', by: string): void {
    this.#raiseArrived(devboxId)
    for (const kind of how === 'suspended' ? (['eviction'] as const) : (['eviction', 'end'] as const)) {
      const alert = this.#open.ofDevbox(kind, devboxId)
      if (alert) this.#close(alert, 'stopped', { how, by })
    }
  }

  onKeepAlive(devboxId: string): void {
    this.#poller.onKeepAlive(devboxId)
  }

  followJob(jobId: string): void {
    this.#options.store.followJob(this.#account, jobId)
    this.#setFollowed([...this.#followedJobs.filter((id) => id !== jobId), jobId])
    void this.#poller.poll()
  }

  /** Returns false if the job isn't followed. */
  unfollowJob(jobId: string): boolean {
    const isFollowed = this.#followedJobs.includes(jobId)
    this.#options.store.unfollowJob(this.#account, jobId)
    this.#setFollowed(this.#followedJobs.filter((id) => id !== jobId))
    return isFollowed
  }

  history(query: HistoryQuery) {
    this.#open.flush()
    return this.#options.store.history(this.#account, query)
  }

  /** Returns the alerts that were new until now, once stored. Skips closed and unknown ones. */
  async acknowledge(ids: readonly string[], by: string): Promise<Alert[]> {
    const changed: Alert[] = []
    for (const [index, id] of ids.entries()) {
      if (index % batchSize === batchSize - 1) await nextTurn()
      const alert = this.#open.get(id)
      const next = alert && acknowledged(alert, by, this.#options.now())
      if (!next) continue
      this.#put(next)
      this.#sendWebhook('alert.acknowledged', next)
      changed.push(next)
    }
    await this.#open.saved()
    return changed
  }

  silences(): Silence[] {
    const nowMs = this.#options.now()
    return this.#silences.filter(({ until_ms }) => until_ms > nowMs)
  }

  silence(request: Pick<Silence, 'metadata' | 'until_ms' | 'comment' | 'by'>): Silence {
    const silence = { id: `sil_${randomUUID()}`, created_ms: this.#options.now(), ...request }
    this.#options.store.putSilence(this.#account, silence)
    this.#reloadSilences()
    return silence
  }

  /** Returns false for an unknown id. */
  endSilence(id: string): boolean {
    if (!this.#options.store.deleteSilence(this.#account, id)) return false
    this.#reloadSilences()
    this.#announceWithheld()
    return true
  }

  /** Raises a test alert, which is delivered like any other. */
  test(): Alert {
    const deadline_ms = this.#options.now() + testMs
    const subject: Subject = { id: `test@${deadline_ms}`, kind: 'test', devbox_id: 'test', deadline_ms }
    const alert = raised(subject, { devbox_name: null, metadata: {}, found_late: false }, this.#options.now())
    this.#put(alert)
    this.#sendWebhook('alert.test', alert)
    return alert
  }

  close(): void {
    this.#unlisten()
    clearTimeout(this.#retryKeys)
    this.#options.webhook?.close()
    this.#arrived.clear()
    this.#open.close()
    this.#listeners.clear()
  }

  start({ evictions, upstream }: EvictionSnapshot): void {
    this.#onStreamState(upstream)
    for (const eviction of evictions) this.#report(eviction, true)
  }

  onEvent({ event, data }: EvictionEvent): void {
    if (event === 'upstream') return void this.#onStreamState(data)
    // An eviction that only a replay reports was missed before.
    if (event === 'eviction') return void this.#report(data, this.#watch?.isReplaying ?? true)
    this.#watchHealth.onEvent()
    this.#raiseArrived(data.devbox_id)
    const alert = this.#open.ofDevbox('eviction', data.devbox_id)
    if (alert) void this.#settle(alert, true)
  }

  end(): void {
    this.#watch = undefined
  }

  get #account(): string {
    return this.#options.account.id
  }

  get #keys(): string[] {
    return [...(this.#ownKey === undefined ? [] : [this.#ownKey]), ...this.#listeners.values()]
  }

  #listen(): void {
    clearTimeout(this.#linger)
    const keys = this.#keys.filter((key) => !this.#refusedKeys.has(key))
    const next = keys.includes(this.#apiKey) ? this.#apiKey : (keys[0] ?? this.#apiKey)
    if (next !== this.#apiKey) {
      this.#apiKey = next
      this.#leaveWatch()
      void this.#poller.poll()
    }
    if (!this.#watch) {
      this.#watch = this.#options.watchFor(next)
      const known = this.#open.ofKind('eviction')
      this.#watch.join(
        this,
        known.map(({ devbox_id, deadline_ms }) => ({ devbox_id, eviction_deadline_ms: deadline_ms })),
      )
    }
    this.#poller.start()
    this.#scheduleDue()
  }

  #unlisten(): void {
    clearTimeout(this.#linger)
    clearTimeout(this.#dueTimer)
    this.#poller.stop()
    this.#leaveWatch()
    this.#watchHealth.leave()
  }

  #leaveWatch(): void {
    this.#watch?.leave(this)
    this.#watch = undefined
  }

  #onStreamState(upstream: EvictionStreamState): void {
    const isFirst = this.#watchHealth.health.state === 'connecting'
    if (!this.#watchHealth.setState(upstream)) return
    if (upstream.state === 'live') {
      // Finds what changed during an outage at once, instead of up to half a minute later.
      if (!isFirst) void this.#poller.poll()
      this.#refusedKeys.delete(this.#apiKey)
      this.#processDue()
    }
    if (upstream.state !== 'refused') return
    this.#refusedKeys.add(this.#apiKey)
    this.#retryKeys ??= setTimeout(() => {
      this.#retryKeys = undefined
      this.#refusedKeys.clear()
      if (this.#watchHealth.health.state !== 'refused') return
      this.#refusedKeys.add(this.#apiKey)
      this.#listen()
    }, refusedKeysMs)
    this.#listen()
  }

  #setFollowed(jobIds: string[]): void {
    this.#followedJobs = jobIds
    this.#emit({ event: 'followed_jobs', data: jobIds })
  }

  /** Creates the alert and closes one of the same devbox and kind with another deadline as moved. */
  #raise(subject: Subject, details: Parameters<typeof raised>[1], known?: Alert): Alert {
    const before = subject.devbox_id ? this.#open.ofDevbox(subject.kind, subject.devbox_id) : undefined
    if (before) this.#close(before, 'moved')
    const next = raised(subject, details, this.#options.now(), before)
    return known ? { ...next, first_heard_ms: known.first_heard_ms, alarms: known.alarms + next.alarms } : next
  }

  #onPoll(poll: Poll): void {
    const previousMs = this.#polledMs
    this.#polledMs = poll.atMs
    this.#options.store.setPolledMs(this.#account, poll.atMs)
    applyPoll(
      poll,
      this.#open,
      {
        raise: (subject, details) => this.#announce(this.#raise(subject, details, this.#open.find(subject.id))),
        close: (alert, state) => this.#close(alert, state),
        settle: (alert) => void this.#settle(alert, true),
        unfollowJob: (id) => this.#followedJobs.includes(id) && this.unfollowJob(id),
      },
      { previousMs, nowMs: this.#options.now() },
    )
  }

  #report(eviction: Eviction, found_late: boolean): void {
    this.#arrived.set(eviction.devbox_id, { eviction, found_late })
    if (!this.#isRaising) void this.#raiseInBatches()
  }

  async #raiseInBatches(): Promise<void> {
    this.#isRaising = true
    for (await nextTurn(); this.#arrived.size > 0; await nextTurn())
      for (const devboxId of [...this.#arrived.keys().take(batchSize)]) this.#raiseArrived(devboxId)
    this.#isRaising = false
  }

  #raiseArrived(devboxId: string): void {
    const arrived = this.#arrived.get(devboxId)
    if (!arrived) return
    this.#arrived.delete(devboxId)
    this.#raiseEviction(arrived.eviction, arrived.found_late)
  }

  #raiseEviction(eviction: Eviction, found_late: boolean): void {
    const subject = evictionSubject(eviction)
    const { id, devbox_id } = subject
    if (this.#open.get(id)) return
    this.#watchHealth.onEvent()
    const known = this.#open.find(id)
    if (known && known.state !== 'moved') return void this.#reopen(known)
    const isDrill = this.#drills.delete(id)
    const details = { devbox_name: null, metadata: {}, found_late }
    this.#open.hold(this.#raise(isDrill ? { ...subject, is_drill: true } : subject, details, known))
    void this.#describeAndAnnounce(id, devbox_id)
  }

  async #describeAndAnnounce(id: string, devboxId: string): Promise<void> {
    const describing = this.#describe(this.#apiKey, devboxId)
    const inTime = await Promise.race([describing, delay(describeMs, undefined)])
    const unnamed = this.#open.get(id)
    if (!inTime && unnamed) this.#put(unnamed)
    const facts = inTime ?? (await describing)
    // It may have moved or closed meanwhile.
    const current = this.#open.get(id)
    if (!current) return
    if (!facts) return void this.#announce(current)
    const { name, metadata, scenario_run_id } = facts
    this.#announce({ ...current, devbox_name: name, metadata, ...(scenario_run_id && { scenario_run_id }) })
  }

  /** Reopens a closed eviction that is reported again, without a second alarm. */
  async #reopen(known: Alert): Promise<void> {
    if (known.state !== 'withdrawn' && known.state !== 'cancelled') {
      if (this.#options.now() >= known.deadline_ms) return
      // A service may report the eviction of a suspended devbox.
      const status = (await this.#describe(this.#apiKey, known.devbox_id))?.status
      if (status === undefined || !isActive(status) || this.#open.get(known.id) || !this.#watch) return
    }
    const before = this.#open.ofDevbox(known.kind, known.devbox_id)
    if (before) this.#close(before, 'moved')
    this.#put(reopened(known))
  }

  /**
   * Closes the alert if its devbox has stopped, or if it `isOver` and is not reported again meanwhile. After the
   * deadline, it stays open until the service says what happened.
   */
  async #settle(alert: Alert, isOver: boolean): Promise<void> {
    const isPending = this.#settling.has(alert.id)
    this.#settling.set(alert.id, isOver || this.#settling.get(alert.id) === true)
    if (isPending) return
    const facts = await this.#describe(this.#apiKey, alert.devbox_id)
    const isOverNow = this.#settling.get(alert.id)
    this.#settling.delete(alert.id)
    const current = this.#open.get(alert.id)
    const nowMs = this.#options.now()
    if (!current || (!facts && nowMs >= current.deadline_ms && nowMs < current.deadline_ms + unseenMs)) return
    const state = closedState(current, facts?.status, nowMs, facts?.stop)
    if (state === 'stopped') this.#close(current, state, { how: howStopped(facts?.status), by: null })
    else if (state === 'ended') this.#close(current, state)
    else if (isOverNow && this.#watch?.deadlineOf(alert.devbox_id) !== alert.deadline_ms) this.#close(current, state)
  }

  #close(alert: Alert, state: Parameters<typeof closed>[1], stopped?: Alert['stopped']): void {
    const next = closed(alert, state, this.#options.now(), stopped)
    if (!next) return
    this.#put(next)
    if (next.kind !== 'test') this.#sendWebhook('alert.closed', next)
  }

  /** Stores and announces the alert; while silenced, only pages get it. */
  #announce(alert: Alert): void {
    if (alert.state !== 'new') return void this.#put(alert)
    const { withheld, ...announced } = alert
    if (isSilenced(alert, this.#silences, this.#options.now()))
      return void this.#put({ ...announced, withheld: withheld ?? (alert.alarms > 1 ? 'again' : 'first') })
    this.#put(announced)
    this.#sendWebhook('alert.raised', announced)
  }

  #announceWithheld(): void {
    for (const alert of this.#open.withheld())
      if (!isSilenced(alert, this.#silences, this.#options.now())) this.#announce(alert)
  }

  /** Once announced, an alert is followed up even while silenced, so that receivers learn of its end. */
  #sendWebhook(event: AlertEventName, alert: Alert): void {
    if (alert.withheld !== 'first') this.webhook?.send(event, alert, this.#options.urlOf(alert.id))
  }

  #reloadSilences(): void {
    this.#silences = this.#options.store.silences(this.#account, this.#options.now())
    this.#emit({ event: 'silences', data: this.silences() })
  }

  #put(alert: Alert): void {
    this.#open.put(alert)
    if (isOpen(alert)) this.#wakeBy(this.#dueOf(alert))
  }

  #emit(item: AlertItem): void {
    for (const listener of this.#listeners.keys()) listener(item)
  }

  /** When to check the alert for a reminder, its deadline, or the end of its silence. */
  #dueOf(alert: Alert): number {
    const dueMs = nextDueMs(alert, this.#options.now())
    const isWithheld = this.#open.isWithheld(alert.id)
    return isWithheld ? Math.min(dueMs, ...this.silences().map(({ until_ms }) => until_ms)) : dueMs
  }

  #wakeBy(dueMs: number): void {
    if (!this.#watch || dueMs >= this.#dueMs) return
    clearTimeout(this.#dueTimer)
    this.#dueMs = dueMs
    this.#dueTimer = setTimeout(() => this.#processDue(), dueMs - this.#options.now() + 1)
  }

  #scheduleDue(): void {
    clearTimeout(this.#dueTimer)
    this.#dueMs = Number.POSITIVE_INFINITY
    for (const alert of this.#open.all()) this.#wakeBy(this.#dueOf(alert))
  }

  #processDue(): void {
    const nowMs = this.#options.now()
    // During a replay or an outage, a deadline may have moved.
    const isCurrent = this.#watchHealth.isLive && this.#watch?.isReplaying === false
    for (const alert of this.#open.all()) {
      const reminder = dueReminder(alert, nowMs)
      if (reminder) this.#announce(reminder)
      else if (hasHappened(alert)) {
        if (nowMs >= alert.first_heard_ms + unseenMs) this.#close(alert, 'passed')
      } else if (alert.kind === 'test' && nowMs >= alert.deadline_ms) this.#close(alert, 'passed')
      // A devbox is still being suspended right after its deadline.
      else if (nowMs >= alert.deadline_ms + settledMs) void this.#settle(alert, alert.kind === 'eviction' && isCurrent)
    }
    this.#announceWithheld()
    this.#scheduleDue()
  }
}
