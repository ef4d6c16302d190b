import { createHash } from 'node:crypto'
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
