import type { Account } from '#lib/contract/accounts.ts'
import type { Role } from './roles.ts'

// Each call of a page names its account, in this header or as `account` in a WebSocket's query. A 409 response
// carries the account that the browser is now signed in to.
export const accountHeader = 'x-devdeck-account'

/** Each account is a cookie of up to 2 kB on every request. */
export const maxOtherAccounts = 4

/** Cookie with the name that a person signed in by API key typed in this browser. */
export const nameCookie = 'devdeck-name'
export const maxNameLength = 60

/** One line without control, bidirectional and invisible characters, at most 60 characters. */
export const cleanName = (typed: string): string => {
  const line = typed
    .slice(0, 1_000)
    .replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .replace(/( *\(unverified\))+ *$/i, '')
    .trim()
  return [...line].slice(0, maxNameLength).join('').trim()
}

export const unverified = (name: string): string => `${name} (unverified)`

/** Response of `/api/session`. Never contains the API key. */
export interface SessionView {
  account: Pick<Account, 'id' | 'name' | 'isolation'>
  person?: string
  role: Role
  others?: Pick<Account, 'id' | 'name'>[]
  service: { url: string; embedded: boolean; isolation?: Account['isolation'] }
}
