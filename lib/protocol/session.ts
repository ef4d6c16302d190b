import type { Account } from '#lib/contract/accounts.ts'

/**
 * Every call of a page names the account it was drawn for, as a header, and as `account` in the query of a WebSocket. An
 * answer of 409 with this header says which account the browser's cookie belongs to by now. Scripts need not name one.
 */
export const accountHeader = 'x-devdeck-account'

/** Accounts beside the one the browser is on: each is a cookie of up to 2 kB with every request. */
export const maxOtherAccounts = 4

/** Answer of `GET` and `POST /api/session`. The key itself is never in it. */
export interface SessionView {
  account: Pick<Account, 'id' | 'name' | 'isolation'>
  /** Who signed on at the provider of the console's operator. */
  person?: string
  /** Accounts that the browser is signed in to beside this one. */
  others?: Pick<Account, 'id' | 'name'>[]
  service: { url: string; embedded: boolean; isolation?: Account['isolation'] }
}
