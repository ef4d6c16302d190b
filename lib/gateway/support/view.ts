import type { ServiceSupport } from '#lib/protocol/support.ts'
import { openSession } from '../accounts/session.ts'
import { currentSupport } from './service-support.ts'

const waitMs = 1_000

/** For server rendering. Undefined if nothing is known in time: the browser then reads it. */
export const readSupport = async (): Promise<ServiceSupport | undefined> => {
  const session = await openSession()
  if (!session) return undefined
  const support = await currentSupport(session, waitMs)
  return support.learned_at_ms === null ? undefined : support
}
