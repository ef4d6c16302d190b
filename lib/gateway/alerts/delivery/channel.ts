import type { Alert, Delivery, Receiver } from '#lib/protocol/alerts.ts'
import type { Message } from './outbox.ts'
import type { ReceiverSettings } from './receiver-fields.ts'

export const deliveryTimes = {
  /** Alerts with the same event share a message if each follows the previous one within this time: chats limit rates. */
  batchMs: 1_000,
  maxBatchMs: 10_000,
  timeoutMs: 10_000,
  retry: { firstMs: 1_000, maxMs: 5 * 60_000 },
  /** Three waits, about a minute in total. */
  rejection: { firstMs: 8_000, maxMs: 60_000 },
  maxRetryAfterMs: 3_600_000,
  /** A message is retried for this long, and for as long as one of its alerts is open. */
  giveUpMs: 24 * 3_600_000,
  /** Overrides the interval of heartbeats in tests. */
  heartbeatMs: undefined as number | undefined,
}
export type DeliveryTimes = typeof deliveryTimes

export type ChannelState = Pick<Receiver, 'failure' | 'waiting' | 'next_try_ms' | 'deliveries'>

/** Sends to one receiver. */
export interface Channel {
  state(): ChannelState
  /** Takes messages that are in the outbox. */
  push(messages: readonly Message[]): void
  update(settings: ReceiverSettings): void
  retryNow(): void
  /** Sends `alert` once, ahead of all other messages. */
  test(alert: Alert): Promise<Delivery>
  /** Starts no further attempt and resolves after the current one, so that a restart doesn't repeat it. */
  stop(): Promise<void>
  close(): void
}
