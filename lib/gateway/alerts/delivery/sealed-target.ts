import { sealData, unsealData } from 'iron-session'
import { openingSecrets, sealingSecret } from '../../accounts/sealing.ts'
import type { Target } from './receiver-fields.ts'

/** `api_key` watches the account while no page is open. */
export interface SealedTarget extends Target {
  api_key: string
}

/** Never expires. */
export const seal = (target: SealedTarget): Promise<string> => sealData(target, { password: sealingSecret(), ttl: 0 })

/** Undefined if it was sealed with a session secret that is no longer configured. */
export const unseal = async (sealed: string): Promise<SealedTarget | undefined> => {
  const target = await unsealData<Partial<SealedTarget>>(sealed, { password: openingSecrets(), ttl: 0 })
  const { url, api_key } = target
  return url === undefined || api_key === undefined ? undefined : { ...target, url, api_key }
}
