import { createHash, createHmac } from 'node:crypto'
import {
  type Alert,
  type AlertEventName,
  alertsText,
  type Delivery,
  groupKeyOf,
  isOpen,
  type ReceiverFormat,
  type Severity,
  severityOf,
} from '#lib/protocol/alerts.ts'
import { pushMessageOf } from '../../push/push-message.ts'
import { pushRequestOf } from '../../push/push-request.ts'
import type { PushTarget } from '../../push/push-subscription.ts'
import type { OutgoingRequest } from './post.ts'
import type { ChannelFormat, Target } from './receiver-fields.ts'

export interface Context {
  account: { id: string; name: string }
  urlOf(alertId: string): string
  nowMs: number
  /** For web push. */
  showsNames?: boolean
}

interface Content {
  delivery: Delivery
  /** Soonest deadline first. */
  alerts: readonly [Alert, ...Alert[]]
  /** Open alerts that this receiver got. */
  open: readonly Alert[]
}

/** Null if the receiver needs no request: an incident stays as it is while alerts of its group are open. */
export const requestOf = (
  format: ChannelFormat,
  target: Target,
  content: Content,
  context: Context,
): OutgoingRequest | null => {
  if (format === 'push') return pushRequest(target, content, context)
  const body = bodies[format](content, context, target)
  return body === null ? null : signedRequest(target, content.delivery, JSON.stringify(body), context.nowMs)
}

/** `secret` has the keys of the browser. */
const pushRequest = (
  { url, secret }: Target,
  { delivery, alerts }: Content,
  { account, nowMs, showsNames = false }: Context,
) => {
  const event = delivery.event as AlertEventName
  const message = pushMessageOf({ event, alerts, account: account.id, showsNames, nowMs })
  const keys = JSON.parse(secret ?? '{}') as PushTarget['keys']
  return message && pushRequestOf({ endpoint: url, keys }, message, alerts[0], nowMs)
}

export const heartbeatRequest = (target: Target, delivery: Delivery, { account, nowMs }: Omit<Context, 'urlOf'>) =>
  signedRequest(target, delivery, JSON.stringify({ event: 'heartbeat', account, sent_ms: nowMs }), nowMs)

/** `devdeck-signature: t=<ms>,v1=<hex>` is the HMAC-SHA256 of `<ms>.<body>`. */
const signedRequest = (
  { url, secret }: Target,
  { id, event }: Delivery,
  body: string,
  nowMs: number,
): OutgoingRequest => ({
  url,
  body,
  headers: {
    'devdeck-event': event,
    'devdeck-delivery': id,
    ...(secret === undefined ? {} : { 'devdeck-signature': signatureOf(body, secret, nowMs) }),
  },
})

export const signatureOf = (body: string, secret: string, nowMs: number): string =>
  `t=${nowMs},v1=${createHmac('sha256', secret).update(`${nowMs}.${body}`).digest('hex')}`

const lateMs = 60_000

/** Marks a late delivery, because its times may have passed. */
export const textOf = (
  { delivery, alerts }: Pick<Content, 'delivery' | 'alerts'>,
  { urlOf, nowMs }: Context,
): string => {
  const text = alertsText(alerts.map((alert) => ({ alert, url: urlOf(alert.id) })))
  const delayMs = nowMs - delivery.at_ms
  return delayMs < lateMs ? text : `Delayed by ${Math.floor(delayMs / 60_000)} min: ${text}`
}

type Body = (content: Content, context: Context, target: Target) => object | null

/** `alert` has the earliest deadline. */
const jsonBody: Body = (content, context) => {
  const { delivery, alerts } = content
  const [alert] = alerts
  return {
    event: delivery.event,
    n_alerts: alerts.length,
    alert,
    alerts,
    text: textOf(content, context),
    account: context.account,
    sent_ms: delivery.at_ms,
  }
}

/** `&`, `<` and `>` are control characters of Slack. */
const slackBody: Body = (content, context) => ({
  text: textOf(content, context).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;'),
})

/** An event for PagerDuty's Events API v2. All alerts belong to one group, which is one incident. */
const pagerDutyBody: Body = (content, context, { secret }) => {
  const { delivery, alerts } = content
  const [first] = alerts
  const group = groupKeyOf(first)
  const event_action = actionOf(
    delivery.event as AlertEventName,
    content.open.filter((alert) => groupKeyOf(alert) === group),
  )
  if (event_action === null) return null
  const digest = createHash('sha256').update(`${context.account.id} ${group}`).digest('hex').slice(0, 32)
  const event = { routing_key: secret, event_action, dedup_key: `devdeck-${digest}` }
  if (event_action !== 'trigger') return event
  const url = context.urlOf(first.id)
  return {
    ...event,
    client: 'Devdeck',
    client_url: url,
    links: [{ href: url, text: 'Alert in Devdeck' }],
    payload: {
      summary: textOf(content, context).slice(0, maxSummaryLength),
      source: first.node ?? (first.devbox_id || 'Devdeck'),
      severity: worst(alerts.map(severityOf)),
      timestamp: new Date(first.raised_ms).toISOString(),
      class: first.kind,
      group: context.account.name,
      custom_details: {
        n_alerts: alerts.length,
        devboxes: alerts.slice(0, maxNamed).map(({ devbox_id }) => devbox_id),
      },
    },
  }
}

const maxSummaryLength = 1024
const maxNamed = 50

const worst = (severities: readonly Severity[]): Severity =>
  (['critical', 'warning'] as const).find((each) => severities.includes(each)) ?? 'info'

const actionOf = (event: AlertEventName, group: readonly Alert[]) => {
  if (event !== 'alert.acknowledged' && event !== 'alert.closed') return 'trigger'
  if (!group.some(isOpen)) return 'resolve'
  return group.every(({ state }) => state === 'acknowledged') ? 'acknowledge' : null
}

const bodies: Record<ReceiverFormat, Body> = {
  json: jsonBody,
  slack: slackBody,
  pagerduty: pagerDutyBody,
  heartbeat: () => null,
}
