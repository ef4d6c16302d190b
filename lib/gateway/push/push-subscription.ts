/** Address for a browser's messages, and the keys to encrypt them with. */
export interface PushTarget {
  endpoint: string
  keys: { p256dh: string; auth: string }
}

/** The session that a push subscription belongs to. */
export interface PushBinding {
  sid: string
  person: string
  browser: string
  created_ms: number
  /** The end of the session. A later session of the same browser extends it. */
  expires_ms: number
  shows_names: boolean
}
