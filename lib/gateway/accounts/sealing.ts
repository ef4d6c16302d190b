import { createHash } from 'node:crypto'
import { sealData, unsealData } from 'iron-session'
import { registry } from '../registry/registry.ts'
import { serviceIdentity } from '../upstream/client.ts'
import type { KeyHolder } from './types.ts'

/** Seals store the id of their secret, so it must not depend on the order of the list. */
const secretId = (secret: string) =>
  String(Number.parseInt(createHash('sha256').update(secret).digest('hex').slice(0, 12), 16))

export const sealingSecret = (): Record<string, string> => {
  const [first] = registry().config.sessionSecrets
  return { [secretId(first)]: first }
}

export const openingSecrets = (): Record<string, string> =>
  Object.fromEntries(registry().config.sessionSecrets.map((each) => [secretId(each), each]))

/** `service`: a key is only sent to the service it was entered for. */
type Sealed = KeyHolder & { service: string }

/** Never expires by itself; the record it is stored with does. */
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
