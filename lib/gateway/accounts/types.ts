/** What the sealed cookie holds. Only the console's server ever sees it open. */
export interface Session {
  sid: string
  /** The same for all accounts that one browser added beside each other. */
  browser?: string | undefined
  /** Who signed on, as their provider names them; nobody is known to have entered a key. */
  person?: string | undefined
  account: { id: string; name: string; isolation?: string | undefined }
  api_key: string
  service: string
  created_at: number
  renewed_at: number
}

/** An account, and the key of it that somebody has. */
export type KeyHolder = Pick<Session, 'account' | 'api_key'>

/** The person if known, otherwise the account that everybody with its key shares. */
export const sessionLabel = ({ person, account }: Pick<Session, 'person' | 'account'>): string => person ?? account.name

const longestMs = 7 * 24 * 3600 * 1000
/** Whom the provider of single sign-on no longer knows is out on the same day. */
const signedOnMs = 12 * 3600 * 1000

/** When it is over, however much it is used. */
export const sessionExpiryMs = ({ created_at, person }: Pick<Session, 'created_at' | 'person'>): number =>
  created_at + (person === undefined ? longestMs : signedOnMs)
