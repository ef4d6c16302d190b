import type { Account } from '#lib/contract/accounts.ts'

// Each call of a page names its account, in this header or as `account` in a WebSocket's query. A 409 response
// carries the account that the browser is now signed in to.
export const accountHeader = 'x-devdeck-account'

/** Each account is a cookie of up to 2 kB on every request. */
export const maxOtherAccounts = 4

/** Response of `/api/session`. Never contains the API key. */
export interface SessionView {
  account: Pick<Account, 'id' | 'name' | 'isolation'>
  person?: string
  others?: Pick<Account, 'id' | 'name'>[]
  service: { url: string; embedded: boolean; isolation?: Account['isolation'] }
}
