/** A browser that gets alerts by web push. */
export interface PushSubscriptionView {
  /** `pushIdOf` its endpoint. */
  id: string
  browser: string
  /** The person who turned it on. */
  person: string
  created_ms: number
  /** Nothing is sent after this time until the browser opens the console again. */
  expires_ms: number
  /** Whether notifications name devboxes and jobs. */
  shows_names: boolean
  /** Messages stored and not yet delivered. */
  waiting: number
  /** The latest delivery that was tried. */
  last: { at_ms: number; is_delivered: boolean; answer: string } | null
}

/** Response of `GET /api/alerts/push`. */
export interface PushSubscriptions {
  /** Identifies this console to push services. */
  public_key: string
  subscriptions: PushSubscriptionView[]
}

/** The content of a push message, which the service worker shows. */
export interface PushMessage {
  account: string
  /** A later message with the same tag replaces the notification. */
  tag: string
  title: string
  body: string
  path: string
  /** Acknowledged or closed: replaces the notification without a sound. */
  is_over: boolean
  /** Stays until the person reacts. */
  is_urgent: boolean
}

const idPrefix = 'push_'

/** Among the receivers of an alert. */
export const isPushId = (receiverId: string): boolean => receiverId.startsWith(idPrefix)

/** Identifies a subscription without revealing its endpoint, which is a secret address. */
export const pushIdOf = async (endpoint: string): Promise<string> => {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(endpoint))
  return `${idPrefix}${Array.from(new Uint8Array(digest).slice(0, 12), (byte) => byte.toString(16).padStart(2, '0')).join('')}`
}
