import { randomBytes } from 'node:crypto'
import { digestOf } from '../accounts/digest.ts'
import { openHolder } from '../accounts/sealing.ts'
import type { KeyHolder, Session } from '../accounts/types.ts'
import { HttpError } from '../http/handle-request.ts'
import type { ReadHeader } from '../http/origin.ts'
import { countWrongKey } from '../limits/wrong-keys.ts'
import { logError } from '../observability/log.ts'
import { slot } from '../registry/registry.ts'
import { serviceIdentity } from '../upstream/client.ts'
import { hasExpired, keyStore, type StoredKey } from './key-store.ts'
import { roleOf } from './roles.ts'

/** 256 random bits, so a fast hash is enough: nobody can guess keys that match a stolen digest. */
export const newPersonalKey = (): string => `dvd_${randomBytes(32).toString('base64url')}`

export const isKnownKey = (key: string): boolean => {
  const found = keyStore().find(digestOf(key))
  return found !== undefined && !hasExpired(found)
}

/** Returns the session for a request with a personal key. Throws 401. */
export const sessionOfKey = async (key: string, header: ReadHeader): Promise<Session> => {
  const found = keyStore().find(digestOf(key))
  if (!found) {
    await countWrongKey(header('x-devdeck-client') ?? 'unknown', 'Too many wrong personal keys')
    throw refusal('This personal key is unknown or was revoked')
  }
  if (hasExpired(found)) throw refusal('This personal key has expired')
  const holder = await openedHolder(found)
  if (!holder) throw refusal('This personal key belongs to another service, or to an earlier session secret')
  const { id, name, owner, person, groups, created_ms } = found
  const session: Session = {
    ...holder,
    sid: id,
    personal_key: { id, name, by: person },
    ...(owner !== null && { person: owner, groups }),
    service: serviceIdentity(),
    created_at: created_ms,
    renewed_at: Date.now(),
  }
  // Looked up again, because it may have just been revoked.
  if (roleOf(session) === null) throw refusal('The person of this key no longer has access to the console')
  recordKeyUse(found)
  return session
}

const refusal = (message: string) => new HttpError('unauthenticated', message)

const maxOpened = 1_000

/** Unsealed contents by seal, because unsealing takes a millisecond. */
const openedHolders = slot('openedKeyHolders', () => new Map<string, KeyHolder>())

const openedHolder = async ({ sealed }: StoredKey): Promise<KeyHolder | undefined> => {
  const opened = openedHolders()
  const known = opened.get(sealed)
  if (known) return known
  const holder = await openHolder(sealed)
  if (!holder) return undefined
  if (opened.size >= maxOpened) opened.clear()
  opened.set(sealed, holder)
  return holder
}

const recordKeyUse = (key: StoredKey): void => {
  try {
    keyStore().use(key, Date.now())
  } catch (error) {
    logError('The last use of a personal key could not be stored', error)
  }
}
