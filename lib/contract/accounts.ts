import * as z from 'zod/mini'
import { openEnum } from './common.ts'
import { defineEndpoints, get, json } from './endpoint.ts'

export const Account = z.object({
  id: z.string(),
  name: z.string(),
  created_at: z.optional(z.string()),
  account_status: z.optional(
    openEnum(['ACCOUNT_STATUS_ENABLED', 'ACCOUNT_STATUS_ONBOARDING', 'ACCOUNT_STATUS_DISABLED_BY_ADMIN']),
  ),
  tier: z.optional(
    openEnum([
      'ACCOUNT_TIER_BASIC',
      'ACCOUNT_TIER_PRO',
      'ACCOUNT_TIER_ENTERPRISE',
      'ACCOUNT_TIER_TRIAL',
      'UNRECOGNIZED',
    ]),
  ),
  billing: z.optional(
    z.object({ account_billing_type: openEnum(['STRIPE', 'AWS_MARKETPLACE', 'STRIPE_PROJECTS', 'UNRECOGNIZED']) }),
  ),
  /** Unspecified: isolation of devboxes, as reported by the local service. */
  isolation: z.optional(openEnum(['bubblewrap', 'none', 'container', 'swarm'])),
})
export type Account = z.infer<typeof Account>

export const accounts = defineEndpoints('accounts', 'stable', {
  me: get('/v1/accounts/me', json(Account)),
})
