import type { SignInMethod } from '#lib/protocol/sessions.ts'

/** The content of the sealed cookie. Never leaves the console's server unsealed. */
export interface Session {
  sid: string
  /** Shared by all accounts that one browser is signed in to. */
  browser?: string | undefined
  /** The person's name at the single sign-on provider; unset when an API key was entered. */
  person?: string | undefined
  /** The person's groups at the provider, from which the current rules derive the role. */
  groups?: readonly string[] | undefined
  /** Unset in sessions started by an older version. */
  method?: SignInMethod | undefined
  /** Set while a script acts with a personal key instead of a cookie. Never sealed. */
  personal_key?: { id: string; name: string; by: string | null } | undefined
  account: { id: string; name: string; isolation?: string | undefined }
  api_key: string
  service: string
  created_at: number
  renewed_at: number
}

export type KeyHolder = Pick<Session, 'account' | 'api_key'>

/** A cookie that isn't renewed for this long is invalid. */
export const idleSeconds = 12 * 3600
const maxSessionMs = 7 * 24 * 3600 * 1000
/** Short, so that people removed at the provider lose access the same day. */
const maxSignOnMs = 12 * 3600 * 1000

/** The end of the session, however often it is renewed. Roles end the sessions of personal keys. */
export const sessionExpiryMs = ({
  created_at,
  person,
  personal_key,
}: Pick<Session, 'created_at' | 'person' | 'personal_key'>): number =>
  personal_key ? Number.POSITIVE_INFINITY : created_at + (person === undefined ? maxSessionMs : maxSignOnMs)

export const signInMethodOf = ({ method, person }: Pick<Session, 'method' | 'person'>): SignInMethod =>
  method ?? (person === undefined ? 'key' : 'sso')
