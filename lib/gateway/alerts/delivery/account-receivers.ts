import {
  type Alert,
  type AlertEventName,
  type Delivery,
  type FailingReceiver,
  type Receiver,
  type ReceiverFilter,
  type Severity,
  severityOf,
} from '#lib/protocol/alerts.ts'
import type { PushSubscriptionView } from '#lib/protocol/push.ts'
import { isBindingOver } from '../../push/push-binding.ts'
import { isConfiguredPushHost } from '../../push/push-services.ts'
import type { PushBinding, PushTarget } from '../../push/push-subscription.ts'
import { toServiceTime } from '../../upstream/clock.ts'
import type { Channel } from './channel.ts'
import { Heartbeat } from './heartbeat.ts'
import type { Message, StoredReceiver } from './outbox.ts'
import type { ReceiverSettings } from './receiver-fields.ts'
import { type SealedTarget, seal, unseal } from './sealed-target.ts'
import { Sender, type SenderOptions } from './sender.ts'

interface Options extends Omit<SenderOptions, 'onGone'> {
  /** Receivers of the environment and the file that are for this account. */
  configured(): readonly ReceiverSettings[]
  /** Whether receivers of the page may have private addresses. */
  isPrivateAllowed: boolean
  sees(): boolean
}

/** Answer of events that need no request. */
const unchanged = 'unchanged'

/** The receivers of one account. */
export class AccountReceivers {
  readonly #options: Options
  readonly #channels = new Map<string, { settings: ReceiverSettings; channel: Channel }>()

  constructor(options: Options) {
    this.#options = options
    this.refresh()
  }

  /** Starts receivers that were added or whose account became known. */
  refresh(): void {
    const stored = this.#stored().map((receiver) => this.#settingsOf(receiver))
    for (const settings of [...this.#options.configured(), ...stored])
      if (!this.#channels.has(settings.id)) this.#start(settings)
  }

  list(): Receiver[] {
    return [...this.#channels.values()].flatMap(({ settings, channel }) => {
      const { target: _, isPrivateAllowed: __, isOver: ___, push: ____, format, ...shown } = settings
      if (format === 'push') return []
      const { failure, next_try_ms, deliveries, waiting } = channel.state()
      return {
        ...shown,
        format,
        waiting,
        failure: failure && { ...failure, since_ms: toServiceTime(failure.since_ms) },
        next_try_ms: next_try_ms && toServiceTime(next_try_ms),
        deliveries: deliveries.map((delivery) => ({ ...delivery, at_ms: toServiceTime(delivery.at_ms) })),
      }
    })
  }

  /** Browsers that get web push, oldest first. */
  pushes(): PushSubscriptionView[] {
    return [...this.#channels.values()].flatMap(({ settings: { id, push }, channel }) => {
      if (!push) return []
      const { sid: _, created_ms, expires_ms, ...shown } = push
      const { waiting, deliveries } = channel.state()
      const last = deliveries.find(({ attempts, answer }) => attempts > 0 && answer !== unchanged)
      return {
        id,
        ...shown,
        created_ms: toServiceTime(created_ms),
        expires_ms: toServiceTime(expires_ms),
        waiting,
        last: last
          ? { at_ms: toServiceTime(last.at_ms), is_delivered: last.state === 'delivered', answer: last.answer }
          : null,
      }
    })
  }

  async addPush(id: string, { endpoint, keys }: PushTarget, api_key: string, push: PushBinding): Promise<void> {
    const before = this.#stored().find((receiver) => receiver.id === id)?.push
    this.#put({
      ...{ id, name: push.browser, format: 'push', is_paused: false },
      filter: { kinds: null, min_severity: 'info', metadata: {} },
      push: { ...push, created_ms: before?.created_ms ?? push.created_ms },
      ...(await this.#sealed({ url: endpoint, secret: JSON.stringify(keys), api_key })),
    })
  }

  async changePush(id: string, change: Partial<PushBinding>, api_key?: string): Promise<void> {
    const push = this.#stored().find((receiver) => receiver.id === id)?.push
    if (push) await this.change(id, { push: { ...push, ...change } }, api_key === undefined ? {} : { api_key })
  }

  /** Excludes paused receivers. */
  failing(): FailingReceiver[] {
    return this.list().flatMap(({ id, name, host, failure, is_paused }) =>
      failure && !is_paused ? [{ id, name, host, ...failure }] : [],
    )
  }

  /**
   * Returns the messages about an event of an alert, and the alert with the receivers that get them. Receivers whose
   * filter matched once also get all later events. `isFirst`: the event announces the alert.
   */
  address(event: AlertEventName, alert: Alert, isFirst: boolean): { alert: Alert; messages: Message[] } {
    const known = alert.receivers ?? []
    const receivers = [...this.#channels.values()].flatMap(({ settings }) => {
      const isWanted = known.includes(settings.id) || (isFirst && wants(settings, alert))
      // The end of a test only matters if it closes an incident.
      const isNeeded = alert.kind !== 'test' || event === 'alert.test' || settings.format === 'pagerduty'
      return isWanted && isNeeded && !isExpired(settings) ? [settings.id] : []
    })
    const at_ms = Date.now()
    return {
      alert: receivers.length === 0 ? alert : { ...alert, receivers: [...new Set([...known, ...receivers])] },
      messages: receivers.map((receiver) => ({ receiver, event, at_ms, alert })),
    }
  }

  /** Sends messages that were stored with their alert. */
  send(messages: readonly Message[]): void {
    for (const message of messages) this.#channels.get(message.receiver)?.channel.push([message])
  }

  async add(receiver: Omit<StoredReceiver, 'sealed' | 'host' | 'has_secret' | 'is_paused'>, target: SealedTarget) {
    this.#put({ ...receiver, ...(await this.#sealed(target)), is_paused: false })
    return this.#find(receiver.id)
  }

  /** Missing fields of `target` stay as they are. */
  async change(id: string, change: Partial<StoredReceiver>, target: Partial<SealedTarget>) {
    const find = () => this.#stored().find((receiver) => receiver.id === id)
    const next = { ...(await unseal(find()?.sealed ?? '')), ...target }
    const sealed = next.url && next.api_key ? await this.#sealed(next as SealedTarget) : {}
    // It may have been changed or deleted meanwhile.
    const stored = find()
    if (!stored) return undefined
    this.#put({ ...stored, ...change, ...sealed })
    return this.#find(id)
  }

  remove(id: string): void {
    this.#channels.get(id)?.channel.close()
    this.#channels.delete(id)
    this.#options.outbox.deleteReceiver(this.#options.stored, id)
    this.#options.onChange()
  }

  retryNow(id: string): void {
    this.#channels.get(id)?.channel.retryNow()
  }

  /** Sends a test alert to one receiver. */
  async test(id: string, alert: Alert): Promise<Delivery | undefined> {
    const { channel, settings } = this.#channels.get(id) ?? {}
    const delivery = await channel?.test(alert)
    if (delivery?.state !== 'delivered' || settings?.format !== 'pagerduty') return delivery
    // Closes the incident.
    const closed: Alert = { ...alert, state: 'passed', closed_ms: Date.now() }
    const messages: Message[] = [{ receiver: id, event: 'alert.closed', at_ms: Date.now(), alert: closed }]
    this.#options.outbox.add(this.#options.stored, messages)
    this.send(messages)
    return delivery
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#channels.values()].map(({ channel }) => channel.stop()))
  }

  close(): void {
    for (const { channel } of this.#channels.values()) channel.close()
  }

  #find(id: string): Receiver | undefined {
    return this.list().find((receiver) => receiver.id === id)
  }

  #stored(): StoredReceiver[] {
    const { outbox, stored } = this.#options
    return outbox.receivers().flatMap(({ account, receiver }) => (account === stored ? [receiver] : []))
  }

  async #sealed({ url, secret, api_key }: SealedTarget) {
    const sealed = await seal({ url, ...(secret && { secret }), api_key })
    return { sealed, host: new URL(url).host, has_secret: !!secret }
  }

  #put(receiver: StoredReceiver): void {
    this.#options.outbox.putReceiver(this.#options.stored, receiver)
    const settings = this.#settingsOf(receiver)
    const known = this.#channels.get(receiver.id)
    if (known) {
      known.settings = settings
      known.channel.update(settings)
      this.#options.onChange()
    } else this.#start(settings)
  }

  #start(settings: ReceiverSettings): void {
    const options = { ...this.#options, onGone: (id: string) => this.remove(id) }
    const channel = settings.format === 'heartbeat' ? new Heartbeat(settings, options) : new Sender(settings, options)
    this.#channels.set(settings.id, { settings, channel })
  }

  #settingsOf({ sealed, ...receiver }: StoredReceiver): ReceiverSettings {
    let opened: Promise<SealedTarget | undefined> | undefined
    const target = () => {
      opened ??= unseal(sealed)
      return opened
    }
    const { push } = receiver
    if (!push) return { ...receiver, source: 'page', isPrivateAllowed: this.#options.isPrivateAllowed, target }
    return {
      ...receiver,
      source: 'page',
      isPrivateAllowed: isConfiguredPushHost(receiver.host),
      target,
      isOver: async () => isBindingOver(push, (await target())?.api_key ?? ''),
    }
  }
}

/** The browser's session has ended. */
const isExpired = ({ push }: ReceiverSettings): boolean => push !== undefined && push.expires_ms <= Date.now()

/** Tests go to every receiver. */
const wants = ({ filter, is_paused, format }: ReceiverSettings, alert: Alert): boolean =>
  format !== 'heartbeat' && !is_paused && (alert.kind === 'test' || matches(filter, alert))

const rank: Record<Severity, number> = { info: 0, warning: 1, critical: 2 }

const matches = ({ kinds, min_severity, metadata }: ReceiverFilter, alert: Alert): boolean =>
  (kinds === null || kinds.includes(alert.kind)) &&
  rank[severityOf(alert)] >= rank[min_severity] &&
  Object.entries(metadata).every(([name, value]) => alert.metadata[name] === value)
