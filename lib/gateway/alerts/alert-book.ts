import { randomUUID } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
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
import type { KeyHolder } from '../accounts/types.ts'
import { recordByConsole } from '../activity/activity.ts'
import { clientFor } from '../upstream/client.ts'
import { serviceNow } from '../upstream/clock.ts'
import {
  acknowledged,
  closed,
  closedState,
  dueReminder,
  evictionSubject,
  handedOver,
  howStopped,
  isActive,
  logged,
  nextDueMs,
  raised,
  raisedSilenced,
  reopened,
  type Subject,
  settledMs,
  silencedBy,
  silenceEnded,
  testAlert,
  unacknowledged,
  unseenMs,
} from './alert-rules.ts'
import type { AlertStore, HistoryQuery } from './alert-store.ts'
import { AccountReceivers } from './delivery/account-receivers.ts'
import { deliveryTimes } from './delivery/channel.ts'
import type { ReceiverSettings } from './delivery/receiver-fields.ts'
import { callTimeoutMs, devboxLookups, limitTo } from './describe-devbox.ts'
import { type EvictionEvent, type EvictionStreamState, EvictionWatch } from './eviction-watch.ts'
import { interruptedCommands } from './interrupted-work.ts'
import { OpenAlerts } from './open-alerts.ts'
import { applyPoll, type Poll, ServicePoller } from './service-poller.ts'
import { WatchHealth } from './watch-health.ts'
import { type Observed, OutageMonitor } from './watch-outage.ts'

interface Options {
  account: string
  store: AlertStore
  urlOf(alertId: string): string
  /** Receivers of the environment and the file for this account. */
  configuredReceivers(): readonly ReceiverSettings[]
  /** Whether receivers added on the page may have private addresses. */
  arePrivateReceiversAllowed: boolean
}

/** After this time, pages get an eviction without its devbox name. */
const describeMs = 500
/** Alerts handled per event loop turn, about 10 ms. */
const batchSize = 100
const lingerMs = 30_000
/** Minimum time between key changes while the service refuses every key. */
const switchKeyMs = 30_000

export interface AlertListener {
  /** The person who has the page open; null if unknown. */
  person?: string | null
  onItem(item: AlertItem): void
  /** Called with the state of the eviction stream, unless it is still connecting. */
  onStream?(stream: EvictionStreamState): void
}

/**
 * The alerts of one account, from its eviction stream and from polling the service. Stores them and sends them to every
 * page and to receivers. Active while a page listens, or always after `stay`. Pages may use different API keys of the
 * account: the book uses one, and switches when its page leaves or the service refuses it.
 */
export class AlertBook {
  readonly #options: Options
  readonly #account: KeyHolder['account']
  readonly receivers: AccountReceivers
  readonly #poller: ServicePoller
  readonly #outages: OutageMonitor
  readonly #open: OpenAlerts
  #followedJobs: string[]
  #polledMs: number | null
  /** Ids of drills that the stream has not reported yet. */
  readonly #drills = new Set<string>()
  /** Reported evictions without an alert yet, by devbox; the last report wins. */
  readonly #arrived = new Map<string, { eviction: Eviction; found_late: boolean }>()
  /** Changes of reported evictions whose devbox was looked up or takes long, by alert id. */
  readonly #described = new Map<string, (alert: Alert) => void>()
  #isRaising = false
  /** Alerts whose devbox is being looked up, and whether the service no longer reports them. */
  readonly #settling = new Map<string, boolean>()
  readonly #describe = devboxLookups()
  /** Logs are large, and no alert waits for them. */
  readonly #readLog = limitTo(2)
  /** Ids of closed alerts whose interrupted commands are being counted. */
  readonly #counting = new Set<string>()
  #silences: Silence[]
  readonly #watchHealth = new WatchHealth()
  #stream: EvictionStreamState | undefined
  /** Shared by pages that join or catch up between two changes. */
  #snapshot: AlertItem | undefined
  readonly #listeners = new Map<AlertListener, string>()
  /** Key to listen with when no page is open. */
  #ownKey: string | undefined
  #apiKey: string
  #switchedMs = Number.NEGATIVE_INFINITY
  #watch: EvictionWatch | undefined
  #linger: NodeJS.Timeout | undefined
  #dueTimer: NodeJS.Timeout | undefined
  #dueMs = Number.POSITIVE_INFINITY

  constructor({ account, api_key }: KeyHolder, options: Options) {
    this.#account = account
    this.#apiKey = api_key
    this.#options = options
    const { store, account: stored } = options
    this.#silences = store.silences(stored)
    this.#open = new OpenAlerts(store, stored)
    this.receivers = new AccountReceivers({
      account,
      stored,
      outbox: store.outbox,
      times: deliveryTimes,
      urlOf: options.urlOf,
      configured: options.configuredReceivers,
      isPrivateAllowed: options.arePrivateReceiversAllowed,
      open: () => this.#open.all(),
      sees: () => this.sees,
      onChange: () => this.#emit({ event: 'receivers', data: { failing: this.receivers.failing() } }),
    })
    this.#followedJobs = store.followedJobs(stored)
    this.#polledMs = store.polledMs(stored)
    this.#poller = new ServicePoller({
      client: () => clientFor(this.#apiKey, callTimeoutMs),
      followedJobs: () => this.#followedJobs,
      onPoll: (poll) => this.#onPoll(poll),
    })
    this.#outages = new OutageMonitor({
      account: account.name,
      observe: () => this.#observed,
      alert: () => this.#open.ofDevbox('watch', 'watch'),
      raise: (watch, sinceMs) => this.#raiseOutage(watch, sinceMs),
      update: (alert) => this.#put(alert),
      resolve: (alert) => this.#close(alert, 'resolved'),
    })
  }

  /** Sends `listener` a snapshot and then every change, until the returned function is called. */
  join(apiKey: string, listener: AlertListener): () => void {
    this.#listeners.set(listener, apiKey)
    this.#listen()
    listener.onItem(this.snapshot())
    if (this.#stream) listener.onStream?.(this.#stream)
    return () => {
      if (!this.#listeners.delete(listener)) return
      if (this.#keys.length > 0) this.#listen()
      else this.#linger = setTimeout(() => this.#unlisten(), lingerMs)
    }
  }

  stay(apiKey: string): void {
    this.#ownKey = apiKey
    this.#listen()
  }

  get staysListening(): boolean {
    return this.#ownKey !== undefined
  }

  snapshot(): AlertItem {
    this.#snapshot ??= this.#newSnapshot()
    return this.#snapshot
  }

  #newSnapshot(): AlertItem {
    const alerts = this.#open.all().sort(byUrgency)
    const receivers = { failing: this.receivers.failing() }
    return {
      event: 'snapshot',
      data: { alerts, silences: this.silences(), followed_jobs: this.#followedJobs, receivers },
    }
  }

  health(): AlertStreamHealth {
    const { lastHeardMs: last_heard_ms = null, unreadable } = this.#watch ?? {}
    const { count = 0, reason = null } = unreadable ?? {}
    return { ...this.#watchHealth.health, last_heard_ms, unreadable: count, unreadable_reason: reason }
  }

  get sees(): boolean {
    return this.#outages.sees
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

  cancelEviction(devboxId: string, by: string): void {
    const alert = this.#open.ofDevbox('eviction', devboxId)
    if (alert) this.#close(alert, 'cancelled', undefined, by)
    // Not before, because the watch would close it as withdrawn.
    this.#watch?.withdraw(devboxId)
  }

  /** Reads again which evictions are pending: the stream reports no withdrawals. */
  refreshEvictions(): void {
    this.#watch?.refresh()
  }

  stopDevbox(devboxId: string, how: 'suspended' | 'shut down', by: string): void {
    this.#raiseArrived(devboxId)
    for (const kind of how === 'suspended' ? (['eviction'] as const) : (['eviction', 'end'] as const)) {
      const alert = this.#open.ofDevbox(kind, devboxId)
      if (alert) this.#close(alert, 'stopped', { how, by })
    }
    // The service withdraws the eviction without reporting it.
    this.#watch?.withdraw(devboxId)
  }

  onKeepAlive(devboxId: string): void {
    this.#poller.onKeepAlive(devboxId)
  }

  followJob(jobId: string): void {
    this.#options.store.followJob(this.#stored, jobId)
    this.#setFollowed([...this.#followedJobs.filter((id) => id !== jobId), jobId])
    void this.#poller.poll()
  }

  unfollowJob(jobId: string): boolean {
    const isFollowed = this.#followedJobs.includes(jobId)
    this.#options.store.unfollowJob(this.#stored, jobId)
    this.#setFollowed(this.#followedJobs.filter((id) => id !== jobId))
    return isFollowed
  }

  history(query: HistoryQuery) {
    return this.#options.store.history(this.#stored, query)
  }

  alert(id: string): Alert | undefined {
    return this.#open.find(id)
  }

  /** People of recent alerts and of open pages. */
  people(): string[] {
    const named = this.#options.store.people(this.#stored)
    return [...new Set([...named, ...[...this.#listeners.keys()].flatMap(({ person }) => person ?? [])])].sort()
  }

  /** Returns the alerts that changed, like the functions below. Skips unknown ones. */
  acknowledge(ids: readonly string[], by: string): Promise<Alert[]> {
    return this.#change(ids, 'alert.acknowledged', (alert) => acknowledged(alert, by, serviceNow()))
  }

  handOver(ids: readonly string[], to: string, by: string): Promise<Alert[]> {
    return this.#change(ids, 'alert.acknowledged', (alert) => handedOver(alert, to, by, serviceNow()))
  }

  unacknowledge(ids: readonly string[], by: string): Promise<Alert[]> {
    return this.#change(ids, 'alert.unacknowledged', (alert) => unacknowledged(alert, by, serviceNow()))
  }

  comment(ids: readonly string[], text: string, by: string): Promise<Alert[]> {
    const entry = { what: 'commented', by, text } as const
    return this.#change(ids, undefined, (alert) => logged(alert, { at_ms: serviceNow(), ...entry }))
  }

  silences(): Silence[] {
    return this.#silences.filter(({ until_ms }) => until_ms > serviceNow())
  }

  silence(request: Pick<Silence, 'metadata' | 'until_ms' | 'comment' | 'by'>): Silence {
    const silence = { id: `sil_${randomUUID()}`, created_ms: serviceNow(), ...request }
    this.#options.store.putSilence(this.#stored, silence)
    this.#setSilences([...this.#silences, silence].sort((a, b) => a.until_ms - b.until_ms))
    this.#wakeBy(silence.until_ms)
    void this.#logSilence(silence, (alert) => silencedBy(alert, silence, silence.created_ms))
    return silence
  }

  endSilence(id: string, by: string): boolean {
    const silence = this.silences().find((each) => each.id === id)
    if (!silence) return false
    this.#removeSilence(silence, by, serviceNow())
    void this.#announceWithheld()
    return true
  }

  /** Raises a test alert, which is delivered like any other. */
  test(): Alert {
    return this.#put(testAlert(serviceNow()), 'alert.test', true)
  }

  close(): void {
    this.#unlisten()
    this.receivers.close()
    this.#arrived.clear()
    this.#described.clear()
    this.#counting.clear()
    this.#open.close()
    this.#listeners.clear()
  }

  get #stored(): string {
    return this.#options.account
  }

  get #observed(): Observed {
    const { lastHeardMs = null, unreadable, unreadableSinceMs, isReplaying = true } = this.#watch ?? {}
    const isMissing = this.#stream?.is_missing === true
    return {
      lostMs: isMissing ? undefined : this.#watchHealth.lostMs,
      isRefused: this.#stream?.state === 'refused',
      isReplaying: isReplaying && !isMissing,
      heardMs: isMissing ? null : lastHeardMs,
      unreadable: unreadableSinceMs ? { sinceMs: unreadableSinceMs, reason: unreadable?.reason ?? '' } : undefined,
      polledMs: this.#poller.health.looked_ms,
      pollFailure: this.#poller.failure,
    }
  }

  get #keys(): string[] {
    return [...(this.#ownKey === undefined ? [] : [this.#ownKey]), ...this.#listeners.values()]
  }

  #listen(): void {
    clearTimeout(this.#linger)
    const mustSwitch = this.#stream?.state === 'refused' && Date.now() - this.#switchedMs > switchKeyMs
    const keys = this.#keys
    const other = keys.find((key) => key !== this.#apiKey)
    if (other !== undefined && (mustSwitch || !keys.includes(this.#apiKey))) {
      this.#apiKey = other
      this.#switchedMs = Date.now()
      this.#leaveWatch()
      void this.#poller.poll()
    }
    this.#watch ??= new EvictionWatch(
      { account: this.#account, api_key: this.#apiKey },
      (event) => this.#onEvent(event),
      this.#open
        .ofKind('eviction')
        .map(({ devbox_id, deadline_ms }) => ({ devbox_id, eviction_deadline_ms: deadline_ms })),
    )
    this.#poller.start()
    this.#scheduleDue()
    this.#outages.start()
  }

  #unlisten(): void {
    clearTimeout(this.#linger)
    clearTimeout(this.#dueTimer)
    this.#outages.stop()
    this.#poller.stop()
    this.#leaveWatch()
    this.#stream = undefined
    this.#watchHealth.setState('connecting')
  }

  #leaveWatch(): void {
    this.#watch?.close()
    this.#watch = undefined
  }

  #onEvent(event: EvictionEvent): void {
    if (event.event === 'upstream') return void this.#onStream(event.data)
    if (event.event === 'eviction') return void this.#report(event.data, event.found_late)
    const { devbox_id } = event.data
    this.#watchHealth.onEvent()
    this.#raiseArrived(devbox_id)
    const alert = this.#open.ofDevbox('eviction', devbox_id)
    if (alert) void this.#settle(alert, true)
  }

  #onStream(stream: EvictionStreamState): void {
    const { state: before } = this.#watchHealth.health
    this.#stream = stream
    this.#watchHealth.setState(stream.state)
    for (const listener of this.#listeners.keys()) listener.onStream?.(stream)
    if (stream.state === 'refused') this.#listen()
    if (stream.state !== 'live' || before === 'live') return
    // Finds what changed during an outage at once, instead of up to half a minute later.
    if (before !== 'connecting') void this.#poller.poll()
    void this.#processDue()
  }

  #raiseOutage(watch: NonNullable<Alert['watch']>, deadline_ms: number): void {
    const subject: Subject = { id: `watch@${deadline_ms}`, kind: 'watch', devbox_id: 'watch', deadline_ms, watch }
    this.#announce(this.#raise(subject, { devbox_name: null, metadata: {}, found_late: false }))
  }

  #setFollowed(jobIds: string[]): void {
    this.#followedJobs = jobIds
    this.#emit({ event: 'followed_jobs', data: jobIds })
  }

  /** Creates the alert and closes one of the same devbox and kind with another deadline as moved. */
  #raise(subject: Subject, details: Parameters<typeof raised>[1], known?: Alert): Alert {
    const before = subject.devbox_id ? this.#open.ofDevbox(subject.kind, subject.devbox_id) : undefined
    if (before) this.#close(before, 'moved')
    const next = raised(subject, details, serviceNow(), before)
    if (!known) return next
    const { first_heard_ms, alarms, log = [], receivers } = known
    const again = { ...next, first_heard_ms, alarms: alarms + next.alarms, log, ...(receivers && { receivers }) }
    return logged(again, ...(next.log ?? []))
  }

  #onPoll(poll: Poll): void {
    const previousMs = this.#polledMs
    this.#polledMs = poll.atMs
    this.#options.store.setPolledMs(this.#stored, poll.atMs)
    applyPoll(poll, previousMs, this.#open, {
      raise: (subject, details) => this.#announce(this.#raise(subject, details, this.#open.find(subject.id))),
      close: (alert, state) => this.#close(alert, state),
      settle: (alert) => void this.#settle(alert, true),
      unfollowJob: (id) => this.#followedJobs.includes(id) && this.unfollowJob(id),
    })
  }

  #report(eviction: Eviction, found_late: boolean): void {
    this.#arrived.set(eviction.devbox_id, { eviction, found_late })
    void this.#raiseInBatches()
  }

  async #raiseInBatches(): Promise<void> {
    if (this.#isRaising) return
    this.#isRaising = true
    for (await nextTurn(); this.#arrived.size + this.#described.size > 0; await nextTurn())
      this.#options.store.batch(() => {
        for (const devboxId of [...this.#arrived.keys().take(batchSize)]) this.#raiseArrived(devboxId)
        for (const [id, change] of [...this.#described.entries().take(batchSize)]) {
          this.#described.delete(id)
          // It may have moved or closed meanwhile.
          const alert = this.#open.get(id)
          if (alert) change(alert)
        }
      })
    this.#isRaising = false
  }

  #raiseArrived(devboxId: string): void {
    const arrived = this.#arrived.get(devboxId)
    if (!arrived) return
    this.#arrived.delete(devboxId)
    const { eviction, found_late } = arrived
    const subject = evictionSubject(eviction)
    const { id } = subject
    if (this.#open.get(id)) return
    this.#watchHealth.onEvent()
    const known = this.#open.find(id)
    if (known && known.state !== 'moved') return void this.#reopen(known)
    const isDrill = this.#drills.delete(id)
    const details = { devbox_name: null, metadata: {}, found_late }
    this.#open.hold(this.#raise(isDrill ? { ...subject, is_drill: true } : subject, details, known))
    void this.#describeAndAnnounce(id, devboxId)
  }

  async #describeAndAnnounce(id: string, devboxId: string): Promise<void> {
    // Not stored, so that a restart announces it.
    const late = setTimeout(() => this.#changeDescribed(id, (data) => this.#emit({ event: 'alert', data })), describeMs)
    const facts = await this.#describe(this.#apiKey, devboxId)
    clearTimeout(late)
    this.#changeDescribed(id, (alert) => {
      if (!facts) return this.#announce(alert)
      const { name, metadata, scenario_run_id } = facts
      this.#announce({ ...alert, devbox_name: name, metadata, ...(scenario_run_id && { scenario_run_id }) })
    })
  }

  #changeDescribed(id: string, change: (alert: Alert) => void): void {
    this.#described.set(id, change)
    void this.#raiseInBatches()
  }

  /** Reopens a closed eviction that is reported again, without a second alarm on pages. */
  async #reopen(known: Alert): Promise<void> {
    if (known.state !== 'withdrawn' && known.state !== 'cancelled') {
      if (serviceNow() >= known.deadline_ms) return
      // A service may report the eviction of a suspended devbox.
      const facts = await this.#describe(this.#apiKey, known.devbox_id)
      const isStopped = facts !== undefined && !isActive(facts.status ?? '')
      if (isStopped || this.#open.get(known.id) || !this.#watch) return
    }
    const before = this.#open.ofDevbox(known.kind, known.devbox_id)
    if (before) this.#close(before, 'moved')
    // Receivers got `alert.closed`.
    const next = reopened(known, serviceNow())
    this.#put(next, next.state === 'new' ? 'alert.raised' : 'alert.acknowledged')
  }

  // Closes the alert if its devbox has stopped, or if it `isOver` and has not been reported again. After the
  // deadline, it stays open until the service reports the outcome.
  async #settle(alert: Alert, isOver: boolean): Promise<void> {
    const isPending = this.#settling.has(alert.id)
    this.#settling.set(alert.id, isOver || this.#settling.get(alert.id) === true)
    if (isPending) return
    const facts = await this.#describe(this.#apiKey, alert.devbox_id)
    const isOverNow = this.#settling.get(alert.id)
    this.#settling.delete(alert.id)
    const current = this.#open.get(alert.id)
    if (!current) return
    const nowMs = serviceNow()
    if (!facts && nowMs >= current.deadline_ms && nowMs < current.deadline_ms + unseenMs) return
    const state = closedState(current, facts?.status, nowMs, facts?.stop)
    if (state === 'stopped') this.#close(current, state, { how: howStopped(facts?.status), by: null })
    else if (state === 'ended') {
      this.#close(current, state)
      void this.#countWork(current, facts?.stop?.at_ms ?? nowMs)
    } else if (isOverNow && this.#watch?.deadlineOf(alert.devbox_id) !== alert.deadline_ms) this.#close(current, state)
  }

  async #countWork({ id, devbox_id, deadline_ms }: Alert, stopped_ms: number): Promise<void> {
    this.#counting.add(id)
    const commands = await this.#readLog(() =>
      interruptedCommands(this.#apiKey, devbox_id, { deadline_ms, stopped_ms }),
    )
    if (!this.#counting.delete(id) || commands === undefined) return
    const alert = this.#open.find(id)
    if (alert?.state === 'ended') this.#put({ ...alert, work: { commands } })
  }

  async #change(
    ids: readonly string[],
    event: AlertEventName | undefined,
    change: (alert: Alert) => Alert | undefined,
  ): Promise<Alert[]> {
    const changed: Alert[] = []
    await this.#inBatches([...new Set(ids)], (id) => {
      const alert = this.#open.find(id)
      const next = alert && change(alert)
      if (!next) return
      changed.push(this.#put(next, event))
    })
    return changed
  }

  #close(alert: Alert, state: Parameters<typeof closed>[1], stopped?: Alert['stopped'], by?: string): void {
    const next = closed(alert, state, serviceNow(), stopped, by)
    if (!next) return
    this.#put(next, 'alert.closed')
  }

  /** Stores and announces the alert; while silenced, only pages get it. */
  #announce(alert: Alert): void {
    const { withheld, ...announced } = alert
    const nowMs = serviceNow()
    const silences = this.#silences.filter((silence) => isSilenced(alert, [silence], nowMs))
    const isSilent = silences.length > 0
    // Acknowledged at another deadline.
    if (alert.state !== 'new') return void this.#put(alert, 'alert.acknowledged', !isSilent && !withheld)
    if (isSilent) {
      const silenced = raisedSilenced(announced, silences, nowMs)
      return void this.#put({ ...silenced, withheld: withheld ?? (alert.alarms > 1 ? 'again' : 'first') })
    }
    this.#put(announced, 'alert.raised', true)
  }

  async #announceWithheld(): Promise<void> {
    await this.#inBatches(this.#open.withheld(), ({ id }) => {
      const alert = this.#open.get(id)
      if (alert && !isSilenced(alert, this.#silences, serviceNow())) this.#announce(alert)
    })
  }

  #setSilences(silences: Silence[]): void {
    this.#silences = silences
    this.#emit({ event: 'silences', data: this.silences() })
  }

  #removeSilence(silence: Silence, by: string | null, nowMs: number): void {
    this.#options.store.deleteSilence(this.#stored, silence.id)
    this.#setSilences(this.#silences.filter(({ id }) => id !== silence.id))
    void this.#logSilence(silence, (alert) => silenceEnded(alert, by, nowMs))
  }

  /** Includes those that expired while the console was down. */
  #expireSilences(): void {
    for (const silence of this.#silences.filter(({ until_ms }) => until_ms <= serviceNow())) {
      const { id: subject, until_ms: at_ms } = silence
      this.#removeSilence(silence, null, at_ms)
      recordByConsole(this.#stored, { at_ms, operation: 'alerts.end_silence', subject })
    }
  }

  async #logSilence({ metadata }: Silence, change: (alert: Alert) => Alert | undefined): Promise<void> {
    const covered = { metadata, until_ms: Number.POSITIVE_INFINITY }
    await this.#inBatches(this.#open.all(), ({ id }) => {
      const alert = this.#open.get(id)
      const next = alert && isSilenced(alert, [covered], 0) && change(alert)
      if (next) this.#put(next)
    })
  }

  /**
   * Stores an alert with the messages about `event`. Receivers that got its announcement also get all later events, even
   * while it is silenced.
   */
  #put(changed: Alert, event?: AlertEventName, isFirst = false): Alert {
    const { alert, messages } = event
      ? this.receivers.address(event, changed, isFirst)
      : { alert: changed, messages: [] }
    this.#open.put(alert, messages)
    this.receivers.send(messages)
    this.#emit({ event: 'alert', data: alert })
    if (isOpen(alert)) this.#wakeBy(this.#dueOf(alert))
    return alert
  }

  #emit(item: AlertItem): void {
    this.#snapshot = undefined
    for (const listener of this.#listeners.keys()) listener.onItem(item)
  }

  /** When to check the alert for a reminder, its deadline, or the end of its silence. */
  #dueOf(alert: Alert): number {
    const dueMs = nextDueMs(alert, serviceNow())
    const isWithheld = this.#open.isWithheld(alert.id)
    return isWithheld ? Math.min(dueMs, ...this.silences().map(({ until_ms }) => until_ms)) : dueMs
  }

  #wakeBy(dueMs: number): void {
    if (!this.#watch || dueMs >= this.#dueMs) return
    clearTimeout(this.#dueTimer)
    this.#dueMs = dueMs
    this.#dueTimer = setTimeout(() => void this.#processDue(), Math.max(0, dueMs - serviceNow()) + 1)
  }

  #scheduleDue(): void {
    clearTimeout(this.#dueTimer)
    this.#dueMs = Number.POSITIVE_INFINITY
    for (const alert of this.#open.all()) this.#wakeBy(this.#dueOf(alert))
    for (const { until_ms } of this.#silences) this.#wakeBy(until_ms)
  }

  async #processDue(): Promise<void> {
    this.#expireSilences()
    await this.#inBatches(this.#open.all(), ({ id }) => {
      const alert = this.#open.get(id)
      if (alert) this.#processAlert(alert, serviceNow())
    })
    await this.#announceWithheld()
    this.#scheduleDue()
  }

  #processAlert(alert: Alert, nowMs: number): void {
    const reminder = dueReminder(alert, nowMs)
    if (reminder) return void this.#announce(reminder)
    if (hasHappened(alert)) {
      if (alert.kind !== 'watch' && nowMs >= alert.first_heard_ms + unseenMs) this.#close(alert, 'passed')
    } else if (alert.kind === 'test' && nowMs >= alert.deadline_ms) this.#close(alert, 'passed')
    // A devbox is still being suspended right after its deadline.
    else if (nowMs >= alert.deadline_ms + settledMs) {
      // During a replay or an outage, a deadline may have moved.
      const isCurrent = this.#watchHealth.isLive && this.#watch?.isReplaying === false
      void this.#settle(alert, alert.kind === 'eviction' && isCurrent)
    }
  }

  async #inBatches<T>(items: readonly T[], act: (item: T) => void): Promise<void> {
    for (let start = 0; start < items.length; start += batchSize) {
      if (start > 0) await nextTurn()
      this.#options.store.batch(() => items.slice(start, start + batchSize).forEach(act))
    }
  }
}
