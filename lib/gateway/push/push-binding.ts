import { digestOf } from '../accounts/digest.ts'
import { revokedSessions } from '../accounts/revoked-sessions.ts'
import { verifyKey } from '../accounts/sign-in.ts'
import { HttpError } from '../http/handle-request.ts'
import { slot } from '../registry/registry.ts'
import type { PushBinding } from './push-subscription.ts'

const checkedMs = 5 * 60_000

/** When each key was last accepted, by its digest. */
const acceptedKeys = slot('pushAcceptedKeys', () => new Map<string, number>())

/** True once the browser has signed out or the service refuses the key. Unknown counts as false. */
export const isBindingOver = async ({ sid }: Pick<PushBinding, 'sid'>, apiKey: string): Promise<boolean> => {
  if (revokedSessions().find(sid)) return true
  const digest = digestOf(apiKey)
  if (Date.now() - (acceptedKeys().get(digest) ?? Number.NEGATIVE_INFINITY) < checkedMs) return false
  try {
    await verifyKey(apiKey)
    acceptedKeys().set(digest, Date.now())
    return false
  } catch (error) {
    return error instanceof HttpError && error.code === 'unauthenticated'
  }
}
