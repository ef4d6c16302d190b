import { accounts } from '#lib/contract/accounts.ts'
import { implement } from '#lib/service/http/implement.ts'
import type { Deps } from '#lib/service/parts.ts'

export const accountRoutes = ({ isolation }: Deps) =>
  implement(accounts, {
    me: ({ account }) => ({ id: account, name: account, account_status: 'ACCOUNT_STATUS_ENABLED', isolation }),
  })
