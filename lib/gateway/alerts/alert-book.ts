import { randomUUID } from 'node:crypto'
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises'
import type { Client } from '#lib/client/client.ts'
import { type Devbox, isOfTrial } from '#lib/contract/devboxes.ts'
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
import type { EvictionEvent, EvictionSnapshot, EvictionStreamState } from '#lib/protocol/evictions.ts'
import {
  acknowledged,
  closed,
  closedState,
  type DevboxStop,
  dueReminder,
  endSubject,
  evictionSubject,
  howStopped,
  isActive,
  isEndNear,
  nextDueMs,
  raised,
  reopened,
  type Subject,
  settledMs,
  unseenMs,
} from './alert-rules.ts'
import type { AlertStore, HistoryQuery } from './alert-store.ts'
import type { EvictionListener, EvictionWatch } from './eviction-listener.ts'
import { limitConcurrency } from './limit-concurrency.ts'
import { type Poll, ServicePoller } from './service-poller.ts'
import { WatchHealth } from './watch-health.ts'
import type { Webhook } from './webhook.ts'

/** A devbox, as far as its alerts show it. */
export interface DevboxFacts {
  name: string | null
  metadata: Record<string, string>
  status: string | undefined
  stop?: DevboxStop | undefined
  /** Of a devbox that a benchmark made for a trial. */
  scenario_run_id?: string | undefined
}

interface Options {
  account: { id: string; name: string }
  store: AlertStore
  /** By the clock of the service. */
  now(): number
  /** Undefined while the service does not answer; a missing devbox was shut down. Never rejects. */
  describe(apiKey: string, devboxId: string): Promise<DevboxFacts | undefined>
  /** Asks the service for what no stream tells. */
  client: (apiKey: string) => Pick<Client, 'devboxes' | 'benchmarkJobs'>
  /** The watch of the account's evictions under that key. */
  watchFor(apiKey: string): EvictionWatch
  webhook?: Webhook | undefined
  /** The page of an alert. */
  urlOf(alertId: string): string
}

/** After this long, pages get an eviction without the name of its devbox. */
const describeMs = 500
/** Each is a call of the service, and an outage or a drain asks about thousands of devboxes at once. */
const maxDescribing = 8
/** Alerts handled in one turn of the event loop: about 10 ms. */
const batchSize = 100
const lingerMs = 30_000
const testMs = 60_000
/** Until keys that the service refused are tried again. */
const refusedKeysMs = 30_000

export type AlertListener = (item: AlertItem) => void

/**
 * The alerts of one account, made from its eviction stream and from polling the service; stored, and sent to every page
 * and to the webhook. Active while a page listens, or always after `stay`. Pages may have different keys of the account:
 * one of them is used, and another once its page leaves or the service refuses it.
 */
export class AlertBook implements EvictionListener {
  readonly #options: Options
  readonly #looks: ServicePoller
  #followedJobs: string[]
  /** When the service was last asked for what no stream tells; null when it never was. */
  #lookedMs: number | null
  /** The ids of evictions that were scheduled here to practise, until they are reported. */
  readonly #drills = new Set<string>()
  readonly #open = new Map<string, Alert>()
  /** The id of the open alert of a devbox, by kind and devbox. */
  readonly #openIds = new Map<string, string>()
  /** Ids of open alerts to be announced once their silence is over. */
  readonly #withheld = new Set<string>()
  /** Reported evictions that have no alert yet, by devbox: of several in one turn the last counts. */
  readonly #arrived = new Map<string, { eviction: Eviction; found_late: boolean }>()
  #isRaising = false
  /** Changed alerts that are neither stored nor sent to pages yet, by id. */
  readonly #unsaved = new Map<string, Alert>()
  #saving: Promise<void> | undefined
  /** Alerts whose devbox is being asked for, and whether the service no longer reports them. */
  readonly #settling = new Map<string, boolean>()
  readonly #describe: Options['describe']
  #silences: Silence[]
  readonly #watchHealth = new WatchHealth()
  /** With the key of each. */
  readonly #listeners = new Map<AlertListener, string>()
  /** The key it listens with whether a page is open or not. */
  #ownKey: string | undefined
  readonly #refusedKeys = new Set<string>()
  #retryKeys: NodeJS.Timeout | undefined
  /** The key that the service is asked with. */
  #apiKey: string
  #watch: EvictionWatch | undefined
  #linger: NodeJS.Timeout | undefined
  #dueTimer: NodeJS.Timeout | undefined
  #dueMs = Number.POSITIVE_INFINITY

  constructor(apiKey: string, options: Options) {
    this.#apiKey = apiKey
    this.#options = options
    this.#describe = limitConcurrency(maxDescribing, options.describe)
    this.#silences = options.store.silences(options.account.id, options.now())
    for (const alert of options.store.open(options.account.id)) this.#hold(alert)
    const { webhook, now } = options
    if (webhook) webhook.onChange = () => this.#tell({ event: 'webhook', data: webhook.failure })
    this.#followedJobs = options.store.followedJobs(options.account.id)
    this.#lookedMs = options.store.lookedMs(options.account.id)
    this.#looks = new ServicePoller({
      now,
      client: () => options.client(this.#apiKey),
      followedJobs: () => this.#followedJobs,
      onLook: (look) => this.#looked(look),
    })
  }

  /** Tells `listener` everything, and then what changes, until the returned function is called. */
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

  /** Listens from now on with no page open. */
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

  /** What is open, and what people have silenced. */
  snapshot(): AlertItem {
    const alerts = [...this.#open.values()].sort(byUrgency)
    const webhook = this.webhook?.failure ?? null
    const data = { alerts, silences: this.silences(), followed_jobs: this.#followedJobs, webhook }
    return { event: 'snapshot', data }
  }

  health(): AlertStreamHealth {
    const { lastHeardMs: last_heard_ms = null, unreadable } = this.#watch ?? {}
    const { count = 0, reason = null } = unreadable ?? {}
    return { ...this.#watchHealth.health, last_heard_ms, unreadable: count, unreadable_reason: reason }
  }

  get unwritten(): string | null {
    return this.#options.store.problem
  }

  looksHealth(): PollHealth {
    return this.#looks.health
  }

  /** Its alert will say that it is a drill, unless the returned function is called before. */
  startDrill(eviction: Eviction): () => void {
    const { id } = evictionSubject(eviction)
    this.#drills.add(id)
    return () => this.#drills.delete(id)
  }

  /** The eviction of the devbox was canceled through this console. */
  cancelEviction(devboxId: string): void {
    const alert = this.#openOf('eviction', devboxId)
    if (alert) this.#close(alert, 'cancelled')
  }

  /** Somebody suspended or shut down the devbox through this console. */
  stopDevbox(devboxId: string, how: 'suspended' | 'shut down', by: string): void {
    this.#raiseArrived(devboxId)
    for (const kind of how === 'suspended' ? (['eviction'] as const) : (['eviction', 'end'] as const)) {
      const alert = this.#openOf(kind, devboxId)
      if (alert) this.#close(alert, 'stopped', { how, by })
    }
  }

  /** A call through this console changed how long the devbox lives. */
  onKeepAlive(devboxId: string): void {
    this.#looks.onKeepAlive(devboxId)
  }

  /** Tells of its end, to every page. */
  followJob(jobId: string): void {
    this.#options.store.followJob(this.#account, jobId)
    this.#setFollowed([...this.#followedJobs.filter((id) => id !== jobId), jobId])
    void this.#looks.look()
  }

  unfollowJob(jobId: string): void {
    this.#options.store.unfollowJob(this.#account, jobId)
    this.#setFollowed(this.#followedJobs.filter((id) => id !== jobId))
  }

  get(id: string): Alert | undefined {
    return this.#open.get(id) ?? this.#unsaved.get(id) ?? this.#options.store.get(this.#account, id)
  }

  history(query: HistoryQuery) {
    this.#saveSome(this.#unsaved.size)
    return this.#options.store.history(this.#account, query)
  }

  /** Returns those that were new until now, once they are stored; closed and unknown ones are left out. */
  async acknowledge(ids: readonly string[], by: string): Promise<Alert[]> {
    const taken: Alert[] = []
    for (const [index, id] of ids.entries()) {
      if (index % batchSize === batchSize - 1) await turn()
      const alert = this.#open.get(id)
      const next = alert && acknowledged(alert, by, this.#options.now())
      if (!next) continue
      this.#keep(next)
      this.#send('alert.acknowledged', next)
      taken.push(next)
    }
    await this.#saving
    return taken
  }

  silences(): Silence[] {
    const nowMs = this.#options.now()
    return this.#silences.filter(({ until_ms }) => until_ms > nowMs)
  }

  silence(wanted: Pick<Silence, 'metadata' | 'until_ms' | 'comment' | 'by'>): Silence {
    const silence = { id: `sil_${randomUUID()}`, created_ms: this.#options.now(), ...wanted }
    this.#options.store.putSilence(this.#account, silence)
    this.#readSilences()
    this.#tell({ event: 'silences', data: this.silences() })
    return silence
  }

  /** False when there is none of this id. */
  endSilence(id: string): boolean {
    const isThere = this.#options.store.deleteSilence(this.#account, id)
    if (isThere) {
      this.#readSilences()
      this.#tell({ event: 'silences', data: this.silences() })
      this.#announceWithheld()
    }
    return isThere
  }

  /** Raises an alert about nothing, which takes the same way as all others. */
  test(): Alert {
    const deadline_ms = this.#options.now() + testMs
    const subject: Subject = { id: `test@${deadline_ms}`, kind: 'test', devbox_id: 'test', deadline_ms }
    const alert = raised(subject, { devbox_name: null, metadata: {}, found_late: false }, this.#options.now())
    this.#keep(alert)
    this.#send('alert.test', alert)
    return alert
  }

  close(): void {
    this.#unlisten()
    clearTimeout(this.#retryKeys)
    this.#options.webhook?.close()
    this.#saveSome(this.#unsaved.size)
    this.#listeners.clear()
    this.#arrived.clear()
    // Calls that are still pending have no alert to change.
    this.#open.clear()
  }

  start({ evictions, upstream }: EvictionSnapshot): void {
    this.#enter(upstream)
    for (const eviction of evictions) this.#report(eviction, true)
  }

  onEvent({ event, data }: EvictionEvent): void {
    if (event === 'upstream') return void this.#enter(data)
    // The stream lost what only a repetition reports.
    if (event === 'eviction') return void this.#report(data, this.#watch?.isReplaying ?? true)
    this.#watchHealth.heardEvent()
    this.#raiseArrived(data.devbox_id)
    const alert = this.#openOf('eviction', data.devbox_id)
    if (alert) void this.#settle(alert, true)
  }

  end(): void {
    this.#watch = undefined
  }

  get #account(): string {
    return this.#options.account.id
  }

  /** Of all who listen. */
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
      void this.#looks.look()
    }
    if (!this.#watch) {
      this.#watch = this.#options.watchFor(next)
      const known = this.#ofKind('eviction')
      this.#watch.join(
        this,
        known.map(({ devbox_id, deadline_ms }) => ({ devbox_id, eviction_deadline_ms: deadline_ms })),
      )
    }
    this.#looks.start()
    this.#waitUntilDue()
  }

  #unlisten(): void {
    clearTimeout(this.#linger)
    clearTimeout(this.#dueTimer)
    this.#looks.stop()
    this.#leaveWatch()
    this.#watchHealth.leave()
  }

  #leaveWatch(): void {
    this.#watch?.leave(this)
    this.#watch = undefined
  }

  #enter(upstream: EvictionStreamState): void {
    const isFirst = this.#watchHealth.health.state === 'connecting'
    if (!this.#watchHealth.enter(upstream)) return
    if (upstream.state === 'live') {
      // What ended or failed while the service was away is not left to the next turn, which may be half a minute off.
      if (!isFirst) void this.#looks.look()
      this.#refusedKeys.delete(this.#apiKey)
      this.#doWhatIsDue()
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

  #openOf(kind: Alert['kind'], devboxId: string): Alert | undefined {
    return this.#open.get(this.#openIds.get(`${kind} ${devboxId}`) ?? '')
  }

  #ofKind(wanted: Alert['kind']): Alert[] {
    return [...this.#open.values()].filter(({ kind }) => kind === wanted)
  }

  #setFollowed(jobIds: string[]): void {
    this.#followedJobs = jobIds
    this.#tell({ event: 'followed_jobs', data: jobIds })
  }

  /** The alert as it is raised now. One of the same devbox and kind with another deadline has moved. */
  #raise(subject: Subject, told: Parameters<typeof raised>[1], known?: Alert): Alert {
    const before = subject.devbox_id ? this.#openOf(subject.kind, subject.devbox_id) : undefined
    if (before) this.#close(before, 'moved')
    const next = raised(subject, told, this.#options.now(), before)
    return known ? { ...next, first_heard_ms: known.first_heard_ms, alarms: known.alarms + next.alarms } : next
  }

  #raiseAndTell(subject: Subject, told: Parameters<typeof raised>[1]): void {
    this.#announce(this.#raise(subject, told, this.get(subject.id)))
  }

  #looked(look: Poll): void {
    const nowMs = this.#options.now()
    const lookedMs = this.#lookedMs
    this.#lookedMs = look.atMs
    this.#options.store.setLookedMs(this.#account, look.atMs)
    const found_late = lookedMs !== null && nowMs - lookedMs > lateLookMs
    this.#raiseEnds(look, nowMs)
    this.#closeEnds(look, nowMs)
    // No alert is made of what failed before this console first looked. What failed while it did not look is found late.
    this.#raiseFailures(look, { sinceMs: Math.max(lookedMs ?? nowMs, nowMs - unseenMs), found_late })
    this.#raiseEndedJobs(look, { nowMs, found_late })
  }

  #raiseEnds({ running }: Poll, nowMs: number): void {
    for (const { devbox, end } of running) {
      if (!end || isOfTrial(devbox) || !isEndNear(end, nowMs)) continue
      const subject = endSubject(devbox.id, end)
      if (!this.#open.has(subject.id)) this.#raiseAndTell(subject, { ...factsOf(devbox), found_late: false })
    }
  }

  /** Closes the alerts of ends that have moved, or that have come. */
  #closeEnds({ running, isWhole }: Poll, nowMs: number): void {
    const ends = new Map(running.map(({ devbox, end }) => [devbox.id, end]))
    for (const alert of this.#ofKind('end')) {
      const end = ends.get(alert.devbox_id)
      if (end && end.at_ms !== alert.deadline_ms) this.#close(alert, 'moved')
      else if (!end && (isWhole || nowMs > alert.deadline_ms)) void this.#settle(alert, true)
      else if (end && nowMs > alert.deadline_ms + stillRunsMs) this.#close(alert, 'passed')
    }
  }

  #raiseFailures({ failed }: Poll, { sinceMs, found_late }: { sinceMs: number; found_late: boolean }): void {
    for (const devbox of failed) {
      const failedMs = devbox.end_time_ms ?? devbox.create_time_ms
      const id = `${devbox.id}:failure`
      // A second of slack: the two clocks need not agree, and no alert is made twice.
      // A service may leave the time out: then nobody can tell whether it failed since.
      if (!(failedMs >= sinceMs - clockSlackMs) || this.get(id)) continue
      const subject: Subject = { id, kind: 'failure', devbox_id: devbox.id, deadline_ms: failedMs }
      this.#raiseAndTell(subject, { ...factsOf(devbox), found_late })
    }
  }

  #raiseEndedJobs({ endedJobs }: Poll, { nowMs, found_late }: { nowMs: number; found_late: boolean }): void {
    for (const { id, name, state } of endedJobs) {
      if (!this.#followedJobs.includes(id)) continue
      this.unfollowJob(id)
      const job = { id, name, state }
      const subject: Subject = { id: `${id}:job`, kind: 'job', devbox_id: '', deadline_ms: nowMs, job }
      this.#raiseAndTell(subject, { devbox_name: null, metadata: {}, found_late })
    }
  }

  #report(eviction: Eviction, found_late: boolean): void {
    this.#arrived.set(eviction.devbox_id, { eviction, found_late })
    if (!this.#isRaising) void this.#raiseInBatches()
  }

  async #raiseInBatches(): Promise<void> {
    this.#isRaising = true
    for (await turn(); this.#arrived.size > 0; await turn())
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
    if (this.#open.has(id)) return
    this.#watchHealth.heardEvent()
    const known = this.get(id)
    if (known && known.state !== 'moved') return void this.#reopen(known)
    const isDrill = this.#drills.delete(id)
    const told = { devbox_name: null, metadata: {}, found_late }
    this.#hold(this.#raise(isDrill ? { ...subject, is_drill: true } : subject, told, known))
    void this.#describeAndAnnounce(id, devbox_id)
  }

  async #describeAndAnnounce(id: string, devboxId: string): Promise<void> {
    const describing = this.#describe(this.#apiKey, devboxId)
    const soonEnough = await Promise.race([describing, delay(describeMs, undefined)])
    if (!soonEnough && this.#open.has(id)) this.#keep(this.#open.get(id) as Alert)
    const facts = soonEnough ?? (await describing)
    // It may have been moved or closed meanwhile.
    const current = this.#open.get(id)
    if (!current) return
    if (!facts) return void this.#announce(current)
    const { name, metadata, scenario_run_id } = facts
    this.#announce({ ...current, devbox_name: name, metadata, ...(scenario_run_id && { scenario_run_id }) })
  }

  /** An eviction that was closed is reported again: nobody is alarmed twice. */
  async #reopen(known: Alert): Promise<void> {
    if (known.state !== 'withdrawn' && known.state !== 'cancelled') {
      if (this.#options.now() >= known.deadline_ms) return
      // A service may report the eviction of a devbox that is suspended already.
      const status = (await this.#describe(this.#apiKey, known.devbox_id))?.status
      if (status === undefined || !isActive(status) || this.#open.has(known.id) || !this.#watch) return
    }
    const before = this.#openOf(known.kind, known.devbox_id)
    if (before) this.#close(before, 'moved')
    this.#keep(reopened(known))
  }

  /**
   * Closes an alert once its devbox has stopped, or where it `isOver` and is not reported again meanwhile. After the
   * deadline nobody knows what became of it while the service does not answer: it is asked again until it does.
   */
  async #settle(alert: Alert, isOver: boolean): Promise<void> {
    const isAsked = this.#settling.has(alert.id)
    this.#settling.set(alert.id, isOver || this.#settling.get(alert.id) === true)
    if (isAsked) return
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
    this.#keep(next)
    if (next.kind !== 'test') this.#send('alert.closed', next)
  }

  /** Stores an alert that was raised and announces it; while it is silenced, only pages get it. */
  #announce(alert: Alert): void {
    if (alert.state !== 'new') return void this.#keep(alert)
    const { withheld, ...told } = alert
    if (isSilenced(alert, this.#silences, this.#options.now()))
      return void this.#keep({ ...told, withheld: withheld ?? (alert.alarms > 1 ? 'again' : 'first') })
    this.#keep(told)
    this.#send('alert.raised', told)
  }

  #announceWithheld(): void {
    for (const id of this.#withheld) {
      const alert = this.#open.get(id)
      if (alert && !isSilenced(alert, this.#silences, this.#options.now())) this.#announce(alert)
    }
  }

  /** What follows an announcement is sent even while the alert is silenced, or a receiver would wait for its end. */
  #send(event: AlertEventName, alert: Alert): void {
    if (alert.withheld !== 'first') this.webhook?.send(event, alert, this.#options.urlOf(alert.id))
  }

  #readSilences(): void {
    this.#silences = this.#options.store.silences(this.#account, this.#options.now())
  }

  #hold(alert: Alert): void {
    const key = `${alert.kind} ${alert.devbox_id}`
    this.#withheld.delete(alert.id)
    if (isOpen(alert)) {
      this.#open.set(alert.id, alert)
      this.#openIds.set(key, alert.id)
      if (alert.state === 'new' && alert.withheld) this.#withheld.add(alert.id)
    } else {
      this.#open.delete(alert.id)
      if (this.#openIds.get(key) === alert.id) this.#openIds.delete(key)
    }
  }

  #keep(alert: Alert): void {
    this.#hold(alert)
    this.#unsaved.set(alert.id, alert)
    this.#saving ??= this.#saveInBatches()
    if (isOpen(alert)) this.#wakeBy(this.#dueOf(alert))
  }

  async #saveInBatches(): Promise<void> {
    for (await turn(); this.#unsaved.size > 0; await turn()) this.#saveSome(batchSize)
    this.#saving = undefined
  }

  #saveSome(most: number): void {
    const alerts = [...this.#unsaved.values().take(most)]
    for (const { id } of alerts) this.#unsaved.delete(id)
    this.#options.store.put(this.#account, alerts)
    for (const alert of alerts) this.#tell({ event: 'alert', data: alert })
  }

  #tell(item: AlertItem): void {
    for (const listener of this.#listeners.keys()) listener(item)
  }

  /** When an alert may have to be raised again, closed, or announced because its silence is over. */
  #dueOf(alert: Alert): number {
    const dueMs = nextDueMs(alert, this.#options.now())
    return this.#withheld.has(alert.id) ? Math.min(dueMs, ...this.silences().map(({ until_ms }) => until_ms)) : dueMs
  }

  #wakeBy(dueMs: number): void {
    if (!this.#watch || dueMs >= this.#dueMs) return
    clearTimeout(this.#dueTimer)
    this.#dueMs = dueMs
    this.#dueTimer = setTimeout(() => this.#doWhatIsDue(), dueMs - this.#options.now() + 1)
  }

  #waitUntilDue(): void {
    clearTimeout(this.#dueTimer)
    this.#dueMs = Number.POSITIVE_INFINITY
    for (const alert of this.#open.values()) this.#wakeBy(this.#dueOf(alert))
  }

  #doWhatIsDue(): void {
    const nowMs = this.#options.now()
    // While the service repeats what is pending, or is away, a deadline may have moved.
    const isCurrent = this.#watchHealth.isLive && this.#watch?.isReplaying === false
    for (const alert of [...this.#open.values()]) {
      const again = dueReminder(alert, nowMs)
      if (again) this.#announce(again)
      else if (hasHappened(alert)) {
        if (nowMs >= alert.first_heard_ms + unseenMs) this.#close(alert, 'passed')
      } else if (alert.kind === 'test' && nowMs >= alert.deadline_ms) this.#close(alert, 'passed')
      // A devbox that still runs right after its deadline is being suspended while its eviction is reported.
      else if (nowMs >= alert.deadline_ms + settledMs) void this.#settle(alert, alert.kind === 'eviction' && isCurrent)
    }
    this.#announceWithheld()
    this.#waitUntilDue()
  }
}

const factsOf = ({ name = null, metadata }: Devbox) => ({ devbox_name: name, metadata })

/** After so long without a look, what is found was found late. */
const lateLookMs = 60_000
const clockSlackMs = 1_000
/** A devbox that runs this long after its end did not end. */
const stillRunsMs = 30_000
