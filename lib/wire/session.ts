import type { Account } from '#lib/contract/accounts.ts'

/** Answer of `GET` and `POST /api/session`. The key itself is never in it. */
export interface SessionView {
  account: Pick<Account, 'id' | 'name' | 'isolation'>
  service: { url: string; embedded: boolean; isolation?: Account['isolation'] }
}
