/** How a session began: single sign-on, an API key of the service, or a sign-in link. */
export const signInMethods = ['sso', 'key', 'link'] as const
export type SignInMethod = (typeof signInMethods)[number]

/** A browser that is signed in. */
export interface SignedInSession {
  id: string
  /** Name from single sign-on, or typed in the browser and marked as unverified; null without a name. */
  person: string | null
  method: SignInMethod
  browser: string
  address: string
  since_ms: number
  /** Accurate to a minute. */
  last_used_ms: number
  /** Whether it is the caller's. Everyone who signed in without single sign-on counts as one person. */
  is_own: boolean
  /** The session of this request. */
  is_current: boolean
}

/** Response of `GET /api/sessions`, last used first. */
export interface SessionList {
  /** At most `maxListedSessions`. */
  sessions: SignedInSession[]
  total_count: number
  /** The person's other sessions. */
  n_others: number
}

export const maxListedSessions = 1000
