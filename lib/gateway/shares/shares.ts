import { createHash } from 'node:crypto'
import { sealData, unsealData } from 'iron-session'
import { openingSecrets, sealingSecret } from '../accounts/session-cookie.ts'
import type { KeyHolder } from '../accounts/types.ts'
import { registry, slot } from '../registry/registry.ts'
import { serviceIdentity } from '../upstream/client.ts'
import { ShareStore } from './share-store.ts'

export const shareStore = slot(
  'shareStore',
  () => new ShareStore(registry().config.dataDir),
  (store) => store.close(),
)

/** Accounts of different services share the store. */
export const shareAccount = ({ account }: Pick<KeyHolder, 'account'>): string => `${serviceIdentity()} ${account.id}`

/** Looking up by hash keeps timing independent of existing tokens. */
export const digestOf = (token: string): string => createHash('sha256').update(token).digest('base64url')

/** `service`: a key is only sent to the service it was entered for. */
type Sealed = KeyHolder & { service: string }

/** Never expires by itself; the link does. */
export const sealHolder = ({ account, api_key }: KeyHolder): Promise<string> =>
  sealData({ account, api_key, service: serviceIdentity() } satisfies Sealed, { password: sealingSecret(), ttl: 0 })

/** Undefined if the session secret or the service has changed since. */
export const openHolder = async (sealed: string): Promise<KeyHolder | undefined> => {
  const { account, api_key, service } = await unsealData<Partial<Sealed>>(sealed, {
    password: openingSecrets(),
    ttl: 0,
  })
  return account && api_key && service === serviceIdentity() ? { account, api_key } : undefined
}
