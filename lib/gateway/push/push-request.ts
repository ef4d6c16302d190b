import { createHash } from 'node:crypto'
import webPush from 'web-push'
import type { Alert } from '#lib/protocol/alerts.ts'
import type { PushMessage } from '#lib/protocol/push.ts'
import type { OutgoingRequest } from '../alerts/delivery/post.ts'
import { pushContact, pushKeys } from './push-keys.ts'
import type { PushTarget } from './push-subscription.ts'

const dayS = 24 * 3600

/** The request to a push service: encrypted for the browser (aes128gcm) and signed with the console's key (VAPID). */
export const pushRequestOf = (target: PushTarget, message: PushMessage, { deadline_ms }: Alert, nowMs: number) => {
  const { endpoint, headers, body } = webPush.generateRequestDetails(target, JSON.stringify(message), {
    vapidDetails: { subject: pushContact(), ...pushKeys() },
    contentEncoding: 'aes128gcm',
    urgency: 'high',
    // An eviction message is useless after its deadline.
    TTL: Math.max(60, Math.min(dayS, Math.ceil((deadline_ms - nowMs) / 1000) || dayS)),
    // The push service keeps only the latest message of a topic for a browser that is off.
    topic: createHash('sha256').update(message.tag).digest('base64url').slice(0, 32),
  })
  const { 'Content-Length': _, ...others } = headers as Record<string, string | number>
  return {
    url: endpoint,
    body,
    headers: Object.fromEntries(Object.entries(others).map(([name, value]) => [name.toLowerCase(), String(value)])),
  } satisfies OutgoingRequest
}
