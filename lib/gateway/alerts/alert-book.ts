import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
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
  type LooksHealth,
  type Silence,
} from '#lib/wire/alerts.ts'
import type { RelayData, RelayEvent, RelayUpstream } from '#lib/wire/evictions.ts'
import type { EvictionListener, EvictionWatch } from '../evictions/listener.ts'
import {
  acknowledged,
  afterTime,
  closed,
  closingState,
  endSubject,
  evictionSubject,
  isEndNear,
  nextDueMs,
  raised,
  type Subject,
  settledMs,
  unseenMs,
} from './alert-rules.ts'
import type { AlertStore, HistoryQuery } from './alert-store.ts'
import { type Look, ServiceLooks } from './service-looks.ts'
import { WatchHealth } from './watch-health.ts'
import type { Webhook } from './webhook.ts'
import { WebhookAlerts } from './webhook-alerts.ts'

/** What the service tells of a devbox for an alert. */
export interface DevboxFacts {
  name: string | null
  metadata: Record<string, string>
  status: string | undefined
  /** Of a devbox that a benchmark made for a trial. */
  scenario_run_id?: string | undefined
}

interface Options {
  account: { id: string; name: string }
  store: AlertStore
  /** By the clock of the service. */
  now(): number
  /** Undefined while the service does not answer; what is gone has ended. Never rejects. */
  describe(apiKey: string, devboxId: string): Promise<DevboxFacts | undefined>
  /** Asks the service for what no stream tells. */
  client: (apiKey: string) => Pick<Client, 'devboxes' | 'benchmarkJobs'>
  /** The watch of the account's evictions under that key. */
  watchFor(apiKey: string): EvictionWatch
  webhook?: Webhook | undefined
  /** The page of an alert. */
  urlOf(alertId: string): string
}

/** Pages and the webhook are told of an eviction without the name of its devbox when that takes longer. */
const describeMs = 500
const lingerMs = 30_000
/** After a connection the service has repeated what is pending within this time. */
const repeatedMs = 3_000
const testMs = 60_000

export type AlertListener = (item: AlertItem) => void

/**
 * The alerts of one account: made of what its watch of evictions tells and of what it is asked for beside that, kept in
 * the store, told to every page and to the webhook. It listens while a page does, or always where it is told to stay.
 * Pages may have different keys of the account: the service is asked with one of those that listen, and with another
 * once that has left or is refused.
 */
export class AlertBook implements EvictionListener {
  readonly #options: Options
  readonly #looks: ServiceLooks
  #followedJobs: string[]
  /** When the service was last asked for what no stream tells; null when it never was. */
  #lookedMs: number | null
  /** The ids of evictions that were scheduled here to practise, until they are reported. */
  readonly #drills = new Set<string>()
  readonly #open = new Map<string, Alert>()
  readonly #webhookAlerts: WebhookAlerts
  readonly #watchHealth = new WatchHealth()
  /** With the key of each. */
  readonly #listeners = new Map<AlertListener, string>()
  /** The key it listens with whether a page is open or not. */
  #ownKey: string | undefined
  readonly #refusedKeys = new Set<string>()
  /** The key that the service is asked with. */
  #apiKey: string
  #watch: EvictionWatch | undefined
  #linger: NodeJS.Timeout | undefined
  #dueTimer: NodeJS.Timeout | undefined
  /** True while what is told may have been told before without anybody here to hear it. */
  #isCatchingUp = true
  #catchingUp: NodeJS.Timeout | undefined
  /** Since this book joined the watch; undefined once those that are open were compared with it. */
  #reported: Set<string> | undefined

  constructor(apiKey: string, options: Options) {
    this.#apiKey = apiKey
    this.#options = options
    for (const alert of options.store.open(options.account.id)) this.#open.set(alert.id, alert)
    const { webhook, urlOf, now } = options
    if (webhook) webhook.onChange = () => this.#tell({ event: 'webhook', data: webhook.failure })
    this.#followedJobs = options.store.followedJobs(options.account.id)
    this.#lookedMs = options.store.lookedMs(options.account.id)
    this.#webhookAlerts = new WebhookAlerts(
      { webhook, urlOf, now, silences: () => this.silences() },
      this.#open.values(),
      // One that was over since then has told nobody of what it withheld.
      options.store.silences(options.account.id, this.#lookedMs ?? now()),
    )
    this.#looks = new ServiceLooks({
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
    listener(this.everything())
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
  everything(): AlertItem {
    const alerts = [...this.#open.values()].sort(byUrgency)
    const webhook = this.webhook?.failure ?? null
    const data = { alerts, silences: this.silences(), followed_jobs: this.#followedJobs, webhook }
    return { event: 'snapshot', data }
  }

  health(): AlertStreamHealth {
    const { lastHeardMs: last_heard_ms = null, unreadable = 0 } = this.#watch ?? {}
    return { ...this.#watchHealth.health, last_heard_ms, unreadable }
  }

  get unwritten(): string | null {
    return this.#options.store.problem
  }

  looksHealth(): LooksHealth {
    return this.#looks.health
  }

  /** Its alert will say that it is a drill, unless the returned function is called before. */
  startDrill(eviction: Eviction): () => void {
    const { id } = evictionSubject(eviction)
    this.#drills.add(id)
    return () => this.#drills.delete(id)
  }

  /** The eviction of the devbox was taken back through this console. */
  cancelEviction(devboxId: string): void {
    for (const alert of this.#ofKind('eviction')) if (alert.devbox_id === devboxId) this.#close(alert, 'cancelled')
  }

  /** A call through this console changed how long the devbox lives. */
  keptAlive(devboxId: string): void {
    this.#looks.keptAlive(devboxId)
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
    return this.#open.get(id) ?? this.#options.store.get(this.#account, id)
  }

  history(query: HistoryQuery) {
    return this.#options.store.history(this.#account, query)
  }

  /** Answers those that were new until now; ids that are over or unknown are left out. */
  acknowledge(ids: readonly string[], by: string): Alert[] {
    return ids.flatMap((id) => {
      const alert = this.#open.get(id)
      const next = alert && acknowledged(alert, by, this.#options.now())
      if (!next) return []
      this.#keep(next)
      this.#send('alert.acknowledged', next)
      return [next]
    })
  }

  silences(): Silence[] {
    return this.#options.store.silences(this.#account, this.#options.now())
  }

  silence(wanted: Pick<Silence, 'metadata' | 'until_ms' | 'comment' | 'by'>): Silence {
    const silence = { id: `sil_${randomUUID()}`, created_ms: this.#options.now(), ...wanted }
    this.#options.store.putSilence(this.#account, silence)
    this.#tell({ event: 'silences', data: this.silences() })
    return silence
  }

  /** False when there is none of this id. */
  endSilence(id: string): boolean {
    const isThere = this.#options.store.deleteSilence(this.#account, id)
    if (isThere) {
      this.#tell({ event: 'silences', data: this.silences() })
      this.#webhookAlerts.sendWithheld(this.#open)
    }
    return isThere
  }

  /** An alert that goes the way of all others, and is about nothing. */
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
    this.#options.webhook?.close()
    this.#listeners.clear()
    // What is still being asked for has no alert to change any more.
    this.#open.clear()
  }

  start({ evictions, upstream }: RelayData['snapshot']): void {
    this.#reported = new Set()
    this.#enter(upstream)
    for (const eviction of evictions) void this.#report(eviction)
    this.#caughtUpSoon()
  }

  tell({ event, data }: RelayEvent): void {
    if (event === 'upstream') this.#enter(data)
    if (event === 'upstream' || event === 'heartbeat' || event === 'snapshot') return
    if (event === 'eviction') return void this.#report(data)
    this.#watchHealth.heardEvent()
    for (const alert of this.#ofKind('eviction')) if (alert.devbox_id === data.devbox_id) void this.#settle(alert, true)
  }

  end(): void {
    this.#watch = undefined
    if (this.#keys.length > 0) this.#isCatchingUp = true
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
      this.#watch.join(this)
    }
    this.#looks.start()
    this.#waitUntilDue()
  }

  #unlisten(): void {
    clearTimeout(this.#linger)
    clearTimeout(this.#dueTimer)
    clearTimeout(this.#catchingUp)
    this.#looks.stop()
    this.#leaveWatch()
    this.#watchHealth.leave()
    this.#isCatchingUp = true
  }

  #leaveWatch(): void {
    this.#watch?.leave(this)
    this.#watch = undefined
  }

  /** After a connection the service repeats what is pending; what it tells later is new. */
  #caughtUpSoon(): void {
    clearTimeout(this.#catchingUp)
    if (!this.#watchHealth.isLive) return
    this.#catchingUp = setTimeout(() => {
      this.#isCatchingUp = false
      const reported = this.#reported
      this.#reported = undefined
      // What was open when nobody listened any more, and is no longer reported.
      for (const alert of this.#ofKind('eviction'))
        if (reported && !reported.has(alert.id)) void this.#settle(alert, true)
    }, repeatedMs)
  }

  #enter(upstream: RelayUpstream): void {
    const isFirst = this.#watchHealth.health.state === 'connecting'
    if (!this.#watchHealth.enter(upstream)) return
    if (upstream.state === 'live') {
      // What ended or failed while the service was away is not left to the next turn, which may be half a minute off.
      if (!isFirst) void this.#looks.look()
      this.#refusedKeys.delete(this.#apiKey)
      this.#doWhatIsDue()
      this.#caughtUpSoon()
    } else this.#isCatchingUp = true
    if (upstream.state !== 'refused') return
    this.#refusedKeys.add(this.#apiKey)
    this.#listen()
  }

  #ofKind(wanted: Alert['kind']): Alert[] {
    return [...this.#open.values()].filter(({ kind }) => kind === wanted)
  }

  #setFollowed(jobIds: string[]): void {
    this.#followedJobs = jobIds
    this.#tell({ event: 'followed_jobs', data: jobIds })
  }

  /** The alert as it is raised now. One of the same devbox and kind with another deadline has moved. */
  #raise(subject: Subject, told: Parameters<typeof raised>[1]): Alert {
    const nowMs = this.#options.now()
    const before = this.#ofKind(subject.kind).find(({ devbox_id }) => devbox_id === subject.devbox_id)
    if (before && subject.devbox_id) this.#close(before, 'moved')
    const known = this.#options.store.get(this.#account, subject.id)
    return known
      ? { ...known, state: 'new', alarms: known.alarms + 1, raised_ms: nowMs, closed_ms: null }
      : raised(subject, told, nowMs, before)
  }

  #raiseAndTell(subject: Subject, told: Parameters<typeof raised>[1]): void {
    const alert = this.#raise(subject, told)
    this.#keep(alert)
    if (alert.state === 'new') this.#send('alert.raised', alert)
  }

  #looked(look: Look): void {
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

  #raiseEnds({ running }: Look, nowMs: number): void {
    for (const { devbox, end } of running) {
      if (!end || isOfTrial(devbox) || !isEndNear(end, nowMs)) continue
      const subject = endSubject(devbox.id, end)
      if (!this.#open.has(subject.id)) this.#raiseAndTell(subject, { ...factsOf(devbox), found_late: false })
    }
  }

  /** Closes the alerts of ends that have moved, or that have come. */
  #closeEnds({ running, isWhole }: Look, nowMs: number): void {
    const ends = new Map(running.map(({ devbox, end }) => [devbox.id, end]))
    for (const alert of this.#ofKind('end')) {
      const end = ends.get(alert.devbox_id)
      if (end && end.at_ms !== alert.deadline_ms) this.#close(alert, 'moved')
      else if (!end && (isWhole || nowMs > alert.deadline_ms)) void this.#settle(alert, true)
      else if (end && nowMs > alert.deadline_ms + stillRunsMs) this.#close(alert, 'passed')
    }
  }

  #raiseFailures({ failed }: Look, { sinceMs, found_late }: { sinceMs: number; found_late: boolean }): void {
    for (const devbox of failed) {
      const failedMs = devbox.end_time_ms ?? devbox.create_time_ms
      const id = `${devbox.id}:failure`
      // A second of slack: the two clocks need not agree, and no alert is made twice.
      // A service may leave the time out: then nobody can tell whether it failed since.
      if (!(failedMs >= sinceMs - clockSlackMs) || this.#options.store.get(this.#account, id)) continue
      const subject: Subject = { id, kind: 'failure', devbox_id: devbox.id, deadline_ms: failedMs }
      this.#raiseAndTell(subject, { ...factsOf(devbox), found_late })
    }
  }

  #raiseEndedJobs({ endedJobs }: Look, { nowMs, found_late }: { nowMs: number; found_late: boolean }): void {
    for (const { id, name, state } of endedJobs) {
      if (!this.#followedJobs.includes(id)) continue
      this.unfollowJob(id)
      const job = { id, name, state }
      const subject: Subject = { id: `${id}:job`, kind: 'job', devbox_id: '', deadline_ms: nowMs, job }
      this.#raiseAndTell(subject, { devbox_name: null, metadata: {}, found_late })
    }
  }

  async #report(eviction: Eviction): Promise<void> {
    const subject = evictionSubject(eviction)
    const { id } = subject
    this.#reported?.add(id)
    if (this.#open.has(id)) return
    this.#watchHealth.heardEvent()
    const told = { devbox_name: null, metadata: {}, found_late: this.#isCatchingUp }
    const isDrill = this.#drills.delete(id)
    this.#open.set(id, this.#raise(isDrill ? { ...subject, is_drill: true } : subject, told))
    const describing = this.#options.describe(this.#apiKey, eviction.devbox_id)
    const soonEnough = await Promise.race([describing, delay(describeMs, undefined)])
    // It may have been moved or settled meanwhile, and an alert that nobody was told of is then still written down.
    const describe = (facts: DevboxFacts | undefined) => {
      const current = this.#open.get(id)
      if (!current) return
      if (!facts) return this.#keep(current)
      const { name, metadata, scenario_run_id } = facts
      this.#keep({ ...current, devbox_name: name, metadata, ...(scenario_run_id && { scenario_run_id }) })
    }
    describe(soonEnough)
    if (!soonEnough) describe(await describing)
    const current = this.#open.get(id)
    if (current && current.state === 'new') this.#send('alert.raised', current)
  }

  /**
   * Closes an alert once its devbox has ended, or where it `isOver` and is not told of again meanwhile. After the deadline
   * nobody can tell what has become of it while the service does not answer: it is asked again until it does.
   */
  async #settle(alert: Alert, isOver: boolean): Promise<void> {
    const facts = await this.#options.describe(this.#apiKey, alert.devbox_id)
    const current = this.#open.get(alert.id)
    const nowMs = this.#options.now()
    if (!current || (!facts && nowMs >= current.deadline_ms && nowMs < current.deadline_ms + unseenMs)) return
    const state = closingState(current, facts?.status, nowMs)
    const isTold = this.#watch?.everything().evictions.some((eviction) => evictionSubject(eviction).id === alert.id)
    if (state === 'ended' || (isOver && !isTold)) this.#close(current, state)
  }

  #close(alert: Alert, state: Parameters<typeof closed>[1]): void {
    const next = closed(alert, state, this.#options.now())
    if (!next) return
    this.#keep(next)
    if (next.kind !== 'test') this.#send('alert.closed', next)
  }

  #keep(alert: Alert): void {
    if (isOpen(alert)) this.#open.set(alert.id, alert)
    else this.#open.delete(alert.id)
    this.#options.store.put(this.#account, alert)
    this.#tell({ event: 'alert', data: alert })
    this.#waitUntilDue()
  }

  #tell(item: AlertItem): void {
    for (const listener of this.#listeners.keys()) listener(item)
  }

  #send(event: AlertEventName, alert: Alert): void {
    if (!this.#webhookAlerts.send(event, alert)) this.#waitUntilDue()
  }

  /** An alert is due when it is raised again, over, or no longer silenced. */
  #waitUntilDue(): void {
    clearTimeout(this.#dueTimer)
    if (this.#open.size === 0 || !this.#watch) return
    const nowMs = this.#options.now()
    const alertsDueMs = [...this.#open.values()].map((alert) => nextDueMs(alert, nowMs))
    const dueMs = Math.min(...alertsDueMs, ...this.#webhookAlerts.silencesEndMs)
    this.#dueTimer = setTimeout(() => this.#doWhatIsDue(), dueMs - nowMs + 1)
  }

  #doWhatIsDue(): void {
    const nowMs = this.#options.now()
    for (const alert of [...this.#open.values()]) {
      const again = afterTime(alert, nowMs)
      if (again) {
        this.#keep(again)
        this.#send('alert.raised', again)
      } else if (hasHappened(alert)) {
        if (nowMs >= alert.first_heard_ms + unseenMs) this.#close(alert, 'passed')
      } else if (alert.kind === 'test' && nowMs >= alert.deadline_ms) this.#close(alert, 'passed')
      // A devbox that still runs right after its deadline is being suspended while its eviction is reported.
      else if (nowMs >= alert.deadline_ms + settledMs)
        void this.#settle(alert, alert.kind === 'eviction' && !this.#isCatchingUp)
    }
    this.#webhookAlerts.sendWithheld(this.#open)
    this.#waitUntilDue()
  }
}

const factsOf = ({ name = null, metadata }: Devbox) => ({ devbox_name: name, metadata })

/** After so long without a look, what is found was found late. */
const lateLookMs = 60_000
const clockSlackMs = 1_000
/** A devbox that runs this long after its end did not end. */
const stillRunsMs = 30_000
